import sql from 'sql-template-tag'
import type { Tx } from './handle.ts'

/**
 * Gives each SQL statement of a database transaction ten minutes instead of the half of one that a
 * request has: a few of them write perhaps a million rows.
 */
export const unhurried = (tx: Tx) =>
  tx.query(sql`select set_config('statement_timeout', '10min', true)`)
