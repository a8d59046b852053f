import sql from 'sql-template-tag'
import type { Sql } from './handle.ts'

/** What the database's clock says, in milliseconds since 1970. */
export const clockStatement = sql`
  select extract(epoch from clock_timestamp())::float8 * 1000 as now`
export type Clock = { now: number }

/** In milliseconds: below it tokens and codes do not suffer. */
const mostOff = 5_000

/**
 * What is wrong with the clock of this machine, in words, where the database was asked for its own
 * between two moments of ours; undefined where they agree.
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

/** The same, asked of the database now. */
export async function clockOffNow({ query }: Sql): Promise<string | undefined> {
  const before = Date.now()
  const [clock] = await query<Clock>(clockStatement)
  return clock && clockOff(clock, before, Date.now())
}
