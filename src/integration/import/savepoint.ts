import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'

/** Does a part of a transaction under a savepoint, so that a failure undoes only this part. */
export async function attempt<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await tx.query(sql`savepoint rows`)
  try {
    const result = await work()
    await tx.query(sql`release savepoint rows`)
    return result
  } catch (error) {
    await tx.query(sql`rollback to savepoint rows`)
    await tx.query(sql`release savepoint rows`)
    throw error
  }
}
