import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'

/**
 * Joins rows that were just made, of which no statistics tell how many they are: the planner would
 * take them for one or two, and look through all of one list for each row of the other. What must
 * be looked up row by row (a lateral without a join in it) still is. A failure takes the setting
 * back with the transaction.
 */
export async function joinedOnce(tx: Tx, work: () => Promise<unknown>): Promise<void> {
  await tx.query(sql`select set_config('enable_nestloop', 'off', true)`)
  await work()
  await tx.query(sql`select set_config('enable_nestloop', 'on', true)`)
}
