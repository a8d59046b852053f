import { Button, Group, NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useProduct } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Investment } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DecimalField, LookupField } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { tagged?: Tagged<Investment>; onDone: () => void }

export function ClassForm({ tagged, onDone }: Props) {
  const investment = tagged?.record
  const { productID, currencyID } = useProduct()
  const form = useForm({
    initialValues: {
      ...investment,
      securityCode: investment?.securityCode ?? '',
      name: investment?.name ?? '',
      externalInvestmentId: investment?.externalInvestmentId ?? '',
      currencyID: (investment?.currencyID ?? currencyID) as number | null,
      unitDecimals: investment?.unitDecimals ?? 4,
      issuePrice: investment?.issuePrice ?? '',
      isActive: investment?.isActive ?? true,
    },
  })
  const save = useWrite<Investment[]>(investment ? 'put' : 'post', '/Investment', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone(investment ? 'The class is saved.' : 'The class is made.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate({ ...values, productID }))}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <TextInput label="Security code" required {...form.getInputProps('securityCode')} />
        <TextInput label="Name" {...form.getInputProps('name')} />
        <TextInput label="External id" {...form.getInputProps('externalInvestmentId')} />
        <LookupField
          label="Currency"
          category="Currency"
          required
          {...form.getInputProps('currencyID')}
        />
        <NumberInput
          label="Decimals of a unit"
          min={0}
          max={8}
          disabled={investment !== undefined}
          {...form.getInputProps('unitDecimals')}
        />
        <DecimalField label="Issue price" {...form.getInputProps('issuePrice')} />
        <Switch
          label="Active"
          description="An inactive class takes no deposits, allotments or notices."
          {...form.getInputProps('isActive', { type: 'checkbox' })}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            {investment ? 'Save' : 'Make the class'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
