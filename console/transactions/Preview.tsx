import { Text } from '@mantine/core'
import { useInvestments, useProduct, useRead } from '../shared/api/products.ts'
import type { Holding, InvestmentPrice } from '../shared/api/types.ts'
import {
  divide,
  isNegative,
  isZero,
  multiply,
  negated,
  subtract,
  sum,
  typed,
} from '../shared/decimal.ts'
import { day, money, price as priceText, units } from '../shared/format.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Card } from '../shared/view/Page.tsx'
import type { Kind, Values } from './kinds.ts'

type Props = { kind: Kind; values: Values }

/** What the posting would do, worked out as the service does; the service decides. */
export function Preview({ kind, values }: Props) {
  const { accountID, investmentID, transactionDate } = values
  const { productID, currency } = useProduct()
  const known = accountID !== null && investmentID !== null && transactionDate !== ''
  const holding = useRead<Holding[]>(
    '/BizEntity/Account/Holdings',
    {
      ProductID: productID,
      AccountID: accountID ?? 0,
      InvestmentID: investmentID ?? 0,
      Date: transactionDate,
    },
    known,
  )
  const found = usePrice(investmentID, transactionDate)
  const decimals = useInvestments().find((one) => one.investmentID === investmentID)?.unitDecimals
  if (!known)
    return (
      <Card title="What it would do">
        <Text size="sm" className="quiet">
          Choose the account, the class and the day.
        </Text>
      </Card>
    )
  const usual = kind.way === 'in' ? found?.applicationPrice : found?.redemptionPrice
  const unitPrice = typed(values.investmentPrice) ?? usual ?? found?.price ?? undefined
  const figures = workOut(kind, values, unitPrice, decimals ?? 4)
  const before = holding.data?.[0]?.quantity ?? '0'
  const after = figures && (kind.way === 'set' ? figures.units : sum([before, figures.units]))
  return (
    <Card title="What it would do">
      <Facts
        facts={[
          [
            'Price',
            unitPrice &&
              `${priceText(unitPrice)}${usual && !values.investmentPrice ? ` of ${day(found?.priceDate)}` : ''}`,
          ],
          [
            'Entry fee',
            figures?.fee && !isZero(figures.fee) ? `${money(figures.fee)} ${currency}` : '',
          ],
          ['Amount', figures?.amount && `${money(figures.amount)} ${currency}`],
          ['Units', figures && units(figures.units)],
          ['Held before', units(before)],
          ['Held after', after && units(after)],
        ]}
      />
      {after && isNegative(after) && (
        <Text size="sm" className="negative" mt="sm">
          That is {units(subtract('0', after))} units more than are held.
        </Text>
      )}
    </Card>
  )
}

/** The latest price on or before the day. */
function usePrice(investmentID: number | null, date: string): InvestmentPrice | undefined {
  const window = date ? new Date(Date.parse(date) - 92 * 86_400_000).toISOString().slice(0, 10) : ''
  const { data } = useRead<InvestmentPrice[]>(
    '/Investment/Price',
    {
      InvestmentID: investmentID ?? 0,
      'PriceDate.lessThanOrEqual': date,
      'PriceDate.greaterThanOrEqual': window,
      PageSize: 1000,
    },
    investmentID !== null && date !== '',
  )
  return data?.toSorted((a, b) => (a.priceDate ?? '').localeCompare(b.priceDate ?? '')).at(-1)
}

type Figures = { units: string; amount: string | undefined; fee: string | undefined }

function workOut(
  kind: Kind,
  values: Values,
  unitPrice: string | undefined,
  decimals: number,
): Figures | undefined {
  const amount = typed(values.amount)
  const quantity = typed(values.quantity)
  const sign = (text: string) =>
    kind.way === 'out' || kind.way === 'transfer' || kind.way === 'conversion'
      ? negated(text)
      : text
  if (quantity !== undefined)
    return {
      units: sign(quantity),
      amount: amount ?? (unitPrice && multiply(quantity, unitPrice, 2)),
      fee: undefined,
    }
  if (amount === undefined || unitPrice === undefined || isZero(unitPrice)) return undefined
  const rate = typed(values.entryFeePercentage) ?? '0'
  const fee = divide(multiply(amount, rate, 6), '100', 2)
  const invested = subtract(amount, fee)
  return { units: sign(divide(invested, unitPrice, decimals)), amount, fee }
}
