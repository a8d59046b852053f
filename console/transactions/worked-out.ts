import type { InvestmentPrice } from '../shared/api/types.ts'
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
import type { Kind, Values } from './kinds.ts'

/**
 * The facts that a posting is calculated with: the holding it changes, the prices of the day, and
 * the decimals of units and money.
 */
export type Around = {
  /** Undefined until it is known, which is not the same as zero. */
  held: string | undefined
  of: InvestmentPrice | undefined
  into: InvestmentPrice | undefined
  unitDecimals: number
  intoDecimals: number
  cents: number
}

/** The transaction that the ledger would get, with signs as the ledger shows them. */
export type WorkedOut = {
  price: string | undefined
  /** The date of the price, if the price comes from the register. */
  priceDate: string | undefined
  units: string
  amount: string | undefined
  fee: string
  /** Whether the units carry their cost along, so that no gain is realised. */
  carries: boolean
  /** For a transfer or a conversion: the units that come in, and their price. */
  received?: { units: string | undefined; price: string | undefined }
}

/**
 * Calculates the figures of a posting by the rules of the service; undefined if too little is
 * given.
 */
export function workOut(kind: Kind, values: Values, around: Around): WorkedOut | undefined {
  const written = typed(values.quantity)
  const asked = written && multiply(written, '1', around.unitDecimals)
  if (kind.way === 'set' && around.held === undefined) return undefined
  const quantity = asked && kind.way === 'set' ? subtract(asked, around.held ?? '0') : asked
  const given = typed(values.amount)
  const goesOut =
    ['out', 'transfer', 'conversion'].includes(kind.way) ||
    (quantity !== undefined && isNegative(quantity))
  const own = typed(kind.way === 'conversion' ? values.fromInvestmentPrice : values.investmentPrice)
  const price = own ?? usual(kind, goesOut, around.of)
  const fee = feeOf(kind, values, around.cents)
  const units =
    quantity ??
    (given && price && !isZero(price)
      ? unitsFor(subtract(given, fee), price, goesOut, around)
      : undefined)
  if (units === undefined) return undefined
  const worth = given ?? (price && multiply(units, price, around.cents))
  const signed = (value: string) => (goesOut === isNegative(value) ? value : negated(value))
  const outUnits = isZero(units) ? units : signed(units)
  const amount = worth && (isZero(worth) ? worth : signed(worth))
  const takenFor = kind.way === 'signed' || kind.way === 'set'
  return {
    price,
    priceDate: own === undefined ? (around.of?.priceDate ?? undefined) : undefined,
    units: outUnits,
    amount,
    fee,
    carries:
      (takenFor && goesOut && given === undefined) ||
      (kind.way === 'transfer' && values.costBasis === 'Carry') ||
      (kind.way === 'conversion' && values.conversionMethod === 'Factor'),
    ...receivedOf(kind, values, around, { units: outUnits, amount }),
  }
}

/**
 * The units of an amount of money. What goes out and is worth the whole holding takes all of it,
 * where rounding would ask for slightly more units.
 */
function unitsFor(money: string, price: string, goesOut: boolean, around: Around): string {
  const { held, unitDecimals, cents } = around
  const units = divide(money, price, unitDecimals)
  if (!goesOut || held === undefined || isZero(held)) return units
  const isMore = isNegative(subtract(held, units))
  return isMore && isZero(subtract(multiply(held, price, cents), money)) ? held : units
}

/** The price that is used where none is given. */
function usual({ way }: Kind, goesOut: boolean, found: InvestmentPrice | undefined) {
  const apart = goesOut ? found?.redemptionPrice : found?.applicationPrice
  return (way === 'transfer' ? undefined : apart) ?? found?.price ?? undefined
}

function feeOf(kind: Kind, values: Values, cents: number): string {
  if (!kind.rows.flat().includes('entryFeeAmount')) return '0'
  const [amount, fee] = [typed(values.amount) ?? '0', typed(values.entryFeeAmount)]
  if (fee !== undefined) return multiply(fee, '1', cents)
  const kept = subtract('100', typed(values.entryFeeDiscountPercentage) ?? '0')
  const rate = divide(multiply(typed(values.entryFeePercentage) ?? '0', kept, 16), '100', 16)
  return divide(multiply(amount, rate, 16), '100', cents)
}

type Out = { units: string; amount: string | undefined }

/** The units that come in where a posting moves units between two holdings. */
function receivedOf(kind: Kind, values: Values, around: Around, { units, amount }: Out) {
  if (kind.way === 'transfer') return { received: { units: negated(units), price: undefined } }
  if (kind.way !== 'conversion') return {}
  if (values.conversionMethod === 'Factor') {
    const factor = typed(values.conversionFactor)
    const received = factor && multiply(negated(units), factor, around.intoDecimals)
    return { received: { units: received, price: undefined } }
  }
  const price =
    typed(values.toInvestmentPrice) ??
    around.into?.applicationPrice ??
    around.into?.price ??
    undefined
  const known = price !== undefined && !isZero(price) && amount !== undefined
  const received = known ? divide(negated(amount), price, around.intoDecimals) : undefined
  return { received: { units: received, price } }
}

/** The units of a holding after a posting. */
export const after = (held: string | undefined, units: string | undefined) =>
  held === undefined || units === undefined ? undefined : sum([held, units])
