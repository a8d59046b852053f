import type pg from 'pg'
import { rowsOf } from './database.ts'

/** The database's own clock, to the microsecond. */
export async function momentOf(connection: pg.ClientConfig): Promise<string> {
  const [row] = await rowsOf(
    connection,
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
  )
  return row.now
}
