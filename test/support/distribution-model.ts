import { shown } from './decimals.ts'

/** A model of distributions in plain integer arithmetic; the service must get the same results. */
export type Movement = { day: string; quantity: bigint; amount: bigint }

export type Holder = {
  accountID: number
  movements: Movement[]
  drpType: number
  drpValue: bigint
  /** The amount worked out elsewhere, in cents, if there is one. */
  listed?: bigint | undefined
  included: boolean
  excluded: boolean
  residual: bigint
  /** The day of the last DRP allotment that increased the residual. */
  leftOn: string
}

export type Terms = {
  method: 'perUnit' | 'total' | 'cents' | 'percent'
  rate: bigint
  /** 10 to the power of the currency's decimals. */
  cents: bigint
  recordDate: string
  /** The days of the period; if it is empty, the record date counts. */
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
/** Rounds a quotient half away from zero; neither number may be negative. */
const rounded = (n: bigint, d: bigint) => (2n * n + d) / (2n * d)
const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n)

const unitsAt = ({ movements }: Holder, day: string) =>
  sum(movements.filter((one) => one.day <= day).map(({ quantity }) => quantity))

/** Splits an amount by weights without a rest, by largest remainders; of equals the first gains. */
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

/** The value of a unit as a fraction; undefined if there is no price to work it out from. */
function worthOf(terms: Terms, holders: Holder[]): [bigint, bigint] | undefined {
  const { valuation, prices, recordDate, days, issuePrice } = terms
  if (valuation === 'Fixed') return [issuePrice, one]
  const bought = holders
    .flatMap(({ movements }) => movements)
    // Movements of a DRP have no amount in this model, and do not count.
    .filter(({ quantity, amount }) => quantity > 0n && amount > 0n)
    .filter(({ day }) => day >= days[0]! && day <= days.at(-1)!)
  if (valuation === 'VWAP' && bought.length > 0)
    return [sum(bought.map(({ amount }) => amount)), sum(bought.map(({ quantity }) => quantity))]
  const price = prices.filter(({ day }) => day <= recordDate).at(-1)?.price
  return price === undefined ? undefined : [price, one]
}

/** The share of each holder; undefined if the declaration must be refused. */
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

/** A payment also pays the residual to holders who hold no units and do not reinvest. */
export function payLeft(holders: Holder[], shares: Share[], day: string) {
  for (const holder of holders) {
    const share = shares.find(({ accountID }) => accountID === holder.accountID)
    const held = sum(holder.movements.map(({ quantity }) => quantity))
    if (held === 0n && !share?.drp && holder.leftOn <= day) holder.residual = 0n
  }
}

/** Reinvests: works out the units that the money buys, and the residual. */
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

/** A whole number of 1/scale as the decimal that answers show. */
export const plainOf = (value: bigint, scale: bigint) => Number(shown(value * (one / scale)))
