import sql, { empty, raw } from 'sql-template-tag'
import type { Fragment, Tx } from '../sql/handle.ts'

/**
 * Where units change, and nowhere else. Every change (a posting, an array, a distribution, an
 * update, a rollback) ends here as a list of rows of one product, in a fixed number of statements
 * whatever its length.
 */

/** A transaction to be written, as `settle` reads it from a select. */
export const postingColumns = raw(`place int, item int, type_id smallint, account_id int,
  investment_id int, transaction_date date, investment_price numeric, amount numeric,
  quantity numeric, entry_fee_amount numeric, external_id text, comment text,
  corporate_action_id int, biz_event_id bigint`)

/** A holding that would go below zero: when first, and by how much. */
export type Shortfall = { accountID: number; investmentID: number; date: string; short: string }

export type Settled = { ids: { place: number; id: number }[]; shortfalls: Shortfall[] }

/**
 * Locks the accounts of a product, in the order of their ids, and with them all their holdings.
 * Tells which it got: all of them, or without waiting those that nobody else holds. An account that
 * never had a transaction has no row yet; it gets one first.
 */
export async function lockAccounts(
  tx: Tx,
  productID: number,
  accountIDs: readonly number[],
  wait = true,
): Promise<Set<number>> {
  const wanted = [...new Set(accountIDs)]
  const own = sql`product_id = ${productID} and account_id = any(${wanted}::int[])`
  const lock = async () => {
    const locked = await tx.query<{ id: number }>(sql`
      select account_id as id from ledger_account where ${own}
      order by account_id for update ${wait ? empty : raw('skip locked')}`)
    return new Set(locked.map(({ id }) => id))
  }
  const locked = await lock()
  if (locked.size === wanted.length) return locked
  const created = await tx.query(sql`
    insert into ledger_account (product_id, account_id)
    select ${productID}::int, id from unnest(${wanted}::int[]) id
    where not exists (select from ledger_account a
      where a.product_id = ${productID} and a.account_id = id)
    order by id
    on conflict do nothing returning true`)
  return created.length > 0 || wait ? lock() : locked
}

/** No new rows: for updates and rollbacks, which only rewind. */
export const noPostings = sql`select * from json_to_recordset('[]') as p (${postingColumns})`

/** What became of a transaction's place in time: its account must be counted anew from this day. */
export type Touched = { accountID: number; from: string }

/**
 * Writes new transactions, and brings the closing figures of all that follow them, the holdings and
 * the account totals up to date. The accounts must be locked. When a holding would be negative at
 * any point of its history nothing is written, and the shortfalls tell where.
 *
 * Accounts whose new rows come after all they have only append: they start from the totals on hand
 * and read no history. The others start from the last state before the first day touched.
 */
export async function settle(
  tx: Tx,
  productID: number,
  postings: Fragment,
  touched: readonly Touched[] = [],
): Promise<Settled> {
  const [row] = await tx.query<{ ids: string | null; shortfalls: string | null }>(
    settlement(productID, postings, touched),
  )
  return { ids: JSON.parse(row?.ids ?? '[]'), shortfalls: JSON.parse(row?.shortfalls ?? '[]') }
}

