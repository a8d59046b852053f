import sql, { raw } from 'sql-template-tag'
import { priceOn } from '../../catalogue/investment/price-on.ts'
import { today } from '../../catalogue/product/today.ts'
import { standing } from '../../parties/account/standing.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { type RowOf, recordset } from '../../platform/sql/recordset.ts'
import { idsOf, idsWhere } from './kinds.ts'

/** The columns of a resolved leg that is to be priced. */
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
  /** Signed: negative for units that go out. Null if not given and impossible to work out. */
  quantity: string | null
  amount: string | null
  fee: string
  /** Set where the entry fee is a percentage: a corrected amount then changes the fee. */
  feePercentage: string | null
}

/** The circumstances of a leg that decide whether it may be posted. */
export type Standing = {
  isActive: boolean
  productIsActive: boolean
  /** The standing of the account, by its own status and that of its investor. */
  account: 'open' | 'suspended' | 'closed'
  currencyID: number
  /** The leg is dated later than tomorrow in the product's time zone. */
  isTooFarAhead: boolean
  /** The day up to which the product is locked, if the leg is dated on or before it. */
  lockedDate: string | null
  /** The date of the price that the leg uses, if it is older than the investment allows. */
  oldPriceDate: string | null
}

/**
 * The condition that no circumstance forbids posting a row of `single`, a deposit, allotment or
 * redemption. Such rows are posted at once (at-once.ts), so a new reason in price.ts to refuse a
 * leg must be added here, too.
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

/** The fields of the investment and product on which a leg's figures and standing depend. */
const termsOfInvestment = sql`
        select i.is_active, i.currency_id, i.unit_decimals, i.maximum_price_age_days, p.time_zone,
          p.locked_date, p.is_active as product_is_active
        from investment i join product p on p.product_id = i.product_id
        where i.investment_id = g.investment_id limit 1`

/** The prices that count on the day of a row g; `investmentID` is a column with the investment. */
export const pricesFor = (investmentID: string) =>
  priceOn(
    investmentID,
    raw('g.transaction_date'),
    'price_date, price as plain_price, application_price, redemption_price',
  )

/** Sub-selects for the circumstances of legs g; a caller that knows them already passes its own. */
const around = {
  terms: termsOfInvestment,
  standing: standingOfAccount,
  price: pricesFor('g.investment_id'),
}

/**
 * Price, units and money of every leg by itself, as a list of CTEs that ends with `single`. It has
 * the given rows with their circumstances, and with own_quantity, own_amount, unit_price, charge
 * and rate (of the fee); the figures have the sign that they were asked with. Units are rounded to
 * the investment's decimals and money to the currency's, half away from zero. A dividend is widened
 * to 40 decimals before the division: PostgreSQL gives a quotient about as many digits as its
 * operands have, and it would be rounded twice.
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

/** The figures and circumstances of a leg, with its place in the list that was asked for. */
export type Worked = Figures & Standing & { place: number }

/**
 * Works out the figures of legs; the second leg of a conversion takes them from the first. A leg
 * whose account or investment was deleted since it was found is left out.
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
