import { dec, over, percentOf, round, times, timesOver } from './decimals.ts'
import type { Body, Investment, Tx } from './ledger-types.ts'

const one = dec('1')
const [out, into, adjustment, set] = [4, 5, 6, 7]

export type Given = { quantity?: bigint; amount?: bigint; price?: bigint }
type Figures = Pick<Tx, 'price' | 'quantity' | 'amount' | 'fee' | 'carries' | 'byQuantity'>

/** A model of corrections: the figures of corrected transactions, worked out as if by hand. */
export function correctionsOf(investments: Investment[]) {
  /** The figures of a corrected leg by itself; undefined if they cannot be worked out. */
  function corrected(tx: Tx, given: Given): Figures | undefined {
    const { price: kept, quantity: q, amount: a, fee: f, carries, byQuantity } = tx
    if (Object.keys(given).length === 0)
      return { price: kept, quantity: q, amount: a, fee: f, carries, byQuantity }
    const { units, cents } = investments[tx.investment]!
    const price = given.price ?? kept
    const neither = given.quantity === undefined && given.amount === undefined
    const leads = neither ? byQuantity : given.amount === undefined
    const asked = given.quantity ?? (leads ? q : undefined)
    const money = given.amount ?? (leads ? undefined : a)
    const rate = tx.feeRate
    if (rate === 100n * one && money === undefined && price !== undefined) return undefined
    const grossed = (value: bigint, at: bigint) =>
      rate === undefined
        ? exactSum(value, at, f, cents)
        : timesOver(value, at, one - rate / 100n, cents)
    const units0 = asked === undefined ? undefined : round(asked, units)
    const amount =
      money !== undefined ? round(money, cents) : price === undefined ? a : grossed(units0!, price)
    const fee = rate === undefined ? f : percentOf(amount, rate, 0n, cents)
    const quantity = units0 ?? (price === undefined ? q : over(amount - fee, price, units))
    const either = tx.typeID === adjustment || tx.typeID === set
    return {
      price,
      quantity,
      amount,
      fee,
      carries: either
        ? given.amount === undefined && quantity < 0n && (carries || byQuantity)
        : carries,
      byQuantity: neither ? byQuantity : given.amount === undefined,
    }
  }

  /** q × price + fee, rounded once. */
  const exactSum = (value: bigint, at: bigint, fee: bigint, cents: number) =>
    timesOver(value * at + fee * one, 1n, one, cents)

  /** The second leg of a conversion from the first. */
  function following(second: Tx, first: Tx, lead: Figures, given: Given): Figures | undefined {
    const { units, cents } = investments[second.investment]!
    const price = given.price ?? second.price
    const amount = -lead.amount
    const derived = second.factor
      ? lead.quantity === first.quantity
        ? second.quantity
        : times(-lead.quantity, second.factor, units)
      : amount === second.amount && price === second.price
        ? second.quantity
        : over(amount, price!, units)
    const asked = given.quantity === undefined ? undefined : round(given.quantity, units)
    const agrees =
      asked === undefined ||
      second.factor !== undefined ||
      asked === derived ||
      amount === times(given.quantity!, price!, cents)
    const { fee, carries, byQuantity } = second
    return agrees
      ? { price, amount, quantity: asked ?? derived, fee, carries, byQuantity }
      : undefined
  }

  function correctedPair(own: Tx, other: Tx, given: Given): Map<number, Figures | undefined> {
    if (own.typeID === out) {
      const lead = corrected(own, given)
      return new Map([
        [own.n, lead],
        [other.n, lead && following(other, own, lead, {})],
      ])
    }
    if (own.typeID === into) {
      const { units, cents } = investments[other.investment]!
      const price = given.price ?? own.price
      const money =
        given.amount ??
        (own.factor === undefined && given.quantity !== undefined
          ? times(given.quantity, price!, cents)
          : undefined)
      const quantity =
        own.factor !== undefined && given.quantity !== undefined
          ? over(given.quantity, own.factor, units)
          : undefined
      const lead = corrected(other, {
        ...(money !== undefined && { amount: -money }),
        ...(quantity !== undefined && { quantity: -quantity }),
      })
      return new Map([
        [other.n, lead],
        [own.n, lead && following(own, other, lead, given)],
      ])
    }
    const leg = corrected(own, given)
    const { fee, carries, byQuantity } = other
    return new Map([
      [own.n, leg],
      [
        other.n,
        leg && {
          price: leg.price,
          amount: -leg.amount,
          quantity: -leg.quantity,
          fee,
          carries,
          byQuantity,
        },
      ],
    ])
  }

  const isWrong = (figures: Figures | undefined) =>
    !figures ||
    figures.quantity === 0n ||
    (figures.quantity < 0n ? figures.amount > 0n : figures.amount < 0n) ||
    (figures.fee !== 0n && figures.fee > figures.amount)

  return { corrected, correctedPair, isWrong }
}

/** The fee in percent; undefined if the fee is an amount. */
export function rateOf(body: Body): bigint | undefined {
  if (body.entryFeeAmount !== undefined) return undefined
  if (body.entryFeeOverridePercentage !== undefined) return dec(body.entryFeeOverridePercentage)
  if (body.entryFeePercentage === undefined) return undefined
  const discount = dec(body.entryFeeDiscountPercentage ?? '0')
  return (dec(body.entryFeePercentage) * (100n * one - discount)) / (100n * one)
}

export function feeOf(body: Body, amount: bigint, cents: number): bigint {
  if (body.entryFeeAmount !== undefined) return round(dec(body.entryFeeAmount), cents)
  if (body.entryFeeOverridePercentage !== undefined)
    return percentOf(amount, dec(body.entryFeeOverridePercentage), 0n, cents)
  const discount = dec(body.entryFeeDiscountPercentage ?? '0')
  return percentOf(amount, dec(body.entryFeePercentage ?? '0'), discount, cents)
}
