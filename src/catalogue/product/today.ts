import sql, { raw } from 'sql-template-tag'
import type { Database, Fragment, Sql } from '../../platform/sql/handle.ts'

/**
 * The current day in a product's time zone: "today" wherever the register says it. `product` is an
 * alias of the table product in the surrounding SQL statement.
 */
export const today = (product: string): Fragment => raw(`product_today(${product}.time_zone)`)

/** The current day of a product as YYYY-MM-DD, for rules that are judged outside SQL. */
export async function todayOf(handle: Sql, productID: number): Promise<string> {
  const [row] = await handle.query<{ today: string }>(sql`
    select ${today('p')}::text as today from product p where p.product_id = ${productID}`)
  // A product deleted meanwhile has no day; the next query about it finds it gone.
  return row?.today ?? new Date().toISOString().slice(0, 10)
}

/** At start: gives the installation's zone to products made before products had a zone. */
export async function giveTimeZone({ transaction }: Database, timeZone: string): Promise<void> {
  await transaction(async (tx) => {
    if (!(await knowsZone(tx, timeZone)))
      throw new Error(`The database does not know the time zone ${timeZone} (REGISTRY_TIME_ZONE).`)
    await tx.query(sql`update product set time_zone = ${timeZone} where time_zone is null`)
  })
}

/** Zones that PostgreSQL knows, kept here since it reads six hundred files to look for one. */
const knownZones = new Set<string>()

/** Whether PostgreSQL knows a zone: its list and that of Node may be of different years. */
export async function knowsZone(handle: Sql, timeZone: string): Promise<boolean> {
  if (knownZones.has(timeZone.toLowerCase())) return true
  const rows = await handle.query(sql`
    select 1 from pg_timezone_names where lower(name) = lower(${timeZone}) limit 1`)
  if (rows.length > 0) knownZones.add(timeZone.toLowerCase())
  return rows.length > 0
}
