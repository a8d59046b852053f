import sql, { raw } from 'sql-template-tag'
import { priceOn } from '../../catalogue/investment/price-on.ts'
import { today } from '../../catalogue/product/today.ts'
import { standing } from '../../parties/account/standing.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { type RowOf, recordset } from '../../platform/sql/recordset.ts'
import { idsOf, idsWhere } from './kinds.ts'

/** A resolved leg, as the pricing reads it. */
const unpriced = {
  place: 'int',
  item: 'int',
  type_id: 'int',
  account_id: 'int',
  investment_id: 'int',
  transaction_date: 'date',
  quantity: 'numeric',
  amount: 'numeric',
  price: 'numeric',
  fee: 'numeric',
  fee_override: 'numeric',
  fee_percentage: 'numeric',
  fee_discount: 'numeric',
  factor: 'numeric',
  carries: 'boolean',
} as const
export type Unpriced = RowOf<typeof unpriced>

export type Figures = {
  price: string | null
  /** Signed: what goes out is negative. Null where neither was given nor could be worked out. */
  quantity: string | null
  amount: string | null
  fee: string
  /** Where the entry fee is a percentage, and follows the amount when that is corrected. */
  feePercentage: string | null
}

/** What is so around a leg, on which it depends whether it may be posted. */
export type Standing = {
  isActive: boolean
  productIsActive: boolean
  /** Of the account, by its own status and its investor's. */
  account: 'open' | 'suspended' | 'closed'
  currencyID: number
  /** Later than tomorrow, by the product's day. */
  isTooFarAhead: boolean
  /** The day up to which the product is locked, if that includes the leg's. */
  lockedDate: string | null
  /** Of the price that the leg goes by, if it is older than the investment allows. */
  oldPriceDate: string | null
}

/**
 * Of a row of `single` that brings units in or redeems them: nothing of its standing speaks against
 * it, whatever it is. Whoever adds a reason to refuse adds it here, too: what is unimpeded is
 * posted at once.
 */
export const unimpeded = (alias: string) =>
  raw(
    [
      `${alias}.standing = 'open'`,
      `${alias}.is_too_far_ahead = false`,
      `${alias}.locked_date is null`,
      `${alias}.old_price_date is null`,
      `(${alias}.is_active and ${alias}.product_is_active or ${takesUnits(alias)})`,
    ].join(' and '),
  )

const plainPriced = raw(idsWhere(({ price }) => price === 'plain'))
const redeemed = raw(idsWhere(({ price }) => price === 'redemption'))
const outward = raw(idsWhere(({ units }) => units === 'out'))
/** Whether the kind of a row is one that takes units out. */
export const takesUnits = (alias: string) => `${alias}.type_id in ${outward.text}`
const worthNothing = raw(idsWhere((kind) => kind.worthNothing === true))
const source = raw(idsOf('Conversion out'))
const target = raw(idsOf('Conversion in'))

const standingOfAccount = sql`
        select ${standing('a', 'e')} as standing
        from account a join biz_entity e on e.biz_entity_id = a.biz_entity_id
        where a.account_id = g.account_id limit 1`

/** What of a leg's investment and product its figures and its standing depend on. */
const termsOfInvestment = sql`
        select i.is_active, i.currency_id, i.unit_decimals, i.maximum_price_age_days, p.time_zone,
          p.locked_date, p.is_active as product_is_active
        from investment i join product p on p.product_id = i.product_id
        where i.investment_id = g.investment_id limit 1`

/** The prices of an investment, by a column with its id, that count for a row g on its day. */
export const pricesFor = (investmentID: string) =>
  priceOn(
    investmentID,
    raw('g.transaction_date'),
    'price_date, price as plain_price, application_price, redemption_price',
  )

/** What is so around legs g: read for each, or by whoever has found it with them. */
const around = {
  terms: termsOfInvestment,
  standing: standingOfAccount,
  price: pricesFor('g.investment_id'),
}

/**
 * Price, units and money of every leg by itself, as a list of CTEs that ends with `single`: its
 * rows are those given, each with what is so around it, and with its own_quantity, own_amount,
 * unit_price, charge and rate (of the fee), all without a sign. Units are rounded to the
 * investment's decimals and money to the currency's, half away from zero. Dividends are widened
 * before a division, since a quotient is only as long as its operands and would be rounded twice.
 */
export const singleLegs = (given: Fragment, { terms, standing, price } = around): Fragment => sql`
    known as (
      select g.*, i.is_active, i.currency_id, i.product_is_active, s.standing,
        g.transaction_date > ${today('i')} + 1 as is_too_far_ahead,
        case when g.transaction_date <= i.locked_date then i.locked_date end as locked_date,
        case when g.price is null and v.price_date < g.transaction_date - i.maximum_price_age_days
          and case when g.type_id in ${target} then g.factor is null
            else g.quantity is null or (g.amount is null and not g.carries) end
          then v.price_date end as old_price_date,
        i.unit_decimals as units, minor_units(i.currency_id) as cents,
        round(g.quantity, i.unit_decimals) as asked_quantity,
        round(g.amount, minor_units(i.currency_id)) as asked_amount,
        case when g.fee is null then coalesce(g.fee_override,
          g.fee_percentage * (1 - coalesce(g.fee_discount, 0) * 0.01)) end as rate,
        coalesce(g.price, case
          when g.type_id in ${plainPriced} then v.plain_price
          when g.type_id in ${redeemed} or g.quantity < 0
            then coalesce(v.redemption_price, v.plain_price)
          else coalesce(v.application_price, v.plain_price) end) as unit_price
      from (${given}) g
      cross join lateral (${terms}) i
      cross join lateral (${standing}) s
      left join lateral (${price}) v on true),
    charged as (
      select *, coalesce(round(fee, cents), round(asked_amount * rate * 0.01, cents), 0) as charge
      from known),
    single as (
      select *,
        coalesce(asked_quantity, round(round(asked_amount - charge, 40) / unit_price, units))
          as own_quantity,
        coalesce(asked_amount, round(asked_quantity * unit_price, cents),
          case when carries or type_id in ${worthNothing} then 0 end) as own_amount
      from charged)`

/** The figures of a leg, by the place that it has among those asked for. */
export type Worked = Figures & Standing & { place: number }

/**
 * The same for any legs, those of a conversion together. One whose account or investment has gone
 * since it was found is left out.
 */
export const workOutFigures = (tx: Tx, legs: Unpriced[]): Promise<Worked[]> =>
  tx.query<Worked>(sql`
    with ${singleLegs(sql`select * from ${recordset('g', legs, unpriced)}`)},
    paired as (
      select s.*,
        case when s.type_id not in ${target} then s.own_quantity
          when s.factor is not null then round(o.own_quantity * s.factor, s.units)
          else round(round(o.own_amount, 40) / s.unit_price, s.units) end as final_quantity,
        case when s.type_id not in ${target} then s.own_amount else o.own_amount end as final_amount
      from single s
      left join single o
        on s.type_id in ${target} and o.type_id in ${source} and o.item = s.item)
    select place, is_active as "isActive", product_is_active as "productIsActive",
      standing as account, currency_id as "currencyID", is_too_far_ahead as "isTooFarAhead",
      locked_date as "lockedDate", old_price_date as "oldPriceDate", unit_price as price,
      charge as fee, rate as "feePercentage",
      case when type_id in ${outward} then -final_quantity else final_quantity end as quantity,
      case when type_id in ${outward} then -final_amount else final_amount end as amount
    from paired`)
