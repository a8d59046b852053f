import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The price of an investment on a day, the newest on or before it, as a select of one row. */
export const priceOn = (investmentID: string, day: Fragment, columns = 'price'): Fragment => sql`
        select ${raw(columns)}
        from investment_price n
        where n.investment_id = ${raw(investmentID)} and n.price_date <= ${day}
        order by n.price_date desc limit 1`

/**
 * The worth of units at the price of a row v, in SQL: units × price in whole cents. Without a price
 * units are worth the money invested; without units the worth is 0.
 */
export const worthOf = (
  units: string,
  invested: string,
  decimals = 'minor_units(i.currency_id)',
) => `case when ${units} = 0 then 0 when v.price is null then ${invested}
        else round(${units} * v.price, ${decimals}) end`
