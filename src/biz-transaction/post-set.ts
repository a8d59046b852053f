import sql from 'sql-template-tag'
import { Refusal } from '../refusal.ts'
import type { Fragment, Tx } from '../sql/handle.ts'
import { insufficient, namesOf } from './post.ts'
import { append, insertUncounted, recount, type Shortfall } from './settle.ts'

/**
 * Posts what a select yields: for the stages of a distribution, which make a million transactions at
 * once and bring none of them through this process. Their ids are in the select.
 */
export async function postSet(tx: Tx, productID: number, postings: Fragment) {
  await lockAll(tx, productID, postings)
  const ofAccounts = (test: Fragment) => sql`
    select p.* from (${postings}) p
    join ledger_account l on l.product_id = ${productID} and l.account_id = p.account_id
    where ${test}`
  const behind = ofAccounts(sql`l.last_date > p.transaction_date`)
  // First those that only append: a recount would move the dates that tell them apart.
  const shortfalls: Shortfall[] = await append(
    tx,
    productID,
    ofAccounts(sql`l.last_date is null or l.last_date <= p.transaction_date`),
  )
  await insertUncounted(tx, productID, behind)
  const touched = sql`
    select account_id, min(transaction_date) as from_date from (${behind}) b group by account_id`
  shortfalls.push(...(await recount(tx, productID, touched)))
  if (shortfalls.length === 0) return
  const names = await namesOf(tx, shortfalls)
  throw new Refusal(
    409,
    shortfalls.map((shortfall, i) => insufficient(shortfall, names[i]!)),
  )
}

const lockAll = (tx: Tx, productID: number, postings: Fragment) =>
  tx.query(sql`
    select count(*) from (
      select from ledger_account l
      where l.product_id = ${productID} and l.account_id in (select account_id from (${postings}) p)
      order by l.account_id for update) locked`)
