import sql from 'sql-template-tag'
import { tryLater } from '../../platform/refusal.ts'
import { isLocked } from '../../platform/sql/away.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lockSpaces } from '../../platform/sql/lock-numbers.ts'

/**
 * What is dated in a product holds its period open from before it reads how far that is locked
 * until its end; whoever locks the period waits for them. So nothing appears in a locked period
 * after the lock was told. The function `period_lock` does the same within one statement.
 */
const { periods: space } = lockSpaces

/** Holds the periods of products open; those who lock one just now are waited for. */
export const holdPeriods = (tx: Tx, productIDs: readonly number[]) =>
  tx.query(sql`
    select pg_advisory_xact_lock_shared(${space}::int, id) from (
      select distinct id from unnest(${productIDs}::int[]) id order by id offset 0) p`)

/**
 * Waits for whatever is being dated in a product. What comes meanwhile waits for us, and so we do
 * not wait for long: while an import of all or nothing is under way the period stays open.
 */
export async function closePeriod(tx: Tx, productID: number) {
  await tx.query(sql`select set_config('lock_timeout', '2s', true)`)
  try {
    await tx.query(sql`select pg_advisory_xact_lock(${space}::int, ${productID}::int)`)
  } catch (error) {
    if (!isLocked(error)) throw error
    throw tryLater(
      503,
      'busy',
      'The period cannot be locked while something is being posted in the product, such as an ' +
        'import of all rows or none: nothing was changed; try again when that has ended.',
      5,
    )
  }
}

/** The days that are going to be locked: after one, where any were, up to another and with it. */
export type Closing = { productID: number; after: string | null; upTo: string }

/** Refuses where something above the catalogue goes on being dated in those days. */
export type RefuseClosing = (tx: Tx, closing: Closing) => Promise<void>
