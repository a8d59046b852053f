import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useCurrency } from '../shared/api/money.ts'
import { useProduct } from '../shared/api/products.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { AccountField } from '../shared/form/AccountField.tsx'
import { ClassField, DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { Insist, useInsists } from '../shared/form/Insist.tsx'
import { Kinds } from '../shared/form/Kinds.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useLeave } from '../shared/form/leave.ts'
import { fieldErrors } from '../shared/form/problems.ts'
import { tellDone } from '../shared/view/Failure.tsx'
import { Card, Page } from '../shared/view/Page.tsx'
import { blank, bodyOf, isNeeded, type Kind, kinds, rowsOf, type Values, wordsOf } from './kinds.ts'
import { Preview } from './Preview.tsx'

/** The form for one posting, beside a preview of its effect. */
export function NewTransaction() {
  const { productID, slug, today } = useProduct()
  const [name, setName] = useState('Deposit')
  const [saved, leave] = useLeave()
  const list = `/${slug}/transactions`
  const kind = kinds[name] as Kind
  const form = useForm<Values>({ initialValues: { ...blank, transactionDate: today() } })
  const [insists, setInsists] = useInsists([name, form.values])
  const post = useWrite<BizTransaction[]>('post', kind.path, {
    onDone: (_posted, message) => {
      tellDone(message || `${kind.label} posted.`)
      leave(list)
    },
    onKept: () => leave(list),
    onFailed: (error) => form.setErrors(named(fieldErrors(error))),
  })
  const choose = (next: string) => {
    setName(next)
    post.reset()
    form.clearErrors()
  }
  const submit = form.onSubmit((values) =>
    post.mutate({ ...bodyOf(kind, values, productID), ...(insists && { confirm: true }) }),
  )
  return (
    <Page title="New transaction" back={{ to: list, label: 'Transactions' }} narrow>
      <LeaveGuard dirty={form.isDirty() && !saved} />
      <Kinds
        label="Kind of transaction"
        value={name}
        onChange={choose}
        data={Object.entries(kinds).map(([value, { label }]) => ({ value, label }))}
      />
      <Text size="sm" className="quiet" mt={-6}>
        {kind.hint}
      </Text>
      <form onSubmit={submit}>
        <Stack>
          <Insist error={post.error} insists={insists} onChange={setInsists} />
          <Card>
            <Stack gap="sm">
              <Where form={form} kind={kind} />
              <FiguresOf form={form} kind={kind} />
              <References form={form} kind={kind} />
            </Stack>
          </Card>
          <Preview kind={kind} values={form.values} />
          <Group justify="flex-end">
            <Button type="submit" loading={post.isPending || saved}>
              Post the {kind.label.toLowerCase()}
            </Button>
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

/**
 * Names that the service gives the fields of two-legged postings, with the names used in the form.
 */
const renamed: Record<string, string> = {
  fromAccountID: 'accountID',
  fromInvestmentID: 'investmentID',
  fromExternalBizTransactionId: 'externalBizTransactionId',
}
const named = (errors: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(errors).map(([field, words]) => {
      const plain = field.replace(/^\d+\./, '')
      return [renamed[plain] ?? plain, words]
    }),
  )

type Part = { form: ReturnType<typeof useForm<Values>>; kind: Kind }

function Where({ form, kind }: Part) {
  const { way } = kind
  return (
    <>
      <Row>
        <AccountField
          label={way === 'transfer' ? 'From account' : 'Account'}
          {...form.getInputProps('accountID')}
        />
        {way === 'transfer' && (
          <AccountField label="To account" {...form.getInputProps('toAccountID')} />
        )}
      </Row>
      <Row>
        <ClassField
          label={way === 'conversion' ? 'From class' : 'Class'}
          required
          {...form.getInputProps('investmentID')}
        />
        {way === 'conversion' && (
          <ClassField label="To class" required {...form.getInputProps('toInvestmentID')} />
        )}
        <DateField label="Day" required {...form.getInputProps('transactionDate')} />
      </Row>
    </>
  )
}

const methods = [
  { value: 'Price', label: 'At the two prices' },
  { value: 'Factor', label: 'By a factor, the cost goes along' },
]
const bases = [
  { value: 'Market', label: 'At what the units are worth' },
  { value: 'Carry', label: 'The receiver takes over the cost' },
]

function FiguresOf({ form, kind }: Part) {
  const currency = useCurrency()({ investmentID: form.values.investmentID })
  return (
    <>
      {kind.way === 'conversion' && (
        <Select
          label="How"
          data={methods}
          allowDeselect={false}
          {...form.getInputProps('conversionMethod')}
        />
      )}
      {rowsOf(kind, form.values).map((row) => (
        <Row key={row.join(' ')}>
          {row.map((figure) => {
            const { label, placeholder = '' } = wordsOf(kind, figure)
            const required = isNeeded(kind, figure)
            return (
              <DecimalField
                key={figure}
                label={figure === 'amount' ? `${label}, ${currency}` : label}
                placeholder={required ? '' : placeholder}
                required={required}
                {...form.getInputProps(figure)}
              />
            )
          })}
        </Row>
      ))}
      {kind.way === 'transfer' && (
        <Select
          label="Cost of the units"
          data={bases}
          allowDeselect={false}
          {...form.getInputProps('costBasis')}
        />
      )}
    </>
  )
}

/** The external id and the comment of a posting. */
const References = ({ form, kind: { way } }: Part) => (
  <Row>
    <TextInput
      label={way === 'conversion' ? 'External id of what goes out' : 'External id'}
      {...form.getInputProps('externalBizTransactionId')}
    />
    {way === 'conversion' && (
      <TextInput
        label="External id of what comes in"
        {...form.getInputProps('toExternalBizTransactionId')}
      />
    )}
    <TextInput label="Comment" {...form.getInputProps('comment')} />
  </Row>
)
