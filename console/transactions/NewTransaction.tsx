import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useProduct } from '../shared/api/products.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { AccountField } from '../shared/form/AccountField.tsx'
import { ClassField, DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { today } from '../shared/format.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Page } from '../shared/view/Page.tsx'
import { blank, bodyOf, type Kind, kinds, type Values } from './kinds.ts'
import { Preview } from './Preview.tsx'

/** One posting, with what it would do beside it. */
export function NewTransaction() {
  const { productID, slug } = useProduct()
  const navigate = useNavigate()
  const [name, setName] = useState('Deposit')
  const [saved, setSaved] = useState(false)
  const kind = kinds[name] as Kind
  const form = useForm<Values>({ initialValues: { ...blank, transactionDate: today() } })
  const post = useWrite<BizTransaction[]>('post', kind.path, {
    onDone: (_posted, message) => {
      tellDone(message || `${kind.label} posted.`)
      setSaved(true)
      setTimeout(() => void navigate({ to: '/$product/transactions', params: { product: slug } }))
    },
    onFailed: (error) => form.setErrors(named(fieldErrors(error))),
  })
  return (
    <Page title="New transaction" narrow>
      <LeaveGuard dirty={form.isDirty() && !saved} />
      <SegmentedControl
        value={name}
        onChange={setName}
        data={Object.entries(kinds).map(([value, { label }]) => ({ value, label }))}
        aria-label="Kind of transaction"
        style={{ overflowX: 'auto', flex: 'none' }}
      />
      <Text size="sm" className="quiet" mt={-6}>
        {kind.hint}
      </Text>
      <form onSubmit={form.onSubmit((values) => post.mutate(bodyOf(kind, values, productID)))}>
        <Stack>
          {post.error && <Failure error={post.error} />}
          <Card>
            <Stack gap="sm">
              <Where form={form} kind={kind} />
              <FiguresOf form={form} kind={kind} />
              <Row>
                <TextInput
                  label="External id"
                  {...form.getInputProps('externalBizTransactionId')}
                />
                <TextInput label="Comment" {...form.getInputProps('comment')} />
              </Row>
            </Stack>
          </Card>
          <Preview kind={kind} values={form.values} />
          <Group justify="flex-end">
            <Button type="submit" loading={post.isPending}>
              Post the {kind.label.toLowerCase()}
            </Button>
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

/** The fields of two-legged postings by the names of the form. */
const renamed: Record<string, string> = {
  fromAccountID: 'accountID',
  fromInvestmentID: 'investmentID',
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

function FiguresOf({ form, kind: { fields, way } }: Part) {
  const { currency } = useProduct()
  return (
    <Row>
      {fields.includes('quantity') && (
        <DecimalField
          label={way === 'set' ? 'Units the holding is to have' : 'Units'}
          {...form.getInputProps('quantity')}
        />
      )}
      {fields.includes('amount') && (
        <DecimalField label={`Amount, ${currency}`} {...form.getInputProps('amount')} />
      )}
      {fields.includes('price') && (
        <DecimalField
          label="Price"
          placeholder="of the day"
          {...form.getInputProps('investmentPrice')}
        />
      )}
      {fields.includes('fee') && (
        <DecimalField
          label="Entry fee, %"
          placeholder="none"
          {...form.getInputProps('entryFeePercentage')}
        />
      )}
    </Row>
  )
}
