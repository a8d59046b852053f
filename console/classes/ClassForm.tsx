import { Button, Group, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useProduct } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Investment } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DecimalField, LookupField, Row } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { tagged?: Tagged<Investment>; onDone: () => void }

const valuesOf = (investment: Investment | undefined, currencyID: number | null | undefined) => ({
  ...investment,
  securityCode: investment?.securityCode ?? '',
  name: investment?.name ?? '',
  description: investment?.description ?? '',
  externalInvestmentId: investment?.externalInvestmentId ?? '',
  currencyID: investment?.currencyID ?? currencyID ?? null,
  unitDecimals: investment?.unitDecimals ?? 4,
  issuePrice: investment?.issuePrice ?? '',
  isActive: investment?.isActive ?? true,
  priceTolerancePercent: investment?.priceTolerancePercent ?? '',
  maximumPriceAgeDays: investment?.maximumPriceAgeDays ?? ('' as number | string),
  drpResidualOnExit: investment?.drpResidualOnExit ?? 'Pay',
})

type Form = ReturnType<typeof useForm<ReturnType<typeof valuesOf>>>

export function ClassForm({ tagged, onDone }: Props) {
  const investment = tagged?.record
  const { productID, currencyID } = useProduct()
  const form = useForm({ initialValues: valuesOf(investment, currencyID) })
  const save = useWrite<Investment[]>(investment ? 'put' : 'post', '/Investment', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone(investment ? 'The class is saved.' : 'The class is created.')
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
        <TextInput label="Description" {...form.getInputProps('description')} />
        <TextInput label="External id" {...form.getInputProps('externalInvestmentId')} />
        <Row narrow>
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
        </Row>
        <Rules form={form} />
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

const residuals = [
  { value: 'Pay', label: 'Is paid out' },
  { value: 'Carry', label: 'Is kept for the account' },
]

/** Limits for the prices of the class, and what happens to money that bought no whole unit. */
const Rules = ({ form }: { form: Form }) => (
  <>
    <DecimalField label="Issue price" {...form.getInputProps('issuePrice')} />
    <Row narrow>
      <DecimalField
        label="Price tolerance, %"
        description="A price that differs more from the one before must be confirmed."
        {...form.getInputProps('priceTolerancePercent')}
      />
      <NumberInput
        label="Oldest price, days"
        description="A posting at an older price must be confirmed."
        min={0}
        hideControls
        {...form.getInputProps('maximumPriceAgeDays')}
      />
    </Row>
    <Select
      label="Residual of who leaves the reinvestment plan"
      data={residuals}
      allowDeselect={false}
      {...form.getInputProps('drpResidualOnExit')}
    />
  </>
)
