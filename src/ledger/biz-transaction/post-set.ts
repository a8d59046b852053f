import sql from 'sql-template-tag'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { lockReached, recountAll } from './carry.ts'
import { closeUnmoved, newLines } from './marks.ts'
import { appendSet, insertSetUncounted } from './units.ts'

/** A set of locked accounts, with the day of the newest of all their transactions. */
export type LockedSet = { newest: string | null }

/**
 * Locks the accounts that a select yields, in the order of their ids. Call it before reading or
 * numbering anything that the postings are made from: ids taken before the lock could be lower than
 * those of transactions of the same day that are already counted.
 */
export async function lockSet(tx: Tx, productID: number, accounts: Fragment): Promise<LockedSet> {
  const [locked] = await tx.query<LockedSet>(sql`
    select max(last_date) as newest from (
      select l.last_date from ledger_account l
      where l.product_id = ${productID} and l.account_id in (${accounts})
      order by l.account_id for update) locked`)
  return locked!
}

/**
 * Posts the rows of a select on one day, for the stages of a distribution: they make a million
 * transactions at once and bring none of them through this process. The select has one row per
 * account, with its id, and each brings units in or moves none. The accounts must be locked.
 */
export async function postSet(
  tx: Tx,
  productID: number,
  { newest }: LockedSet,
  { date, postings }: { date: string; postings: Fragment },
) {
  if (newest === null || newest <= date) await appendSet(tx, productID, postings)
  else await postAmong(tx, productID, postings)
}

/** Posts where some accounts have later transactions: recounts those, appends to the others. */
async function postAmong(tx: Tx, productID: number, postings: Fragment) {
  const ofAccounts = (test: Fragment) => sql`
    select p.* from (${postings}) p
    join ledger_account l on l.product_id = ${productID} and l.account_id = p.account_id
    where ${test}`
  const behind = ofAccounts(sql`l.last_date > p.transaction_date`)
  // Appends first: a recount would move the dates that tell the two kinds of accounts apart.
  const ahead = sql`l.last_date is null or l.last_date <= p.transaction_date`
  await appendSet(tx, productID, ofAccounts(ahead))
  const touched = sql`
    select account_id, investment_id, min(transaction_date) as from_date from (${behind}) b
    group by account_id, investment_id`
  await lockReached(tx, productID, touched)
  await insertSetUncounted(tx, productID, behind)
  const own = sql`b.biz_transaction_id in (select g.id from (${behind}) g)`
  // A shift passes over transactions without units, so these get their closing figures first.
  if (!(await tx.isSpread())) await closeUnmoved(tx, productID, own)
  const [short] = await recountAll(tx, productID, touched, newLines(productID, own))
  if (short) throw new Error(`Account ${short.accountID} is short by ${short.short} units.`)
}
