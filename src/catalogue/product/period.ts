import sql from 'sql-template-tag'
import { tryLater } from '../../platform/refusal.ts'
import { isLocked } from '../../platform/sql/away.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lockSpaces } from '../../platform/sql/lock-numbers.ts'

/**
 * Every change dated in a product holds the period open by a shared advisory lock, from before it
 * reads how far the period is locked until its database transaction ends. A request that locks the
 * period waits for all of them, so nothing appears in a locked period after that request was
 * answered. The SQL function `period_lock` does the same within one SQL statement.
 */
const { periods: space } = lockSpaces

/** Holds the periods of products open; waits for a request that is just locking one of them. */
export const holdPeriods = (tx: Tx, productIDs: readonly number[]) =>
  tx.query(sql`
    select pg_advisory_xact_lock_shared(${space}::int, id) from (
      select distinct id from unnest(${productIDs}::int[]) id order by id offset 0) p`)

/**
 * Waits for all changes that are being dated in a product. New changes queue behind this lock, so
 * it waits for two seconds at most: during an all-or-nothing import the period stays open.
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

/** The days about to be locked: after `after` (null: all days before) up to and with `upTo`. */
export type Closing = { productID: number; after: string | null; upTo: string }

/** Refuses if something outside the catalogue, such as a job, goes on being dated in those days. */
export type RefuseClosing = (tx: Tx, closing: Closing) => Promise<void>
