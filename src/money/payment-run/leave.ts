import sql, { raw } from 'sql-template-tag'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { dropEmpty } from './create.ts'

/**
 * Takes transactions that are corrected or rolled back out of the drafts they are in, at once: an
 * approver sees what the file will pay, and the next run judges the transactions anew. Their
 * accounts must be locked, as an approval locks them too, and the caller has refused transactions
 * of approved runs.
 */
export const leaveDrafts = (tx: Tx, productID: number, transactionIDs: readonly number[]) =>
  leaveDraftsBy(tx, productID, sql`select unnest(${transactionIDs}::bigint[])`)

/**
 * `leaveDrafts` for the transactions of a select. It refuses first if an approved run has one; the
 * accounts must be locked, so that none is approved meanwhile.
 */
export async function leaveRunsBy(tx: Tx, productID: number, transactionIDs: Fragment) {
  await refuseApproved(tx, productID, sql`m.biz_transaction_id = any(array(${transactionIDs}))`)
  await leaveDraftsBy(tx, productID, transactionIDs)
}

/** Refuses if an approved run pays one of the payment items m that meet a condition. */
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
