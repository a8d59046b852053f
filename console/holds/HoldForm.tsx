import { Button, Group, SegmentedControl, Stack, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useProduct } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Hold } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { AccountField } from '../shared/form/AccountField.tsx'
import { ClassField, DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Release } from './Release.tsx'

type Props = { tagged?: Tagged<Hold>; accountID?: number; onDone: () => void }

/** The form of a hold: one class or all classes, a quantity or all units. */
export function HoldForm({ tagged, accountID, onDone }: Props) {
  const hold = tagged?.record
  const { productID, today } = useProduct()
  const form = useForm({
    initialValues: {
      accountID: (hold?.accountID ?? accountID ?? null) as number | null,
      investmentID: hold?.investmentID ?? null,
      much: hold?.all === false ? 'some' : 'all',
      quantity: hold?.quantity ?? '',
      reason: hold?.reason ?? '',
      validFrom: hold?.validFrom ?? today(),
      validTo: hold?.validTo ?? '',
    },
  })
  const save = useWrite<Hold[]>(hold ? 'put' : 'post', '/Hold', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone(hold ? 'The hold is saved.' : 'The units are held back.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const { much, investmentID } = form.values
  const submit = form.onSubmit((values) => {
    const { quantity, much: _, accountID: account, investmentID: investment, ...rest } = values
    const held = much === 'all' ? { all: true } : { quantity }
    const where = { productID, accountID: account, investmentID: investment }
    save.mutate({ ...(hold ? { holdID: hold.holdID } : where), ...held, ...rest })
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        {hold ? (
          <Facts
            facts={[
              ['Account', hold.accountNumber],
              ['Class', hold.securityCode ?? 'Every class'],
            ]}
          />
        ) : (
          <>
            {accountID === undefined && (
              <AccountField label="Account" {...form.getInputProps('accountID')} />
            )}
            <ClassField
              label="Class"
              placeholder="Every class"
              clearable
              {...form.getInputProps('investmentID')}
            />
          </>
        )}
        <SegmentedControl
          aria-label="How much is held back"
          data={[
            { value: 'all', label: 'All units' },
            { value: 'some', label: 'A number of units', disabled: !investmentID },
          ]}
          {...form.getInputProps('much')}
        />
        {much === 'some' && (
          <DecimalField label="Units" required {...form.getInputProps('quantity')} />
        )}
        <Textarea
          label="Reason"
          placeholder="Court order of 3 March"
          autosize
          minRows={2}
          required
          {...form.getInputProps('reason')}
        />
        <Row narrow>
          <DateField label="From" required {...form.getInputProps('validFrom')} />
          <DateField
            label="Until"
            description="Empty: further notice."
            {...form.getInputProps('validTo')}
          />
        </Row>
        <Group justify="space-between" mt="xs">
          {hold ? <Release hold={hold} onDone={onDone} /> : <span />}
          <Button type="submit" loading={save.isPending}>
            {hold ? 'Save' : 'Hold the units'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
