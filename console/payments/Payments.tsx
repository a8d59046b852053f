import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Money, useCurrency, useMoney } from '../shared/api/money.ts'
import { useProduct } from '../shared/api/products.ts'
import type { PaymentRun } from '../shared/api/types.ts'
import { beside, count, day, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { State } from './states.tsx'

/** The payment runs of the product. */
export function Payments() {
  const { productID, slug } = useProduct()
  const may = useMay()
  const add = may('PaymentRun.Write') && (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      renderRoot={(props) => (
        <Link to="/$product/payments/new" params={{ product: slug }} {...props} />
      )}
    >
      New payment run
    </Button>
  )
  return (
    <Page title="Payments" actions={add}>
      <ListView<PaymentRun>
        id="payment-runs"
        label="Payment runs"
        path="/PaymentRun"
        params={{ ProductID: productID, Order: 'desc' }}
        filters={filters}
        columns={columnsIn(useCurrency(), useMoney())}
        to={({ paymentRunID }) => ({
          to: '/$product/payments/$id',
          params: { product: slug, id: String(paymentRunID) },
        })}
        empty={
          <Empty title="No payment run yet">
            A run gathers what is owed of distributions, redemptions and residuals, one payment for
            each payee. Once somebody else approves it, its bank file is ready.
          </Empty>
        }
      />
    </Page>
  )
}

const filters: Filter[] = [
  {
    key: 'State',
    label: 'State',
    kind: 'choice',
    options: ['Draft', 'Approved', 'Sent', 'Closed'].map((value) => ({ value, label: value })),
  },
]

type Currency = ReturnType<typeof useCurrency>

const columnsIn = (currencyOf: Currency, money: Money): Column<PaymentRun>[] => [
  {
    id: 'run',
    title: 'Run',
    text: ({ paymentRunID, reissueOf }) =>
      `Run ${paymentRunID}${reissueOf ? `, reissue of ${reissueOf}` : ''}`,
    width: 'minmax(110px, 1fr)',
  },
  {
    id: 'what',
    title: 'What',
    text: ({ sources }) => beside(sources, ', '),
    width: 'minmax(140px, 2fr)',
  },
  { id: 'date', title: 'Processing', text: (row) => day(row.processingDate) },
  { id: 'format', title: 'Format', text: ({ format }) => format ?? '', width: '80px' },
  {
    id: 'count',
    title: 'Payments',
    right: true,
    text: ({ payments }) => count(payments?.count ?? 0),
  },
  {
    id: 'amount',
    title: 'Amount',
    right: true,
    text: (row) => `${money(row.payments?.amount, row)} ${currencyOf(row)}`,
    width: 'minmax(130px, 1fr)',
  },
  {
    id: 'exceptions',
    title: 'Exceptions',
    right: true,
    text: ({ exceptions }) => (exceptions?.count ? count(exceptions.count) : ''),
    width: '90px',
  },
  {
    id: 'state',
    title: 'State',
    text: ({ state }) => state ?? '',
    cell: ({ state }) => <State of={state} />,
    width: '100px',
  },
  {
    id: 'made',
    title: 'Made',
    text: (row) => moment(row.createdDate),
    width: 'minmax(150px, 1fr)',
    spare: true,
  },
]
