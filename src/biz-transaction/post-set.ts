import sql from 'sql-template-tag'
import { Refusal } from '../refusal.ts'
import type { Fragment, Tx } from '../sql/handle.ts'
import { insufficient, namesOf } from './post.ts'
import { append, insertUncounted, recount, type Shortfall } from './settle.ts'

/** Accounts that were locked as a set, by the day of the newest of all their transactions. */
export type LockedSet = { newest: string | null }

/**
 * Locks the accounts that a select yields, in the order of their ids. It comes before anything that
 * the postings are made from is read or numbered: ids that were taken before the lock could be lower
 * than those of transactions of the same day that are already counted.
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
 * Posts what a select yields on one day, for the stages of a distribution, which make a million
 * transactions at once and bring none of them through this process. Their ids are in the select,
 * their accounts are locked.
 */
export async function postSet(
  tx: Tx,
  productID: number,
  { newest }: LockedSet,
  { date, postings }: { date: string; postings: Fragment },
) {
  const behind = newest !== null && newest > date
  const shortfalls = behind
    ? await postAmong(tx, productID, postings)
    : await append(tx, productID, postings)
  if (shortfalls.length === 0) return
  const names = await namesOf(tx, shortfalls)
  throw new Refusal(
    409,
    shortfalls.map((shortfall, i) => insufficient(shortfall, names[i]!)),
  )
}

/** Where some accounts have later transactions: those are counted anew, the others only append. */
async function postAmong(tx: Tx, productID: number, postings: Fragment): Promise<Shortfall[]> {
  const ofAccounts = (test: Fragment) => sql`
    select p.* from (${postings}) p
    join ledger_account l on l.product_id = ${productID} and l.account_id = p.account_id
    where ${test}`
  const behind = ofAccounts(sql`l.last_date > p.transaction_date`)
  // First those that only append: a recount would move the dates that tell them apart.
  const short = await append(
    tx,
    productID,
    ofAccounts(sql`l.last_date is null or l.last_date <= p.transaction_date`),
  )
  await insertUncounted(tx, productID, behind)
  const touched = sql`
    select account_id, min(transaction_date) as from_date from (${behind}) b group by account_id`
  return [...short, ...(await recount(tx, productID, touched))]
}
