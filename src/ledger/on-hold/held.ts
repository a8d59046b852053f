import sql, { raw } from 'sql-template-tag'
import { today } from '../../catalogue/product/today.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Problem } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { inProduct } from '../../platform/sql/spread.ts'

/**
 * Holds: units that may not leave an account. They are checked on the day of the transaction that
 * takes units out and, if that day is past, also today, so that backdating does not evade a hold.
 */

const counted = raw(counts('b'))
const {
  Redemption,
  'Transfer out': transfer,
  'Conversion out': conversion,
} = lookups.BizTransactionType

/** The kinds of transactions that holds stop; adjustments are corrections and are not stopped. */
const outgoing: readonly number[] = [Redemption, transfer, conversion]
export const takesOut = (typeID: number) => outgoing.includes(typeID)

/** A transaction that takes units out on a day; `quantity` is needed if several are checked. */
export type Taken = { accountID: number; investmentID: number; date: string; quantity?: string }

/** Those of the given accounts that have any holds. The accounts must be locked. */
export async function accountsOnHold(tx: Tx, productID: number, accountIDs: readonly number[]) {
  if (accountIDs.length === 0) return new Set<number>()
  const rows = await tx.query<{ id: number }>(sql`
    select distinct account_id as id from hold
    where product_id = ${productID} and account_id = any(${accountIDs}::int[])`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * The units on hold on a day, all or a quantity, as a select. `holding` is the alias of a row with
 * the product, account and investment ids.
 */
export const heldBack = (holding: string, day: Fragment, table = sql`hold`) => sql`
  select coalesce(bool_or(k.quantity is null), false) as is_all,
    coalesce(sum(k.quantity), 0) as quantity
  from ${table} k
  where k.product_id = ${raw(holding)}.product_id and k.account_id = ${raw(holding)}.account_id
    and (k.investment_id is null or k.investment_id = ${raw(holding)}.investment_id)
    and k.valid_from <= ${day} and (k.valid_to is null or k.valid_to >= ${day})`

type Short = { place: number; number: string; name: string; day: string; held: string | null }

/**
 * The problems of transactions just written that took units which are on hold, by their place in
 * the list. Each is judged as if those after it in the ledger had not been written.
 */
export async function holdProblems(
  tx: Tx,
  productID: number,
  taken: readonly Taken[],
): Promise<Map<number, Problem>> {
  const short = await inProduct(tx, productID).query<Short>(sql`
    select (g.place - 1)::int as place, a.account_number as number, d.day::text as day,
      coalesce(i.security_code, i.external_investment_id, i.name, i.investment_id::text) as name,
      case when not k.is_all then trim_scale(k.quantity)::text end as held
    from (
      select ${productID}::int as product_id, p.today, t.*,
        sum(t.quantity) over (partition by t.account_id, t.investment_id, t.date
          order by t.place rows between 1 following and unbounded following) as later_that_day,
        sum(t.quantity) over (partition by t.account_id, t.investment_id, t.date > p.today
          order by t.date, t.place rows between 1 following and unbounded following) as later
      from (
        select ${today('p')} as today from product p
        where p.product_id = ${productID}) p
      cross join unnest(
        ${taken.map(({ accountID }) => accountID)}::int[],
        ${taken.map(({ investmentID }) => investmentID)}::int[],
        ${taken.map(({ date }) => date)}::date[],
        ${taken.map(({ quantity }) => quantity ?? null)}::numeric[])
        with ordinality t (account_id, investment_id, date, quantity, place)) g
    join account a on a.account_id = g.account_id
    join investment i on i.investment_id = g.investment_id
    cross join lateral (values (g.date, g.later_that_day), (greatest(g.date, g.today),
      case when g.date > g.today then g.later_that_day else g.later end)) d (day, later)
    cross join lateral (${heldBack('g', sql`d.day`)}) k
    left join lateral (
      select b.closing_quantity as quantity from transaction_line b
      where b.product_id = ${productID} and b.account_id = g.account_id
        and b.investment_id = g.investment_id and b.transaction_date <= d.day
        and ${counted}
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) c on true
    where k.is_all or coalesce(c.quantity, 0) - coalesce(d.later, 0) < k.quantity
    order by g.place, d.day desc`)
  return new Map(short.map((row) => [row.place, problemOf(row)]))
}

const problemOf = ({ number, name, day, held }: Short): Problem => ({
  code: 'units_on_hold',
  message: `Of account ${number} in ${name}, ${held ?? 'all'} units are on hold on ${day}.`,
  field: 'quantity',
})
