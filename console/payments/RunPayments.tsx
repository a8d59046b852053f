import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type Money, useCurrency, useMoney } from '../shared/api/money.ts'
import { allOf } from '../shared/api/pages.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Payment, PaymentRun } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { DateField } from '../shared/form/fields.tsx'
import { beside, count, counted, day } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { tellDone, tellFailure } from '../shared/view/Failure.tsx'
import { Empty } from '../shared/view/Page.tsx'
import { State } from './states.tsx'

type Props = { run: PaymentRun }
type Outcome = 'Paid' | 'Returned'
type Told = { outcome: Outcome; payments: Payment[] }

/**
 * All payments of a payment run, with the form to record the bank's result for the chosen payments.
 */
export function RunPayments({ run }: Props) {
  const { slug } = useProduct()
  const currency = useCurrency()(run)
  const may = useMay()
  const [chosen, setChosen] = useState<Payment[]>([])
  const [told, setTold] = useState<Told>()
  const { productID, paymentRunID } = run
  const can = may('PaymentRun.Write') && run.state === 'Sent'
  const has = ({ paymentID }: Payment) => chosen.some((one) => one.paymentID === paymentID)
  const toggle = (row: Payment) =>
    setChosen(
      has(row) ? chosen.filter(({ paymentID }) => paymentID !== row.paymentID) : [...chosen, row],
    )
  const tell = (outcome: Outcome) => () => setTold({ outcome, payments: chosen })
  const allOthers = async () => {
    try {
      const payments = (await sentOf(run)).filter((one) => !has(one))
      if (payments.length > 0) setTold({ outcome: 'Paid', payments })
      else tellDone('No other payment waits for its result.')
    } catch (error) {
      tellFailure(error)
    }
  }
  return (
    <Stack gap="xs" h={480}>
      {can && (
        <Group gap="xs" justify="flex-end">
          <Button variant="default" disabled={!chosen.length} onClick={tell('Returned')}>
            Returned{chosen.length > 0 && ` (${count(chosen.length)})`}
          </Button>
          <Button variant="default" disabled={!chosen.length} onClick={tell('Paid')}>
            Paid{chosen.length > 0 && ` (${count(chosen.length)})`}
          </Button>
          <Button onClick={() => void allOthers()}>All others paid</Button>
        </Group>
      )}
      <ListView<Payment>
        id="payments"
        label="Payments"
        path="/PaymentRun/Payment"
        params={{ ProductID: productID, PaymentRunID: paymentRunID }}
        filters={filters}
        columns={columnsIn(currency, useMoney(run))}
        to={({ bizEntityID }) => ({
          to: '/$product/investors/$id',
          params: { product: slug, id: String(bizEntityID) },
        })}
        empty={<Empty title="No payment">All that is owed is among the exceptions.</Empty>}
        {...(can && { chosen: { has, toggle, can: ({ state }: Payment) => state === 'Sent' } })}
      />
      {told && (
        <Result
          run={run}
          {...told}
          onClose={() => setTold(undefined)}
          onDone={() => {
            setTold(undefined)
            setChosen(chosen.filter((one) => !told.payments.includes(one)))
          }}
        />
      )}
    </Stack>
  )
}

/** All payments of a run that have no result yet. */
const sentOf = ({ productID, paymentRunID }: PaymentRun): Promise<Payment[]> =>
  allOf('/PaymentRun/Payment', { ProductID: productID, PaymentRunID: paymentRunID, State: 'Sent' })

type ResultProps = Props & Told & { onClose: () => void; onDone: () => void }

function Result({ run, payments, outcome, onClose, onDone }: ResultProps) {
  const { today } = useProduct()
  const [reason, setReason] = useState('')
  const [date, setDate] = useState(today())
  const record = useWrite('post', '/PaymentRun/Result', {
    onKept: onDone,
    onDone: () => {
      tellDone('The bank’s result is recorded.')
      onDone()
    },
  })
  const many = counted(payments.length, 'payment')
  const rows = payments.map(({ paymentID }) => ({ paymentID, state: outcome, reason, date }))
  return (
    <Confirm
      title={outcome === 'Paid' ? `${many} paid?` : `${many} returned?`}
      opened
      onClose={onClose}
      onConfirm={() => record.mutate({ paymentRunID: run.paymentRunID, payments: rows })}
      action={outcome === 'Paid' ? 'They are paid' : 'They came back'}
      busy={record.isPending}
      error={record.error}
    >
      <Stack gap="sm">
        <DateField
          label="Day"
          value={date}
          onChange={(event) => setDate(event.currentTarget.value)}
        />
        {outcome === 'Returned' && (
          <TextInput
            label="Reason"
            placeholder="Account closed"
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </Stack>
    </Confirm>
  )
}

const paymentStates = ['Pending', 'Sent', 'Paid', 'Returned', 'Reissued', 'Unclaimed']

const filters: Filter[] = [
  {
    key: 'State',
    label: 'State',
    kind: 'choice',
    options: paymentStates.map((value) => ({ value, label: value })),
  },
  { key: 'Reference', label: 'Reference', kind: 'text' },
]

const columnsIn = (currency: string, money: Money): Column<Payment>[] => [
  {
    id: 'payee',
    title: 'Payee',
    text: ({ payeeName }) => payeeName ?? '',
    width: 'minmax(200px, 2fr)',
  },
  { id: 'account', title: 'Account', text: ({ accountNumber }) => accountNumber ?? '' },
  {
    id: 'bank',
    title: 'To',
    text: (row) =>
      row.payeeIban || [row.payeeBsb, row.payeeAccountNumber].filter(Boolean).join(' '),
    width: 'minmax(160px, 1fr)',
  },
  { id: 'reference', title: 'Reference', text: ({ reference }) => reference ?? '' },
  { id: 'tax', title: 'Tax', right: true, text: ({ taxAmount }) => money(taxAmount), spare: true },
  { id: 'amount', title: `Amount, ${currency}`, right: true, text: ({ amount }) => money(amount) },
  {
    id: 'state',
    title: 'State',
    text: ({ state }) => state ?? '',
    cell: ({ state }) => <State of={state} />,
    width: '100px',
  },
  {
    id: 'why',
    title: 'Result',
    text: (row) => beside([row.stateReason, day(row.stateDate)], ', '),
    width: 'minmax(130px, 1fr)',
  },
]
