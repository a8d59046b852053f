import { Stack, Text } from '@mantine/core'
import { byDay, isUnpriced, useMonths, valuesOf } from '../overview/months.ts'
import { AtCost, Unpriced } from '../overview/Unpriced.tsx'
import {
  type InCurrency,
  type Money,
  useByCurrency,
  useMoney,
  useUnits,
} from '../shared/api/money.ts'
import type { BizEntity, Holding, HoldingMonth } from '../shared/api/types.ts'
import { isZero, sum } from '../shared/decimal.ts'
import { PastControl, usePast } from '../shared/form/Past.tsx'
import { day, percent, price } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { LineChart } from '../shared/view/Chart.tsx'
import { Failure } from '../shared/view/Failure.tsx'
import { Card, Empty, Loading } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { useHoldings } from './Investor.tsx'

const columnsIn = (money: Money, units: Money): Column<Holding>[] => [
  {
    id: 'class',
    title: 'Class',
    text: (row) => `${row.securityCode ?? ''} ${row.investmentName ?? ''}`,
  },
  { id: 'account', title: 'Account', text: ({ accountNumber }) => accountNumber ?? '' },
  { id: 'units', title: 'Units', right: true, text: (row) => units(row.quantity, row) },
  { id: 'price', title: 'Price', right: true, text: (row) => price(row.price) },
  { id: 'day', title: 'Price of', text: ({ priceDate }) => day(priceDate) },
  { id: 'value', title: 'Value', right: true, text: (row) => money(row.marketValue, row) },
  { id: 'cost', title: 'Cost', right: true, text: (row) => money(row.costAmount, row) },
  { id: 'gain', title: 'Gain', right: true, text: (row) => money(row.unrealisedGain, row) },
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
    text: (row) => money(row.drpResidual, row),
  },
]

/** The holdings of the investor: now, at a past date, or as known at an earlier moment. */
export function Holdings({ entity }: { entity: BizEntity }) {
  const [past, setPast] = usePast()
  const { data, error, refetch } = useHoldings(entity, past)
  const inCurrencies = useByCurrency()(data ?? [])
  return (
    <Stack>
      {inCurrencies.map(({ currency, rows }, i) => (
        <Card
          key={currency}
          title={`Holdings in ${currency}`}
          padded={false}
          actions={i === 0 && <PastControl past={past} onChange={setPast} withDate />}
        >
          {error && <Failure error={error} retry={() => void refetch()} />}
          {!data && !error && <Loading />}
          {data && (
            <Positions positions={rows} currency={currency} isPast={Object.keys(past).length > 0} />
          )}
        </Card>
      ))}
      <ValueOverTime entity={entity} />
    </Stack>
  )
}

type PositionsProps = { positions: Holding[]; currency: string; isPast: boolean }

function Positions({ positions, currency, isPast }: PositionsProps) {
  const money = useMoney(positions[0])
  const units = useUnits(positions[0])
  if (positions.length === 0)
    return (
      <Empty title="No units">
        {isPast ? 'This investor held nothing then.' : 'This investor holds nothing now.'}
      </Empty>
    )
  const total = (field: keyof Holding) => sum(positions.map((one) => one[field] as string | null))
  const isOneClass = new Set(positions.map(({ investmentID }) => investmentID)).size === 1
  const held = isOneClass ? units(total('quantity')) : ''
  const foot = ['Total', '', held, '', '', money(total('marketValue'))]
  return (
    <>
      <Rows
        label={`Holdings in ${currency}`}
        columns={columnsIn(money, units)}
        rows={positions}
        keyOf={({ accountID, investmentID }) => `${accountID}-${investmentID}`}
        foot={[...foot, money(total('costAmount')), money(total('unrealisedGain')), '', '']}
      />
      {positions.some(isUnpriced) && (
        <Text size="xs" className="quiet" component="div" px="md" py={8}>
          <AtCost rows={positions} />
        </Text>
      )}
    </>
  )
}

function ValueOverTime({ entity }: { entity: BizEntity }) {
  const { data = [] } = useMonths(entity.bizEntityID ?? 0)
  return useByCurrency()(data).map((one) => <ValueIn key={one.currency} {...one} />)
}

function ValueIn({ currency, rows }: InCurrency<HoldingMonth>) {
  const money = useMoney(rows[0])
  // Leave out the time before the first unit.
  const points = valuesOf(rows)
  const first = points.findIndex(({ value }) => !isZero(value))
  const drawn = first < 0 ? [] : points.slice(Math.max(0, first - 1))
  if (drawn.length < 2) return null
  return (
    <Card title={`Value in ${currency}`}>
      <LineChart title="Value" points={drawn} format={money} tall={160} />
      <Text size="xs" className="quiet" component="div">
        <Unpriced rows={byDay(rows).at(-1)?.[1] ?? []} />
      </Text>
    </Card>
  )
}
