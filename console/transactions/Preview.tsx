import { Text } from '@mantine/core'
import { type Money, useCurrency, useMoney, usePlaces, useUnits } from '../shared/api/money.ts'
import { useReadAll } from '../shared/api/pages.ts'
import { useInvestments, useProduct, useRead } from '../shared/api/products.ts'
import type { Holding, InvestmentPrice } from '../shared/api/types.ts'
import { isNegative, isZero, negated } from '../shared/decimal.ts'
import { day, price as priceText } from '../shared/format.ts'
import { unread } from '../shared/view/Answer.tsx'
import { type Fact, Facts } from '../shared/view/Facts.tsx'
import { Card } from '../shared/view/Page.tsx'
import type { Kind, Values } from './kinds.ts'
import { after, type WorkedOut, workOut } from './worked-out.ts'

type Props = { kind: Kind; values: Values }
type Where = { accountID: number | null; investmentID: number | null }

/** A preview of a posting, calculated with the rules of the service; the service decides. */
export function Preview({ kind, values }: Props) {
  const { accountID, investmentID, transactionDate } = values
  const currency = useCurrency()({ investmentID })
  const investments = useInvestments()
  const places = usePlaces()
  const money = useMoney({ investmentID })
  const second = secondOf(kind, values)
  const units = useUnits({ investmentID })
  const secondUnits = useUnits(second)
  const held = useHeld({ accountID, investmentID }, transactionDate)
  const secondHeld = useHeld(second, transactionDate)
  const found = usePrice(investmentID, transactionDate)
  const intoPrice = usePrice(values.toInvestmentID, transactionDate)
  const decimalsOf = (id: number | null) =>
    investments.find((one) => one.investmentID === id)?.unitDecimals ?? 4
  if (accountID === null || investmentID === null || transactionDate === '')
    return (
      <Card title="What it would do">
        <Text size="sm" className="quiet">
          Choose the account, the class and the day.
        </Text>
      </Card>
    )
  const worked = workOut(kind, values, {
    held: held.units,
    of: found,
    into: intoPrice,
    unitDecimals: decimalsOf(investmentID),
    intoDecimals: decimalsOf(values.toInvestmentID),
    cents: places({ investmentID }),
  })
  const left = after(held.units, worked?.units)
  const isKnown = second.accountID !== null && second.investmentID !== null
  return (
    <Card title="What it would do">
      <Facts
        facts={[
          ...factsOf(worked, money, units, currency),
          ['Held before', shownAs(held, units)],
          ['Held after', left && units(left)],
          ...(isKnown ? secondFacts(kind, worked, secondHeld, secondUnits) : []),
        ]}
      />
      {worked?.carries && (
        <Text size="sm" className="quiet" mt="sm">
          The units go with their cost: nothing is realised.
        </Text>
      )}
      {left && isNegative(left) && (
        <Text size="sm" className="negative" mt="sm">
          That is {units(negated(left))} units more than are held.
        </Text>
      )}
    </Card>
  )
}

const factsOf = (
  worked: WorkedOut | undefined,
  money: Money,
  units: Money,
  currency: string,
): Fact[] => {
  if (!worked) return []
  const { price, priceDate, fee, amount } = worked
  return [
    ['Price', price && `${priceText(price)}${priceDate ? ` of ${day(priceDate)}` : ''}`],
    ['Entry fee', isZero(fee) ? '' : `${money(fee)} ${currency}`],
    ['Amount', amount && `${money(amount)} ${currency}`],
    ['Units', units(worked.units)],
  ]
}

/** The account and class that receive the units of a transfer or conversion. */
const secondOf = (kind: Kind, values: Values): Where => {
  const { accountID, investmentID, toAccountID, toInvestmentID } = values
  if (kind.way === 'transfer') return { accountID: toAccountID, investmentID }
  if (kind.way === 'conversion') return { accountID, investmentID: toInvestmentID }
  return { accountID: null, investmentID: null }
}

function secondFacts(kind: Kind, worked: WorkedOut | undefined, held: Held, units: Money): Fact[] {
  const [before, then] =
    kind.way === 'transfer'
      ? ['Receiver held before', 'Receiver holds after']
      : ['New class held before', 'New class held after']
  const received = worked?.received
  const left = after(held.units, received?.units)
  return [
    ['Price they come in at', received?.price && priceText(received.price)],
    ['Units that come in', received?.units && units(received.units)],
    [before, shownAs(held, units)],
    [then, left && units(left)],
  ]
}

type Held = {
  /** Undefined while the units are read, and where the read failed. */
  units: string | undefined
  isFailed: boolean
}

const shownAs = ({ units, isFailed }: Held, written: Money) => {
  if (units !== undefined) return written(units)
  return unread({ isError: isFailed })
}

/** The units of a holding at the end of a day. */
function useHeld({ accountID, investmentID }: Where, date: string): Held {
  const { productID } = useProduct()
  const { data, isError } = useRead<Holding[]>(
    '/BizEntity/Account/Holdings',
    {
      ProductID: productID,
      AccountID: accountID ?? 0,
      InvestmentID: investmentID ?? 0,
      Date: date,
    },
    accountID !== null && investmentID !== null && date !== '',
  )
  return { units: data && (data[0]?.quantity ?? '0'), isFailed: isError }
}

/** A class has at most one price a day, so one page holds the prices of these days. */
const nearDays = 31

const daysBefore = (date: string, days: number) =>
  new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10)

/**
 * The latest price on or before the day, of any age; most prices are recent and found in a first,
 * short read.
 */
function usePrice(investmentID: number | null, date: string): InvestmentPrice | undefined {
  const isKnown = investmentID !== null && date !== ''
  const until = { InvestmentID: investmentID ?? 0, 'PriceDate.lessThanOrEqual': date }
  const since = date && daysBefore(date, nearDays)
  const near = useRead<InvestmentPrice[]>(
    '/Investment/Price',
    { ...until, 'PriceDate.greaterThanOrEqual': since, PageSize: nearDays + 1 },
    isKnown,
  )
  const isFar = isKnown && near.data?.length === 0
  const far = useReadAll<InvestmentPrice>('/Investment/Price', until, isFar)
  const found = isFar ? far.data : near.data
  return found?.toSorted((a, b) => (a.priceDate ?? '').localeCompare(b.priceDate ?? '')).at(-1)
}
