import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { type Changes, longHistories, shiftClosings } from './marks.ts'
import type { Shortfall } from './shortfall.ts'
import { shortOf, zeroState } from './units.ts'

/** Holdings whose history changed, each with the first day that changed, as a select. */
export const touchedHoldings = (
  touched: readonly { accountID: number; investmentID: number; from: string }[],
) => sql`
  select account_id, investment_id, min(from_date) as from_date
  from unnest(${touched.map(({ accountID }) => accountID)}::int[],
    ${touched.map(({ investmentID }) => investmentID)}::int[],
    ${touched.map(({ from }) => from)}::date[]) t (account_id, investment_id, from_date)
  group by account_id, investment_id`

/**
 * Recounts holdings from the first day touched: the closing figures of every transaction since, the
 * totals of the holdings and the dates of the accounts. In a long history the closing figures are
 * shifted instead (marks.ts), if the changes are given. If a holding would be negative at any
 * point, the caller must undo its change. carry.ts handles cost that moved on to other holdings.
 */
export async function recount(
  tx: Tx,
  productID: number,
  touched: Fragment,
  given?: Changes,
): Promise<Shortfall[]> {
  // Citus rejects the SQL that shifts closing figures: there all later rows are rewritten.
  const changes = (await tx.isSpread()) ? undefined : given
  const long = changes ? await longHistories(tx, productID, touched, changes) : []
  const short = changes && long.length > 0 ? await shiftClosings(tx, productID, changes, long) : []
  const others = sql`
    select t.* from (${touched}) t where (t.account_id, t.investment_id) not in (
      select * from unnest(${long.map(({ accountID }) => accountID)}::int[],
        ${long.map(({ investmentID }) => investmentID)}::int[]))`
  const rest = await recountLines(tx, productID, touched, long.length > 0 ? others : touched)
  return [...short, ...rest].sort(
    (a, b) => a.accountID - b.accountID || a.investmentID - b.investmentID,
  )
}

/** Recounts the holdings in `counted`, and sets the dates of the accounts in all of `touched`. */
const recountLines = (tx: Tx, productID: number, touched: Fragment, counted: Fragment) =>
  tx.query<Shortfall>(sql`
    with counted as materialized (
      select t.account_id, t.from_date, c.*
      from (${counted}) t
      cross join lateral (${holdingLine(productID)}) c),
    short as (${shortOf(sql`counted`)}),
    rolled_forward as (
      update biz_transaction b set closing_quantity = (c.state).quantity,
        closing_amount = (c.state).invested, closing_cost = (c.state).cost,
        closing_gain = (c.state).gain
      from counted c
      where c.id > 0 and b.product_id = ${productID} and b.biz_transaction_id = c.id
        and (b.closing_quantity, b.closing_amount, b.closing_cost, b.closing_gain)
          is distinct from ((c.state).quantity, (c.state).invested, (c.state).cost, (c.state).gain)
        and not exists (select 1 from short)),
    ${unmarking(productID)},
    held as (
      update holding h set quantity = (c.state).quantity, invested_amount = (c.state).invested,
        cost_amount = (c.state).cost, realised_gain = (c.state).gain
      from counted c
      where c.from_last = 1 and h.product_id = ${productID}
        and h.account_id = c.account_id and h.investment_id = c.investment_id
        and not exists (select 1 from short)),
    ${dating(productID, touched)}
    select * from short`)

/**
 * The history of one holding t from its first day touched: the state before that day (under the id
 * 0), then every transaction that counts, with the state after it.
 */
