import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import { invalid, refuseAll } from '../../platform/refusal.ts'
import { compareDecimals } from '../../platform/shape/decimal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Stored } from './family.ts'
import { idsWhere } from './kinds.ts'
import { isNone, tooLarge } from './price.ts'
import type { TransactionUpdate } from './schema.ts'

const types = lookups.BizTransactionType

/** Price and figures of a leg after a correction, signed. */
export type Corrected = {
  id: number
  price: string | null
  amount: string
  quantity: string
  fee: string
  carriedCost: string | null
  madeByQuantity: boolean | null
}

type Given = Pick<TransactionUpdate, 'amount' | 'quantity' | 'investmentPrice'>

/** Whether a correction changes figures. */
export const moves = ({ amount, quantity, investmentPrice }: Given) =>
  [amount, quantity, investmentPrice].some((field) => field !== undefined)

/**
 * The corrected figures of a transaction and of its other leg: a given figure stands, and the other
 * one follows at the given or kept price. In a conversion the first leg leads, as when it was
 * posted: figures given for the second leg are turned into figures of the first.
 */
export async function correct(
  tx: Tx,
  own: Stored,
  family: readonly Stored[],
  given: Given,
): Promise<Corrected[]> {
  const other = family.find(({ id }) => id !== own.id)
  const corrected = other
    ? await correctPair(tx, own, other, given)
    : [await correctOne(tx, own, given)]
  for (const leg of corrected) refuseBadFigures(leg)
  return corrected
}

async function correctPair(tx: Tx, own: Stored, other: Stored, given: Given) {
  if (own.typeID === types['Conversion out']) {
    const first = await correctOne(tx, own, given)
    return [first, await followFirst(tx, other, first, {})]
  }
  if (own.typeID === types['Conversion in']) {
    const first = await correctOne(tx, other, await givenForFirst(tx, own, other, given))
    return [first, await followFirst(tx, own, first, given)]
  }
  const leg = await correctOne(tx, own, given)
  const { amount, quantity } = leg
  const mirrored = { amount: negated(amount), quantity: negated(quantity), price: leg.price }
  return [leg, { ...(await figuresOf(tx, other)), ...mirrored }]
}

const negated = (decimal: string) =>
  decimal.startsWith('-') ? decimal.slice(1) : isNone(decimal) ? decimal : `-${decimal}`

const either = raw(idsWhere(({ units }) => units === 'either'))

const numeric = (value: string | undefined): Fragment => sql`${value ?? null}::numeric`

/**
 * Corrects one leg by itself. If only the amount is given, the quantity follows, and the reverse;
 * if only the price is given, the figure by which the posting was made stays. Without a price, the
 * figure that would follow stays. An entry fee by percentage follows the amount.
 */
async function correctOne(tx: Tx, { productID, id }: Stored, given: Given): Promise<Corrected> {
  const [amount, quantity] = [numeric(given.amount), numeric(given.quantity)]
  const [row] = await tx.query<Corrected>(sql`
    select t.biz_transaction_id as id, p.price, a.amount::text as amount,
      q.quantity::text as quantity, f.fee::text as fee,
      case when t.biz_transaction_type_id not in ${either} then t.carried_cost
        -- Units that are taken out for no money take their cost along.
        when ${amount} is null and q.quantity < 0
          then coalesce(t.carried_cost, case when t.made_by_quantity then 0 end)
        end as "carriedCost",
      case when ${amount} is null and ${quantity} is null then t.made_by_quantity
        when ${amount} is null then true end as "madeByQuantity"
    from biz_transaction t
    join investment i on i.investment_id = t.investment_id
    cross join lateral (
      select coalesce(${numeric(given.investmentPrice)}, t.investment_price) as price,
        t.entry_fee_percentage * 0.01 as rate, i.unit_decimals as units,
        minor_units(i.currency_id) as cents,
        ${!moves(given)}::boolean as nothing, case when ${amount} is null and ${quantity} is null
          then coalesce(t.made_by_quantity, false) else ${amount} is null end as by_quantity) p
    cross join lateral (
      select round(coalesce(${quantity},
          case when p.by_quantity or p.nothing then t.quantity end), p.units) as quantity,
        round(coalesce(${amount},
          case when not p.by_quantity or p.nothing then t.amount end), p.cents) as amount) g
    cross join lateral (
      select coalesce(g.amount, case when p.price is null then t.amount
        when p.rate is null then round(g.quantity * p.price + t.entry_fee_amount, p.cents)
        else round(round(g.quantity * p.price, 40) / nullif(1 - p.rate, 0), p.cents) end)
        as amount) a
    cross join lateral (
      select coalesce(round(a.amount * p.rate, p.cents), t.entry_fee_amount) as fee) f
    cross join lateral (
      select coalesce(g.quantity, case when p.price is null then t.quantity
        else round(round(a.amount - f.fee, 40) / p.price, p.units) end) as quantity) q
    where t.product_id = ${productID} and t.biz_transaction_id = ${id}`)
  if (!row || row.amount === null)
    throw invalid('invalid_value', 'An entry fee of 100 percent leaves nothing to go by.')
  return row
}