const settlement = (productID: number, postings: Fragment, touched: readonly Touched[]) => sql`
  with given as materialized (
    -- Numbered under the lock, so that of two transactions of a day the later one is behind.
    select nextval('biz_transaction_biz_transaction_id_seq') as id, g.* from (${postings}) g),
  moved as (
    select account_id, min(transaction_date) as from_date, false as changed from given group by 1
    union all
    select account_id, from_date, true
    from unnest(${touched.map((t) => t.accountID)}::int[], ${touched.map((t) => t.from)}::date[])
      t (account_id, from_date)),
  place as (
    select a.account_id, a.quantity, a.invested_amount, a.last_date, min(m.from_date) as from_date,
      bool_or(m.changed or m.from_date < a.last_date) as rewinds
    from moved m join ledger_account a on a.product_id = ${productID} and a.account_id = m.account_id
    group by 1, 2, 3, 4),
  -- The holdings concerned: those that get a row, and all of an account that rewinds.
  concerned as (
    select g.account_id, g.investment_id from given g
    union
    select h.account_id, h.investment_id
    from place p join holding h on h.product_id = ${productID} and h.account_id = p.account_id
    where p.rewinds),
  start as (
    select c.account_id, c.investment_id, p.rewinds, p.from_date,
      minor_units(i.currency_id) as decimals,
      case when p.rewinds
        then coalesce(s.state, row(0, 0, 0, 0)::holding_state)
        else row(coalesce(h.quantity, 0), coalesce(h.invested_amount, 0),
          coalesce(h.cost_amount, 0), coalesce(h.realised_gain, 0))::holding_state
      end as state
    from concerned c
    join place p on p.account_id = c.account_id
    join investment i on i.investment_id = c.investment_id
    left join holding h on h.product_id = ${productID} and h.account_id = c.account_id
      and h.investment_id = c.investment_id
    left join lateral (
      select row(b.closing_quantity, b.closing_amount, b.closing_cost, b.closing_gain)::holding_state
        as state
      from biz_transaction b
      where p.rewinds and b.product_id = ${productID} and b.account_id = c.account_id
        and b.investment_id = c.investment_id and b.transaction_date < p.from_date
        and b.biz_transaction_status_id <> 3
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) s on true),
  account_start as (
    select p.account_id,
      case when p.rewinds then s.quantity else p.quantity end as quantity,
      case when p.rewinds then s.invested else p.invested_amount end as invested
    from place p
    join (
      select account_id, sum((state).quantity) as quantity, sum((state).invested) as invested
      from start group by 1) s on s.account_id = p.account_id),
  line as (
    select id, account_id, investment_id, transaction_date, quantity, amount, true as is_new
    from given
    union all
    select b.biz_transaction_id, b.account_id, b.investment_id, b.transaction_date, b.quantity,
      b.amount, false
    from place p
    join biz_transaction b on b.product_id = ${productID} and b.account_id = p.account_id
      and b.transaction_date >= p.from_date and b.biz_transaction_status_id <> 3
    where p.rewinds),
  stated as materialized (
    select l.id, l.account_id, l.investment_id, l.transaction_date, l.is_new,
      holding_state(s.state, l.quantity, l.amount, s.decimals) over own as state,
      a.quantity + sum(l.quantity) over everything as account_quantity,
      a.invested + sum(case when l.quantity <> 0 then l.amount else 0 end) over everything
        as account_invested
    from line l
    join start s on s.account_id = l.account_id and s.investment_id = l.investment_id
    join account_start a on a.account_id = l.account_id
    window own as (partition by l.account_id, l.investment_id order by l.transaction_date, l.id),
      everything as (partition by l.account_id order by l.transaction_date, l.id)),
  short as (
    select distinct on (account_id, investment_id) account_id, investment_id, transaction_date,
      -(state).quantity as short
    from stated where (state).quantity < 0
    order by account_id, investment_id, transaction_date, id),
  written as (
    insert into biz_transaction (product_id, biz_transaction_id, external_biz_transaction_id,
      biz_transaction_type_id, parent_biz_transaction_id, account_id, investment_id,
      transaction_date, investment_price, amount, quantity, entry_fee_amount, comment,
      corporate_action_id, biz_event_id, closing_quantity, closing_amount, closing_cost,
      closing_gain, account_closing_quantity, account_closing_amount)
    select ${productID}, g.id, g.external_id, g.type_id,
      nullif(first_value(g.id) over (partition by g.item order by g.place), g.id), g.account_id,
      g.investment_id, g.transaction_date, g.investment_price, g.amount, g.quantity,
      g.entry_fee_amount, g.comment, g.corporate_action_id, g.biz_event_id, (s.state).quantity,
      (s.state).invested, (s.state).cost, (s.state).gain, s.account_quantity, s.account_invested
    from given g join stated s on s.id = g.id
    where not exists (select from short)
    order by g.place),
  rolled_forward as (
    update biz_transaction b set closing_quantity = (s.state).quantity,
      closing_amount = (s.state).invested, closing_cost = (s.state).cost,
      closing_gain = (s.state).gain, account_closing_quantity = s.account_quantity,
      account_closing_amount = s.account_invested
    from stated s
    where not s.is_new and b.product_id = ${productID} and b.biz_transaction_id = s.id
      and (b.closing_quantity, b.closing_amount, b.closing_cost, b.closing_gain,
        b.account_closing_quantity, b.account_closing_amount)
      is distinct from ((s.state).quantity, (s.state).invested, (s.state).cost, (s.state).gain,
        s.account_quantity, s.account_invested)
      and not exists (select from short)),
  now_held as (
    select distinct on (account_id, investment_id) account_id, investment_id, state
    from (
      select account_id, investment_id, transaction_date, id, state from stated
      union all
      select account_id, investment_id, '-infinity', 0, state from start) s
    order by account_id, investment_id, transaction_date desc, id desc),
  held as (
    insert into holding as h (product_id, account_id, investment_id, quantity, invested_amount,
      cost_amount, realised_gain)
    select ${productID}, account_id, investment_id, (state).quantity, (state).invested,
      (state).cost, (state).gain
    from now_held where not exists (select from short)
    order by account_id, investment_id
    on conflict (product_id, account_id, investment_id) do update
      set quantity = excluded.quantity, invested_amount = excluded.invested_amount,
        cost_amount = excluded.cost_amount, realised_gain = excluded.realised_gain
      where (h.quantity, h.invested_amount, h.cost_amount, h.realised_gain) is distinct from
        (excluded.quantity, excluded.invested_amount, excluded.cost_amount, excluded.realised_gain)),
  totalled as (
    update ledger_account a set quantity = t.quantity, invested_amount = t.invested,
      last_date = case when p.rewinds then t.last_date else greatest(a.last_date, t.last_date) end
    from (
      select s.account_id, s.quantity + coalesce(sum(l.quantity), 0) as quantity,
        s.invested + coalesce(sum(l.amount) filter (where l.quantity <> 0), 0) as invested,
        coalesce(max(l.transaction_date), max(p.from_date)) as last_date
      from account_start s
      join place p on p.account_id = s.account_id
      left join line l on l.account_id = s.account_id
      group by s.account_id, s.quantity, s.invested) t
    join place p on p.account_id = t.account_id
    where a.product_id = ${productID} and a.account_id = t.account_id
      and not exists (select from short))
  select
    (select json_agg(json_build_object('place', place, 'id', id)) from given
      where place is not null) as ids,
    (select json_agg(json_build_object('accountID', account_id, 'investmentID', investment_id,
      'date', transaction_date, 'short', trim_scale(short)::text)) from short) as shortfalls`
