import { shown } from './decimals.ts'

/** Distributions by plain arithmetic, in whole numbers: what the service must come to. */
export type Movement = { day: string; quantity: bigint; amount: bigint }

export type Holder = {
  accountID: number
  movements: Movement[]
  drpType: number
  drpValue: bigint
  /** Worked out elsewhere, in cents. */
  listed?: bigint | undefined
  included: boolean
  excluded: boolean
  residual: bigint
  /** The day of the last allotment that left more than there was. */
  leftOn: string
}

export type Terms = {
  method: 'perUnit' | 'total' | 'cents' | 'percent'
  rate: bigint
  /** 10 to the power of the currency's decimals. */
  cents: bigint
  recordDate: string
  /** The days of the period; none: the record date counts. */
  days: string[]
  valuation: string
  prices: { day: string; price: bigint }[]
  issuePrice: bigint
  percentages: bigint[]
  offered: boolean
  drpPrice: bigint
  /** 10 to the power of the target's unit decimals. */
  targetUnits: bigint
}

export type Share = {
  accountID: number
  units: bigint
  gross: bigint
  components: bigint[]
  drp: bigint
  cash: bigint
  drpUnits?: bigint
  residual?: bigint
}

const one = 10n ** 18n
/** Half away from zero, for what is not negative. */
const rounded = (n: bigint, d: bigint) => (2n * n + d) / (2n * d)
const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n)

const unitsAt = ({ movements }: Holder, day: string) =>
  sum(movements.filter((one) => one.day <= day).map(({ quantity }) => quantity))

/** An amount by weights, to the last unit: the largest remainders, the first of equals first. */
export function shared(amount: bigint, weights: bigint[]): bigint[] {
  const total = sum(weights)
  if (total === 0n) return weights.map(() => 0n)
  const parts = weights.map((weight) => (amount * weight) / total)
  const order = weights
    .map((weight, i) => ({ i, rest: (amount * weight) % total }))
    .sort((a, b) => (a.rest === b.rest ? a.i - b.i : a.rest > b.rest ? -1 : 1))
  const left = Number(amount - sum(parts))
  for (const { i } of order.slice(0, left)) parts[i]! += 1n
  return parts
}

/** What a unit is worth, as a fraction; undefined where there is nothing to go by. */
function worthOf(terms: Terms, holders: Holder[]): [bigint, bigint] | undefined {
  const { valuation, prices, recordDate, days, issuePrice } = terms
  if (valuation === 'Fixed') return [issuePrice, one]
  const bought = holders
    .flatMap(({ movements }) => movements)
    // What a DRP allotted is given no amount here, and counts for nothing.
    .filter(({ quantity, amount }) => quantity > 0n && amount > 0n)
    .filter(({ day }) => day >= days[0]! && day <= days.at(-1)!)
  if (valuation === 'VWAP' && bought.length > 0)
    return [sum(bought.map(({ amount }) => amount)), sum(bought.map(({ quantity }) => quantity))]
  const price = prices.filter(({ day }) => day <= recordDate).at(-1)?.price
  return price === undefined ? undefined : [price, one]
}

/** What each holder gets; undefined where the declaration must be refused. */
export function declare(terms: Terms, holders: Holder[]): Share[] | undefined {
  const { method, rate, cents, days, recordDate } = terms
  const measure = (holder: Holder) =>
    method !== 'perUnit' && days.length > 0
      ? sum(days.map((day) => unitsAt(holder, day)))
      : unitsAt(holder, recordDate)
  const limits = holders.some(({ included }) => included)
  const counted = holders
    .filter(({ included, excluded }) => (included || !limits) && !excluded)
    .map((holder) => ({ holder, weight: measure(holder) }))
    .filter(({ holder, weight }) => weight > 0n || holder.listed !== undefined)
  const grosses = counted.map(({ holder }) => holder.listed)
  const open = counted.filter((_, i) => grosses[i] === undefined)
  const value = method === 'percent' ? worthOf(terms, holders) : [0n, 1n]
  if (!value) return undefined
  const [worth, per] = value as [bigint, bigint]
  const pool =
    method === 'total' ? rounded(rate * cents, one) - sum(grosses.map((g) => g ?? 0n)) : 0n
  if (pool < 0n || (pool > 0n && open.length === 0)) return undefined
  const shares = shared(
    pool,
    open.map(({ weight }) => weight),
  )
  const amountOf = (weight: bigint, share: bigint) => {
    if (method === 'total') return share
    if (method === 'perUnit') return rounded(weight * rate * cents, one * one)
    if (method === 'cents') return rounded(weight * rate * cents, 100n * one * one)
    return rounded(weight * rate * worth * cents, 36_500n * one * one * per)
  }
  let next = 0
  return counted
    .map(({ holder, weight }, i) => {
      const gross = grosses[i] ?? amountOf(weight, shares[next++]!)
      return shareOf(terms, holder, gross)
    })
    .filter(({ units, gross }) => units > 0n || gross > 0n)
}

function shareOf(terms: Terms, holder: Holder, gross: bigint): Share {
  const units = unitsAt(holder, terms.recordDate)
  const { drpType, drpValue, accountID } = holder
  const some = drpValue < units ? drpValue : units
  const drp = !terms.offered
    ? 0n
    : ([
        0n,
        gross,
        rounded(gross * drpValue, 100n * one),
        units > 0n ? rounded(gross * some, units) : 0n,
      ][drpType - 1] as bigint)
  const components = shared(gross, terms.percentages)
  return { accountID, units, gross, components, drp, cash: gross - drp }
}

/** With a payment goes what is left to who holds nothing, and reinvests nothing of it. */
export function payLeft(holders: Holder[], shares: Share[], day: string) {
  for (const holder of holders) {
    const share = shares.find(({ accountID }) => accountID === holder.accountID)
    const held = sum(holder.movements.map(({ quantity }) => quantity))
    if (held === 0n && !share?.drp && holder.leftOn <= day) holder.residual = 0n
  }
}

/** The units that the money held buys, and what is left of it. */
export function reinvest(terms: Terms, holders: Holder[], shares: Share[], day: string) {
  const { cents, drpPrice, targetUnits } = terms
  for (const share of shares.filter(({ drp }) => drp > 0n)) {
    const holder = holders.find(({ accountID }) => accountID === share.accountID)!
    const available = share.drp + holder.residual
    const bought = (available * one * targetUnits) / (drpPrice * cents)
    const cost = rounded(bought * drpPrice * cents, targetUnits * one)
    share.drpUnits = bought
    share.residual = available - cost
    if (share.residual > holder.residual) holder.leftOn = day
    holder.residual = share.residual
  }
}

/** Whole units of a place as the number that answers show. */
export const plainOf = (value: bigint, scale: bigint) => Number(shown(value * (one / scale)))
