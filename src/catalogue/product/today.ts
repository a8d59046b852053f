import sql, { raw } from 'sql-template-tag'
import type { Database, Fragment, Sql } from '../../platform/sql/handle.ts'

/**
 * The day of a product, by its time zone: "today" wherever the register says it. `product` is an
 * alias of the table product in the statement that asks.
 */
export const today = (product: string): Fragment => raw(`product_today(${product}.time_zone)`)

/** The same where a rule is judged outside a statement: YYYY-MM-DD. */
export async function todayOf(handle: Sql, productID: number): Promise<string> {
  const [row] = await handle.query<{ today: string }>(sql`
    select ${today('p')}::text as today from product p where p.product_id = ${productID}`)
  // A product that went meanwhile has no day; whatever is asked about it then finds it gone.
  return row?.today ?? new Date().toISOString().slice(0, 10)
}

/** Gives the zone of this installation to products from before they had one. At start. */
export async function giveTimeZone({ transaction }: Database, timeZone: string): Promise<void> {
  await transaction(async (tx) => {
    if (!(await knowsZone(tx, timeZone)))
      throw new Error(`The database does not know the time zone ${timeZone} (REGISTRY_TIME_ZONE).`)
    await tx.query(sql`update product set time_zone = ${timeZone} where time_zone is null`)
  })
}

/** Zones that PostgreSQL was seen to know: to look for one it reads six hundred files. */
const knownZones = new Set<string>()

/** Node and PostgreSQL have a list of zones each, of different years. */
export async function knowsZone(handle: Sql, timeZone: string): Promise<boolean> {
  if (knownZones.has(timeZone.toLowerCase())) return true
  const rows = await handle.query(sql`
    select 1 from pg_timezone_names where lower(name) = lower(${timeZone}) limit 1`)
  if (rows.length > 0) knownZones.add(timeZone.toLowerCase())
  return rows.length > 0
}
