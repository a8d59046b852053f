import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import type { Distribution } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { AccountField } from '../shared/form/AccountField.tsx'
import { ClassField, DateField, LookupField, Row } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { today } from '../shared/format.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

const transactions = 3
const distribution = 4
const statement = 7

export function OrderReport({ onDone }: { onDone: () => void }) {
  const { productID } = useProduct()
  const { name } = useLookups()
  const form = useForm({
    initialValues: {
      reportTypeID: 1 as number | null,
      format: 'pdf',
      name: '',
      investmentID: null as number | null,
      corporateActionID: null as number | null,
      accountID: null as number | null,
      date: today(),
      fromDate: '',
      toDate: '',
    },
  })
  const order = useWrite('post', '/Report', {
    onDone: () => {
      tellDone('The report is ordered; it appears in the list when it is made.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const { reportTypeID: type } = form.values
  const hasPeriod = type === transactions || type === statement
  const submit = form.onSubmit(({ fromDate, toDate, date, ...values }) =>
    order.mutate({
      productID,
      ...values,
      ...(hasPeriod ? { fromDate, toDate } : type === distribution ? {} : { date }),
    }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {order.error && <Failure error={order.error} />}
        <LookupField
          label="What"
          category="ReportType"
          required
          {...form.getInputProps('reportTypeID')}
        />
        <Select
          label="Format"
          data={['pdf', 'xlsx', 'csv', 'json']}
          allowDeselect={false}
          {...form.getInputProps('format')}
        />
        <TextInput
          label="Name"
          placeholder={name('ReportType', type)}
          {...form.getInputProps('name')}
        />
        {type === distribution && (
          <DistributionField {...form.getInputProps('corporateActionID')} />
        )}
        {type === statement && (
          <AccountField label="Account" {...form.getInputProps('accountID')} />
        )}
        {type !== distribution && type !== statement && (
          <ClassField
            label="Class"
            placeholder="all"
            clearable
            {...form.getInputProps('investmentID')}
          />
        )}
        {hasPeriod ? (
          <Row narrow>
            <DateField label="From" {...form.getInputProps('fromDate')} />
            <DateField label="Until" {...form.getInputProps('toDate')} />
          </Row>
        ) : (
          type !== distribution && <DateField label="As at" {...form.getInputProps('date')} />
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={order.isPending}>
            Order
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type FieldProps = { value?: number | null; onChange?: (value: number | null) => void }

function DistributionField({ value, onChange, ...rest }: FieldProps) {
  const { productID } = useProduct()
  const { data = [] } = useRead<Distribution[]>('/Distribution', {
    ProductID: productID,
    PageSize: 1000,
  })
  return (
    <Select
      label="Distribution"
      required
      searchable
      data={data.map((one) => ({
        value: String(one.corporateActionID),
        label: `${one.securityCode ?? ''} ${one.name ?? one.externalCorporateActionId ?? ''}`,
      }))}
      {...rest}
      value={value ? String(value) : null}
      onChange={(next) => onChange?.(next ? Number(next) : null)}
    />
  )
}
