import { Button, Group, Select, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { incomeKinds, isExempt } from '../../src/catalogue/product/income-kinds.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { WithholdingRate } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { CodeField, DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

export const ruleOptions = [
  { value: 'NoTfn', label: 'No tax file number' },
  { value: 'NonResident', label: 'Resident elsewhere' },
]
const roundings = [
  { value: 'Cent', label: 'To the cent' },
  { value: 'WholeDollar', label: 'Cents cut' },
]

/** FundPayment is "Fund payment". */
export const incomeKindName = (kind: string | null) => {
  const words = (kind ?? '').replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b}`)
  return words.charAt(0) + words.slice(1).toLowerCase()
}
const kindOptions = incomeKinds
  .filter((kind) => !isExempt(kind))
  .map((value) => ({ value, label: incomeKindName(value) }))

type Props = { tagged?: Tagged<WithholdingRate>; onDone: () => void }

/** The form of one rate and its period; tax that was withheld at the rate before stays as it is. */
export function RateForm({ tagged, onDone }: Props) {
  const rate = tagged?.record
  const form = useForm({
    initialValues: {
      rule: rate?.rule ?? 'NonResident',
      incomeKind: rate?.incomeKind ?? null,
      countryCode: rate?.countryCode ?? null,
      percentage: rate?.percentage ?? '',
      rounding: rate?.rounding ?? 'Cent',
      validFrom: rate?.validFrom ?? '',
      validTo: rate?.validTo ?? '',
    },
  })
  const save = useWrite<WithholdingRate[]>(rate ? 'put' : 'post', '/WithholdingRate', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone('The rate is saved; payments from now on heed it.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const submit = form.onSubmit((values) =>
    save.mutate({ ...(rate && { rateID: rate.rateID }), ...values }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <Select
          label="Rule"
          data={ruleOptions}
          allowDeselect={false}
          {...form.getInputProps('rule')}
        />
        <Select
          label="Kind of income"
          data={kindOptions}
          required
          {...form.getInputProps('incomeKind')}
        />
        {form.values.rule === 'NonResident' && (
          <CodeField
            label="Country"
            category="Country"
            placeholder="Every other"
            {...form.getInputProps('countryCode')}
          />
        )}
        <Row narrow>
          <DecimalField label="Rate, %" required {...form.getInputProps('percentage')} />
          <Select
            label="Rounded"
            data={roundings}
            allowDeselect={false}
            {...form.getInputProps('rounding')}
          />
        </Row>
        <Row narrow>
          <DateField label="From" required {...form.getInputProps('validFrom')} />
          <DateField
            label="Until"
            description="Empty: further notice."
            {...form.getInputProps('validTo')}
          />
        </Row>
        <Group justify="space-between" mt="xs">
          {rate ? (
            <Remove
              path="/WithholdingRate"
              params={{ RateID: rate.rateID ?? 0 }}
              what="the rate"
              done="The rate is deleted."
              onDone={onDone}
            >
              No tax is withheld by it any more. Tax that was withheld before stays. A rate that
              ends is better given its last day.
            </Remove>
          ) : (
            <span />
          )}
          <Button type="submit" loading={save.isPending}>
            {rate ? 'Save' : 'Enter the rate'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
