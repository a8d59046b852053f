import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { rowsAtOnce } from './marks.ts'
import { insertsHoldings, insertsRows } from './units.ts'

/**
 * Units that come in before others of their account, in one statement: what is behind them in their
 * holding is moved along by the same figures. That is so where nothing behind them takes units out,
 * for whose gain the cost before it counts, or carries a cost of its own.
 */

/** What stands behind a posting s, and comes to; where that is little, and there are no marks. */
export const whatIsBehind = sql`
  select * from (
    select array_agg(b.biz_transaction_id) as ids_behind, count(*) as rows_behind,
      coalesce(sum(b.quantity), 0) as quantity_behind,
      coalesce(sum(b.amount) filter (where b.quantity > 0), 0) as amount_behind,
      bool_or(b.quantity < 0 or b.carried_cost is not null) as has_costs_behind
    from (
      select b.biz_transaction_id, b.quantity, b.amount, b.carried_cost from biz_transaction b
      where b.product_id = s.product_id and b.account_id = s.account_id
        and b.investment_id = s.investment_id and b.transaction_date > s.transaction_date
        and ${raw(counts('b'))}
      -- In the order of the line, so that the planner takes its index and no other.
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1 + ${rowsAtOnce}) b) b
  where rows_behind <= ${rowsAtOnce} and has_costs_behind is not true
    and not exists (select 1 from closing_mark m where m.product_id = s.product_id
      and m.account_id = s.account_id and m.investment_id = s.investment_id)`

/** The totals right after such a posting g: those on hand without what is behind it. */
export const closingsBefore = (quantity: string, amount: string) =>
  raw(`coalesce(g.held_quantity, 0) - g.quantity_behind + ${quantity} as closing_quantity,
        coalesce(g.held_amount, 0) - g.amount_behind + ${amount} as closing_amount,
        coalesce(g.held_cost, 0) - g.amount_behind + ${amount} as closing_cost,
        coalesce(g.held_gain, 0) as closing_gain`)

/**
 * Writes postings g, each of another account, as a list of CTEs; what is behind them by its id,
 * since it may be written anew meanwhile by whoever changes no figures of it.
 */
export const insertingOnePerAccount = (postings: Fragment) => sql`
    ${insertsRows(postings)},
    ${insertsHoldings(postings)},
    held as (
      update holding h set quantity = h.quantity + g.quantity,
        invested_amount = h.invested_amount + g.amount, cost_amount = h.cost_amount + g.amount
      from (${postings}) g where h.ctid = g.held_at and h.product_id = g.product_id),
    moved as (
      update biz_transaction b set closing_quantity = b.closing_quantity + g.quantity,
        closing_amount = b.closing_amount + g.amount, closing_cost = b.closing_cost + g.amount
      from (select g.product_id, g.quantity, g.amount, unnest(g.ids_behind) as id
        from (${postings}) g) g
      where b.product_id = g.product_id and b.biz_transaction_id = g.id),
    dated as (
      update ledger_account l set last_date = greatest(l.last_date, g.transaction_date)
      from (${postings}) g where l.ctid = g.account_at and l.product_id = g.product_id)`
