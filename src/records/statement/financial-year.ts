import sql from 'sql-template-tag'
import type { Sql } from '../../platform/sql/handle.ts'

export type Year = { from: string; to: string }

/** The financial year of a product that contains a date, from the product's financial_year_end. */
export async function financialYear(handle: Sql, productID: number, date: string): Promise<Year> {
  const [row] = await handle.query<Year>(sql`
    select (y.last - interval '1 year' + interval '1 day')::date::text as from, y.last::text as to
    from product p
    cross join lateral (
      select make_date(extract(year from ${date}::date)::int + n,
        left(p.financial_year_end, 2)::int, least(right(p.financial_year_end, 2)::int, 28))
        + greatest(0, right(p.financial_year_end, 2)::int - 28) as last
      from generate_series(0, 1) n) y
    where p.product_id = ${productID} and y.last >= ${date}::date order by y.last limit 1`)
  return row!
}