const holdingLine = (productID: number) => sql`
  with start as materialized (
    select minor_units(i.currency_id) as decimals, coalesce(s.state, ${zeroState}) as state
    from investment i
    left join lateral (
      select row(b.closing_quantity, b.closing_amount, b.closing_cost,
        b.closing_gain)::holding_state as state
      from transaction_line b
      where b.product_id = ${productID} and b.account_id = t.account_id
        and b.investment_id = t.investment_id and b.transaction_date < t.from_date
        and ${raw(counts('b'))}
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) s on true
    where i.investment_id = t.investment_id),
  line as (
    select 0 as id, '-infinity'::date as transaction_date, 0 as quantity, 0 as amount,
      null::numeric as carried_cost, state, decimals
    from start
    union all
    select b.biz_transaction_id, b.transaction_date, b.quantity, b.amount, b.carried_cost,
      s.state, s.decimals
    from start s
    cross join lateral (
      select * from biz_transaction b
      where b.product_id = ${productID} and b.account_id = t.account_id
        and b.investment_id = t.investment_id and b.transaction_date >= t.from_date
        and ${raw(counts('b'))}
      -- In the order of the line, so that the planner takes its index and no other.
      order by b.transaction_date, b.biz_transaction_id offset 0) b)
  select id, t.investment_id, transaction_date,
    holding_state(state, quantity, amount, decimals, carried_cost) over own as state,
    row_number() over (order by transaction_date desc, id desc) as from_last
  from line
  window own as (order by transaction_date, id)`

/**
 * Ends the shifting of closing figures (marks.ts) at the first day recounted, since all of them are
 * rewritten from there on. Figures of earlier days stay shifted.
 */
const unmarking = (productID: number) => sql`
    marked as (
      select t.account_id, t.investment_id, t.from_date, m.gain is not null as is_shifted
      from (select distinct account_id, investment_id, from_date from counted) t
      left join lateral (
        select m.gain from closing_mark m
        where m.product_id = ${productID} and m.account_id = t.account_id
          and m.investment_id = t.investment_id and m.transaction_date < t.from_date
        order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m on true
      where not exists (select 1 from short)),
    unmarked as (
      delete from closing_mark m using marked t
      where m.product_id = ${productID} and m.account_id = t.account_id
        and m.investment_id = t.investment_id and m.transaction_date >= t.from_date
        and not (t.is_shifted and m.transaction_date = t.from_date and m.biz_transaction_id = 0)),
    ended as (
      insert into closing_mark (product_id, account_id, investment_id, transaction_date,
        biz_transaction_id, quantity_shift, amount_shift)
      select ${productID}::int, account_id, investment_id, from_date, 0, 0, 0
      from marked where is_shifted
      on conflict (product_id, account_id, investment_id, transaction_date, biz_transaction_id)
        do update set quantity_shift = 0, amount_shift = 0, gain = null)`

/**
 * Sets the date of an account to that of its newest transaction, or to the day of the change if
 * none is left since. A posting dated on or after it only appends and does not look at marks, so
 * the date must not be before a mark of any of the account's holdings; such a later mark belongs to
 * a transaction that was rolled back, now or earlier, perhaps in another holding. The SQL statement
 * still sees the marks that it deletes itself and may set too late a date, which the next change
 * corrects. `newest` is materialized: without statistics on a young product, the planner would
 * work it out again for each account.
 */
const dating = (productID: number, touched: Fragment) => sql`
    newest as materialized (
      select t.account_id, t.from_date, max(greatest(n.transaction_date, m.transaction_date))
        as last_date
      from (
        select account_id, max(from_date) as from_date from (${touched}) t
        group by account_id) t
      join holding h on h.product_id = ${productID} and h.account_id = t.account_id
      left join lateral (
        select b.transaction_date from biz_transaction b
        where b.product_id = ${productID} and b.account_id = t.account_id
          and b.investment_id = h.investment_id and ${raw(counts('b'))}
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1) n on true
      left join lateral (
        select m.transaction_date from closing_mark m
        where m.product_id = ${productID} and m.account_id = t.account_id
          and m.investment_id = h.investment_id
        order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m on true
      group by t.account_id, t.from_date),
    dated as (
      update ledger_account a set last_date = greatest(t.from_date, t.last_date)
      from newest t
      where a.product_id = ${productID} and a.account_id = t.account_id
        and not exists (select 1 from short))`
