import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { distributionName } from '../distributions/words.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useReadAll } from '../shared/api/pages.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Distribution, Report } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { AccountField } from '../shared/form/AccountField.tsx'
import { ClassField, DateField, LookupField, Row } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { beside } from '../shared/format.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { askedOf, formatsOf } from './types.ts'

type Props = { like?: Report | undefined; onDone: () => void }

/** A moment for a datetime-local field: in the browser's time zone, to the second. */
const asField = (moment: string) => {
  const date = new Date(moment)
  date.setMinutes(date.getMinutes() - date.getTimezoneOffset())
  return date.toISOString().slice(0, 19)
}

const valuesOf = (like: Report | undefined, today: string) => ({
  reportTypeID: (like?.reportTypeID ?? 1) as number | null,
  format: like?.format ?? 'pdf',
  name: like?.name ?? '',
  investmentID: like?.investmentID ?? null,
  corporateActionID: like?.corporateActionID ?? null,
  accountID: like?.accountID ?? null,
  date: like?.date ?? today,
  fromDate: like?.fromDate ?? '',
  toDate: like?.toDate ?? '',
  knownAt: like?.knownAt ? asField(like.knownAt) : '',
})
type Values = ReturnType<typeof valuesOf>
type Part = { form: ReturnType<typeof useForm<Values>> }

/** Orders a new report, or an earlier one again with the knowledge of its moment. */
export function OrderReport({ like, onDone }: Props) {
  const { productID, today } = useProduct()
  const form = useForm<Values>({ initialValues: valuesOf(like, today()) })
  const order = useWrite('post', '/Report', {
    onKept: onDone,
    onDone: () => {
      tellDone('The report is ordered. It is ready when the list says so.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const asked = askedOf(form.values.reportTypeID)
  const submit = form.onSubmit((values) => {
    const { reportTypeID, format, name, knownAt, ...about } = values
    const { investmentID, corporateActionID, accountID, fromDate, toDate, date } = about
    const same = like?.knownAt && knownAt === asField(like.knownAt)
    order.mutate({
      ...{ productID, reportTypeID, format, name },
      ...(asked.distribution ? { corporateActionID } : !asked.everyClass && { investmentID }),
      ...(asked.statement && { accountID }),
      ...(asked.period ? { fromDate, toDate } : !asked.distribution && { date }),
      // Send the earlier report's moment to the microsecond, unless the user changed it.
      ...(knownAt && { knownAt: same ? like?.knownAt : new Date(knownAt).toISOString() }),
    })
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {order.error && <Failure error={order.error} />}
        <What form={form} />
        <About form={form} />
        {!asked.presentOnly && (
          <TextInput
            type="datetime-local"
            step={1}
            label="As known at"
            description="Leaves out anything entered or corrected later. Empty: as known now."
            {...form.getInputProps('knownAt')}
          />
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

function What({ form }: Part) {
  const { name } = useLookups()
  const { reportTypeID: type } = form.values
  const kind = form.getInputProps('reportTypeID')
  return (
    <>
      <LookupField
        label="What"
        category="ReportType"
        required
        {...kind}
        onChange={(next) => {
          kind.onChange(next)
          form.setFieldValue('format', formatsOf(next)[0]?.value ?? 'pdf')
        }}
      />
      <Select
        label="Format"
        data={formatsOf(type)}
        allowDeselect={false}
        {...form.getInputProps('format')}
      />
      <TextInput
        label="Name"
        placeholder={name('ReportType', type)}
        {...form.getInputProps('name')}
      />
    </>
  )
}

function About({ form }: Part) {
  const { reportTypeID, format } = form.values
  const { distribution, statement, everyClass, period } = askedOf(reportTypeID)
  return (
    <>
      {distribution && <DistributionField {...form.getInputProps('corporateActionID')} />}
      {statement && (
        <AccountField
          label="Account"
          required={format !== 'zip'}
          {...form.getInputProps('accountID')}
        />
      )}
      {!distribution && !everyClass && (
        <ClassField
          label="Class"
          placeholder="all"
          clearable
          {...form.getInputProps('investmentID')}
        />
      )}
      {period ? (
        <Row narrow>
          <DateField label="From" {...form.getInputProps('fromDate')} />
          <DateField label="Until" {...form.getInputProps('toDate')} />
        </Row>
      ) : (
        !distribution && <DateField label="As at" {...form.getInputProps('date')} />
      )}
    </>
  )
}

type FieldProps = { value?: number | null; onChange?: (value: number | null) => void }

function DistributionField({ value, onChange, ...rest }: FieldProps) {
  const { productID } = useProduct()
  const { data = [] } = useReadAll<Distribution>('/Distribution', {
    ProductID: productID,
    Order: 'desc',
  })
  return (
    <Select
      label="Distribution"
      required
      searchable
      data={data.map((one) => ({
        value: String(one.corporateActionID),
        label: beside([one.securityCode, distributionName(one)], ' '),
      }))}
      {...rest}
      value={value ? String(value) : null}
      onChange={(next) => onChange?.(next ? Number(next) : null)}
    />
  )
}
