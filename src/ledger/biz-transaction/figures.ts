import sql, { raw } from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import { type RowOf, recordset } from '../../platform/sql/recordset.ts'
import { idsOf, idsWhere } from './kinds.ts'

/** A resolved leg, as the pricing reads it. */
const unpriced = {
  place: 'int',
  item: 'int',
  type_id: 'int',
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
} as const
export type Unpriced = RowOf<typeof unpriced>

export type Figures = {
  place: number
  isActive: boolean
  currencyID: number
  price: string | null
  /** Signed: what goes out is negative. Null where neither was given nor could be worked out. */
  quantity: string | null
  amount: string | null
  fee: string
}

const plainPriced = raw(idsWhere(({ price }) => price === 'plain'))
const redeemed = raw(idsWhere(({ price }) => price === 'redemption'))
const outward = raw(idsWhere(({ units }) => units === 'out'))
const worthNothing = raw(idsWhere((kind) => kind.worthNothing === true))
const source = raw(idsOf('Conversion out'))
const target = raw(idsOf('Conversion in'))

/**
 * Works out price, units and money of every leg, in one statement. Units are rounded to the
 * investment's decimals and money to the currency's, half away from zero. Dividends are widened
 * before a division, since a quotient is only as long as its operands and would be rounded twice.
 */
export const workOutFigures = (tx: Tx, legs: Unpriced[]): Promise<Figures[]> =>
  tx.query<Figures>(sql`
    with given as (
      select * from ${recordset('g', legs, unpriced)}),
    -- A thousand postings ask for the prices of a few investments on a few days.
    asked as materialized (select distinct investment_id, transaction_date from given),
    priced as materialized (
      select a.*, v.* from asked a
      cross join lateral (
        select price, application_price, redemption_price from investment_price p
        where p.investment_id = a.investment_id and p.price_date <= a.transaction_date
        order by p.price_date desc limit 1) v),
    known as (
      select g.place, g.item, g.type_id, g.factor, i.is_active, i.currency_id,
        i.unit_decimals as units, minor_units(i.currency_id) as cents,
        round(g.quantity, i.unit_decimals) as quantity,
        round(g.amount, minor_units(i.currency_id)) as amount,
        g.fee, coalesce(g.fee_override,
          g.fee_percentage * (1 - coalesce(g.fee_discount, 0) * 0.01)) as fee_percentage,
        coalesce(g.price, case
          when g.type_id in ${plainPriced} then v.price
          when g.type_id in ${redeemed} or g.quantity < 0
            then coalesce(v.redemption_price, v.price)
          else coalesce(v.application_price, v.price) end) as price
      from given g
      join investment i on i.investment_id = g.investment_id
      left join priced v
        on v.investment_id = g.investment_id and v.transaction_date = g.transaction_date),
    charged as (
      select *,
        coalesce(round(fee, cents), round(amount * fee_percentage * 0.01, cents), 0) as charge
      from known),
    single as (
      select *,
        coalesce(quantity, round(round(amount - charge, 40) / price, units)) as own_quantity,
        coalesce(amount, round(quantity * price, cents),
          case when type_id in ${worthNothing} then 0 end) as own_amount
      from charged),
    paired as (
      select s.*,
        case when s.type_id not in ${target} then s.own_quantity
          when s.factor is not null then round(o.own_quantity * s.factor, s.units)
          else round(round(o.own_amount, 40) / s.price, s.units) end as final_quantity,
        case when s.type_id not in ${target} then s.own_amount else o.own_amount end as final_amount
      from single s
      left join single o
        on s.type_id in ${target} and o.type_id in ${source} and o.item = s.item)
    select place, is_active as "isActive", currency_id as "currencyID", price, charge as fee,
      case when type_id in ${outward} then -final_quantity else final_quantity end as quantity,
      case when type_id in ${outward} then -final_amount else final_amount end as amount
    from paired order by place`)