const figuresOf = (tx: Tx, leg: Stored) => correctOne(tx, leg, {})

/**
 * The factor from units of the first leg to units of the second; null for a conversion by price.
 * For conversions made before the method was stored, only the ratio of their units is known.
 */
const ratio = sql`coalesce(s.conversion_factor, case when s.conversion_method_id is null
  then round(s.quantity, 40) / -f.quantity end)`

/** Turns the figures given for the second leg of a conversion into figures of the first. */
async function givenForFirst(tx: Tx, second: Stored, first: Stored, given: Given): Promise<Given> {
  const [amount, quantity] = [numeric(given.amount), numeric(given.quantity)]
  const price = sql`coalesce(${numeric(given.investmentPrice)}, s.investment_price)`
  const [row] = await tx.query<{ amount: string | null; quantity: string | null }>(sql`
    select (-coalesce(${amount}, case when ${ratio} is null
        then round(${quantity} * ${price}, minor_units(i.currency_id)) end))::text as amount,
      (-round(round(${quantity}, 40) / ${ratio}, i.unit_decimals))::text as quantity
    from biz_transaction f
    join biz_transaction s on s.product_id = f.product_id and s.biz_transaction_id = ${second.id}
    join investment i on i.investment_id = f.investment_id
    where f.product_id = ${first.productID} and f.biz_transaction_id = ${first.id}`)
  const { amount: money, quantity: units } = row! // both legs are locked
  return { ...(money !== null && { amount: money }), ...(units !== null && { quantity: units }) }
}

/** The second leg of a conversion, from the corrected first leg and its own given figures. */
async function followFirst(
  tx: Tx,
  second: Stored,
  first: Corrected,
  given: Given,
): Promise<Corrected> {
  const kept = await figuresOf(tx, second)
  const price = given.investmentPrice ?? kept.price
  const amount = negated(first.amount)
  const [quantity, own] = [numeric(given.quantity), numeric(price ?? undefined)]
  const [row] = await tx.query<{ quantity: string | null; agrees: boolean | null }>(sql`
    select coalesce(round(${quantity}, i.unit_decimals), r.quantity)::text as quantity,
      ${quantity} is null or ${ratio} is not null
        or round(${quantity}, i.unit_decimals) = r.quantity
        or ${numeric(amount)} = round(${quantity} * ${own}, minor_units(i.currency_id)) as agrees
    from biz_transaction s
    join biz_transaction f on f.product_id = s.product_id and f.biz_transaction_id = ${first.id}
    join investment i on i.investment_id = s.investment_id
    cross join lateral (
      select case
        when ${ratio} is not null and f.quantity = ${numeric(first.quantity)} then s.quantity
        when ${ratio} is not null
          then round(-${numeric(first.quantity)} * ${ratio}, i.unit_decimals)
        when s.amount = ${numeric(amount)} and s.investment_price = ${own} then s.quantity
        else round(round(${numeric(amount)}, 40) / ${own}, i.unit_decimals) end as quantity) r
    where s.product_id = ${second.productID} and s.biz_transaction_id = ${second.id}`)
  const found = row! // both legs are locked
  if (!found.agrees)
    throw invalid(
      'invalid_value',
      'amount, quantity and investmentPrice of this leg do not agree.',
      'quantity',
    )
  return { ...kept, price, amount, quantity: found.quantity ?? kept.quantity }
}

/** Refuses figures that are wrong after rounding, or together with the figures that stay. */
function refuseBadFigures({ amount, quantity, fee }: Corrected) {
  if (isNone(quantity))
    throw invalid('too_small', 'This comes to no units at all after rounding.', 'quantity')
  if (!isNone(amount) && quantity.startsWith('-') !== amount.startsWith('-'))
    throw invalid('invalid_value', 'amount must have the sign of the quantity.', 'amount')
  if (!isNone(fee) && compareDecimals(fee, amount) > 0)
    throw invalid('invalid_value', 'The entry fee is more than the amount.', 'amount')
  refuseAll(400, tooLarge({ quantity, amount }))
}
