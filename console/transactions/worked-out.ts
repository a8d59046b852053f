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

/** What is so around a posting: the holding it changes, prices of the day, how exact figures are. */
export type Around = {
  /** Undefined until it is known: it is not nothing then. */
  held: string | undefined
  of: InvestmentPrice | undefined
  into: InvestmentPrice | undefined
  unitDecimals: number
  intoDecimals: number
  cents: number
}

/** What the ledger would get, signed as it shows it. */
export type WorkedOut = {
  price: string | undefined
  /** The day of the price, where it is one of the register's. */
  priceDate: string | undefined
  units: string
  amount: string | undefined
  fee: string
  /** The cost goes along with the units, and nothing is realised. */
  carries: boolean
  /** Of a transfer or a conversion, the units that come in, and at which price. */
  received?: { units: string | undefined; price: string | undefined }
}

/** The figures of a posting, as the service works them out; undefined where too little is given. */
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
      ? divide(subtract(given, fee), price, around.unitDecimals)
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

/** The price that counts where none is given. */
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

/** What comes in where units move between two. */
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

/** A holding before and after units have come or gone. */
export const after = (held: string | undefined, units: string | undefined) =>
  held === undefined || units === undefined ? undefined : sum([held, units])
