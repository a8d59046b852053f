import sql, { raw } from 'sql-template-tag'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { dropEmpty } from './create.ts'

/**
 * Transactions that are corrected or rolled back leave the drafts they are in, at once: whoever
 * approves a draft sees what its file will pay, and the next run judges what was corrected anew.
 * Their accounts are locked, which who approves needs, too; what is approved is refused before.
 */
export const leaveDrafts = (tx: Tx, productID: number, transactionIDs: readonly number[]) =>
  leaveDraftsBy(tx, productID, sql`select unnest(${transactionIDs}::bigint[])`)

/** The same for as many as a select has, after a look under the locks whether any is approved. */
export async function leaveRunsBy(tx: Tx, productID: number, transactionIDs: Fragment) {
  await refuseApproved(tx, productID, sql`m.biz_transaction_id = any(array(${transactionIDs}))`)
  await leaveDraftsBy(tx, productID, transactionIDs)
}

/** Money that an approved payment run pays out is not taken back; by a condition on its items m. */
export async function refuseApproved(tx: Tx, productID: number, which: Fragment) {
  const [paid] = await tx.query<{ id: number }>(sql`
    select m.payment_run_id as id from payment_item m
    join payment_run r on r.product_id = m.product_id and r.payment_run_id = m.payment_run_id
    where m.product_id = ${productID} and ${which} and r.state <> 'Draft' limit 1`)
  if (paid)
    throw conflict('in_payment_run', `Payment run ${paid.id} pays this distribution already.`)
}

async function leaveDraftsBy(tx: Tx, productID: number, transactionIDs: Fragment) {
  const ofDraft = (alias: string) => sql`
    ${raw(alias)}.product_id = ${productID}
    and ${raw(alias)}.biz_transaction_id = any(array(${transactionIDs}))
    and ${raw(alias)}.payment_run_id = any(array(
      select r.payment_run_id from payment_run r
      where r.product_id = ${productID} and r.state = 'Draft'))`
  for (const table of ['payment_item', 'payment_exception'] as const)
    await keepLedgerRows(tx, table, ofDraft('t'))
  await tx.query(sql`delete from payment_exception e where ${ofDraft('e')}`)
  const left = await tx.query<{ id: number }>(sql`
    delete from payment_item m where ${ofDraft('m')} returning m.payment_id as id`)
  if (left.length === 0) return
  const paymentIDs = left.map(({ id }) => id)
  await dropEmpty(
    tx,
    productID,
    (alias) => sql`
    ${raw(alias)}.product_id = ${productID}
    and ${raw(alias)}.payment_id = any(${paymentIDs}::bigint[])`,
  )
}
