import sql from 'sql-template-tag'
import type { Sql } from './handle.ts'

/** Asks the database for its clock, in milliseconds since 1970. */
export const clockStatement = sql`
  select extract(epoch from clock_timestamp())::float8 * 1000 as now`
export type Clock = { now: number }

/** The largest difference in milliseconds that does not affect tokens and sign-in codes. */
const mostOff = 5_000

/**
 * Says in words how far this machine's clock is off; undefined where it agrees with the database's.
 * `before` and `after` are this machine's times around the moment when the database was asked.
 */
export function clockOff({ now }: Clock, before: number, after: number): string | undefined {
  const off = now < before ? before - now : now > after ? now - after : 0
  if (off <= mostOff) return undefined
  const side = now < before ? 'ahead of' : 'behind'
  return (
    `the clock of this machine is ${Math.round(off / 1000)} s ${side} the database's: access ` +
    'tokens last shorter or longer by that; let both machines keep the time (NTP)'
  )
}

/** Asks the database now and compares: see clockOff. */
export async function clockOffNow({ query }: Sql): Promise<string | undefined> {
  const before = Date.now()
  const [clock] = await query<Clock>(clockStatement)
  return clock && clockOff(clock, before, Date.now())
}
