import { useProduct } from '../shared/api/products.ts'
import type { BizEntity, Holding } from '../shared/api/types.ts'
import { sum } from '../shared/decimal.ts'
import { day, money, percent, price, units } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Failure } from '../shared/view/Failure.tsx'
import { Card, Empty, Loading } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { useHoldings } from './Investor.tsx'

const columns: Column<Holding>[] = [
  {
    id: 'class',
    title: 'Class',
    text: (row) => `${row.securityCode ?? ''} ${row.investmentName ?? ''}`,
  },
  { id: 'account', title: 'Account', text: ({ accountNumber }) => accountNumber ?? '' },
  { id: 'units', title: 'Units', right: true, text: ({ quantity }) => units(quantity) },
  { id: 'price', title: 'Price', right: true, text: (row) => price(row.price) },
  { id: 'day', title: 'Price of', text: ({ priceDate }) => day(priceDate) },
  { id: 'value', title: 'Value', right: true, text: ({ marketValue }) => money(marketValue) },
  { id: 'cost', title: 'Cost', right: true, text: ({ costAmount }) => money(costAmount) },
  { id: 'gain', title: 'Gain', right: true, text: (row) => money(row.unrealisedGain) },
  {
    id: 'percent',
    title: 'Gain %',
    right: true,
    text: (row) => percent(row.unrealisedGainPercent),
  },
  {
    id: 'residual',
    title: 'DRP residual',
    right: true,
    text: ({ drpResidual }) => money(drpResidual),
  },
]

export function Holdings({ entity }: { entity: BizEntity }) {
  const { currency } = useProduct()
  const { data, error, refetch } = useHoldings(entity)
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  if (data.length === 0)
    return (
      <div className="card">
        <Empty title="No units">This investor holds nothing now.</Empty>
      </div>
    )
  const total = (field: keyof Holding) => sum(data.map((one) => one[field] as string | null))
  const foot = ['Total', '', units(total('quantity')), '', '', money(total('marketValue'))]
  return (
    <Card title={`Holdings in ${currency}`} padded={false}>
      <Rows
        label="Holdings"
        columns={columns}
        rows={data}
        keyOf={({ accountID, investmentID }) => `${accountID}-${investmentID}`}
        foot={[...foot, money(total('costAmount')), money(total('unrealisedGain')), '', '']}
      />
    </Card>
  )
}
