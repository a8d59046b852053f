import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { rowsAtOnce } from './marks.ts'
import { insertsHoldings, insertsRows } from './units.ts'

/**
 * Posts units that come in before later transactions of their account, in one SQL statement: the
 * closing figures of the later transactions of the holding move by the posted figures. This is
 * right only if none of those takes units out, since its gain depends on the cost before it, and
 * none carries a cost of its own.
 */

/**
 * The later transactions in the holding of a posting s, with their sums. It has no row where they
 * are too many or change the cost, or where the holding has marks (marks.ts).
 */
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

/** The closing figures right after a posting g: the current totals less the later transactions. */
export const closingsBefore = (quantity: string, amount: string) =>
  raw(`coalesce(g.held_quantity, 0) - g.quantity_behind + ${quantity} as closing_quantity,
        coalesce(g.held_amount, 0) - g.amount_behind + ${amount} as closing_amount,
        coalesce(g.held_cost, 0) - g.amount_behind + ${amount} as closing_cost,
        coalesce(g.held_gain, 0) as closing_gain`)

/**
 * CTEs that write postings g, at most one per account, and move the later transactions. These are
 * found by id, not by ctid: a change that leaves their figures alone may rewrite them meanwhile.
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
