import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The price of an investment that holds on a day, the newest up to it: a select of one row. */
export const priceOn = (investmentID: string, day: Fragment, columns = 'price'): Fragment => sql`
        select ${raw(columns)}
        from investment_price n
        where n.investment_id = ${raw(investmentID)} and n.price_date <= ${day}
        order by n.price_date desc limit 1`
