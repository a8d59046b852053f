import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Changes } from './marks.ts'
import { recount, touchedHoldings } from './recount.ts'
import type { Shortfall } from './shortfall.ts'
import { lockAccounts } from './units.ts'

/**
 * Cost that moves along with units, without a gain, from one holding to another. When an earlier
 * transaction changes, the cost that left a holding changes, then the cost of the holding that
 * received it, and so on. Each round corrects at least the earliest wrong transaction, so it ends.
 */

type Touched = { accountID: number; investmentID: number; from: string }

/** Recounts holdings, and all holdings that received cost from them. */
export async function recountAll(
  tx: Tx,
  productID: number,
  touched: Fragment,
  changes?: Changes,
): Promise<Shortfall[]> {
  const shortfalls = await recount(tx, productID, touched, changes)
  if (shortfalls.length > 0) return shortfalls
  for (let next = await carry(tx, productID, touched); next.length > 0; ) {
    const further = touchedHoldings(next)
    const short = await recount(tx, productID, further)
    if (short.length > 0) return short
    next = await carry(tx, productID, further)
  }
  return []
}

/** Joins the transactions o that took cost out of holdings t, from the first day touched. */
const takingAlong = (productID: number, table = 'biz_transaction') => sql`
  join ${raw(table)} o on o.product_id = ${productID} and o.account_id = t.account_id
    and o.investment_id = t.investment_id and o.transaction_date >= t.from_date
    and o.carried_cost is not null and o.quantity < 0 and ${raw(counts('o'))}`

/** Writes a changed cost to both legs; returns the holdings that received a different cost. */
const carry = (tx: Tx, productID: number, touched: Fragment): Promise<Touched[]> =>
  tx.query<Touched>(sql`
    with stale as materialized (
      select o.biz_transaction_id as id, coalesce(p.closing_cost, 0) - o.closing_cost as cost
      from (${touched}) t ${takingAlong(productID, 'transaction_line')}
      left join lateral (
        select b.closing_cost from transaction_line b
        where b.product_id = ${productID} and b.account_id = o.account_id
          and b.investment_id = o.investment_id and ${raw(counts('b'))}
          and (b.transaction_date, b.biz_transaction_id)
            < (o.transaction_date, o.biz_transaction_id)
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1) p on true
      where coalesce(p.closing_cost, 0) - o.closing_cost <> o.carried_cost),
    kept as (
      insert into biz_transaction_cost (product_id, biz_transaction_id, valid_to, carried_cost)
      select b.product_id, b.biz_transaction_id, clock_timestamp(), b.carried_cost
      from stale s join biz_transaction b on b.product_id = ${productID}
        and (b.biz_transaction_id = s.id or b.parent_biz_transaction_id = s.id)
      where b.created_date <> now()), -- one that is just being posted had none before
    left_with as (
      update biz_transaction b set carried_cost = s.cost from stale s
      where b.product_id = ${productID} and b.biz_transaction_id = s.id),
    arrived_with as (
      update biz_transaction b set carried_cost = s.cost from stale s
      where b.product_id = ${productID} and b.parent_biz_transaction_id = s.id
      returning b.account_id, b.investment_id, b.transaction_date)
    select account_id as "accountID", investment_id as "investmentID",
      min(transaction_date)::text as "from"
    from arrived_with group by account_id, investment_id`)

/**
 * Locks the accounts that received cost, directly or through others, from holdings about to be
 * recounted. The accounts of those holdings are locked already, so that nothing is added meanwhile.
 * Two callers may deadlock here: PostgreSQL ends one, and its unit of work is repeated. Returns
 * whether all accounts were locked.
 */
export async function lockReached(
  tx: Tx,
  productID: number,
  touched: Fragment,
  waits = true,
): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(sql`
    with recursive reached (account_id, investment_id, from_date) as (
      select t.account_id, t.investment_id, t.from_date from (${touched}) t
      union
      select i.account_id, i.investment_id, o.transaction_date
      from reached t ${takingAlong(productID)}
      join biz_transaction i on i.product_id = ${productID}
        and i.parent_biz_transaction_id = o.biz_transaction_id)
    select distinct account_id as id from reached
    where account_id not in (select t.account_id from (${touched}) t)`)
  if (rows.length === 0) return true
  const locked = await lockAccounts(
    tx,
    productID,
    rows.map(({ id }) => id),
    waits,
  )
  return locked?.size === rows.length
}
