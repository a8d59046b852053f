import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'

/**
 * Runs an SQL statement that joins new rows with nested loops switched off. New rows have no
 * statistics yet, so the planner would expect one or two and scan one list for each row of the
 * other. A lateral without a join in it still runs row by row. If the statement fails, the rollback
 * restores the setting.
 */
export async function joinedOnce(tx: Tx, work: () => Promise<unknown>): Promise<void> {
  await tx.query(sql`select set_config('enable_nestloop', 'off', true)`)
  await work()
  await tx.query(sql`select set_config('enable_nestloop', 'on', true)`)
}
