import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { lockReached, recountAll } from './carry.ts'
import { goneLines } from './marks.ts'
import type { Shortfall } from './shortfall.ts'
import { insertVersions, momentOfChange } from './versions.ts'

const { RolledBack } = lookups.BizTransactionStatus

/** A set of transactions to be rolled back, as a select of their ids, and the user who does it. */
export type SetBack = { ids: Fragment; userID: number }

/**
 * Rolls back the transactions that a select yields, for stages of a distribution that are taken
 * back: any number of one product, in a handful of SQL statements. Their accounts must be locked.
 * Returns the holdings that would go below zero: they are not recounted, the caller must refuse.
 */
export async function rollBackSet(
  tx: Tx,
  productID: number,
  { ids, userID }: SetBack,
): Promise<Shortfall[]> {
  const moment = await momentOfChange(tx)
  const own = sql`t.product_id = ${productID} and t.biz_transaction_id in (${ids})`
  // Nothing else changes transactions of a distribution: this is the first version of each.
  await tx.query(insertVersions(own, { number: sql`1`, userID, moment }))
  await tx.query(sql`
    update biz_transaction t set biz_transaction_status_id = ${RolledBack},
      updated_date = ${moment}::timestamptz, closing_quantity = null, closing_amount = null,
      closing_cost = null, closing_gain = null
    where ${own}`)
  // Transactions that move only money leave the closing figures of all others as they are.
  const touched = sql`
    select t.account_id, t.investment_id, min(t.transaction_date) as from_date
    from biz_transaction t
    where ${own} and t.quantity <> 0 group by t.account_id, t.investment_id`
  await lockReached(tx, productID, touched)
  const gone = goneLines(productID, sql`b.biz_transaction_id in (${ids})`)
  return recountAll(tx, productID, touched, gone)
}
