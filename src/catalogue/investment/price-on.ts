import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The price of an investment that holds on a day, the newest up to it: a select of one row. */
export const priceOn = (investmentID: string, day: Fragment, columns = 'price'): Fragment => sql`
        select ${raw(columns)}
        from investment_price n
        where n.investment_id = ${raw(investmentID)} and n.price_date <= ${day}
        order by n.price_date desc limit 1`

/**
 * What units of an investment are worth, in SQL, at the price of a row v: units × price in whole
 * cents. Units without a price count as what was invested; where there are none, nothing is left.
 */
export const worthOf = (
  units: string,
  invested: string,
  decimals = 'minor_units(i.currency_id)',
) => `case when ${units} = 0 then 0 when v.price is null then ${invested}
        else round(${units} * v.price, ${decimals}) end`
