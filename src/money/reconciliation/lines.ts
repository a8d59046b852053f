import sql, { raw } from 'sql-template-tag'
import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Fragment } from '../../platform/sql/handle.ts'

/**
 * The reconciliation of distributions and payment runs, in SQL: a line for each figure, with the
 * figure that it should be if another place in the register has it, too. Report 10 shows the lines
 * and `verify` looks for lines where the two figures differ, so that both go by the same SQL.
 */
type Line = { item: string; count: string; amount: string; shouldBe?: string }

const { Declared, Paid } = lookups.DistributionStatus
const isPaid = `d.distribution_status_id >= ${Paid}`

const distributionLines: Line[] = [
  { item: 'Declared', count: 'e.count', amount: 'd.declared_amount', shouldBe: 'e.gross' },
  { item: 'Gross', count: 'e.count', amount: 'e.gross', shouldBe: 'e.tax + e.drp + e.cash' },
  {
    item: 'Tax withheld',
    count: 'e.taxed',
    amount: 'e.tax',
    shouldBe: `case when ${isPaid} then coalesce(t.tax, 0) end`,
  },
  { item: 'Reinvested', count: 'e.reinvesting', amount: 'e.drp' },
  {
    item: 'Cash',
    count: 'e.paid',
    amount: 'e.cash',
    shouldBe: `case when ${isPaid} then
      coalesce(t.in_runs, 0) + coalesce(t.exceptions, 0) + coalesce(t.open, 0) end`,
  },
  { item: 'In payment runs', count: 't.run_count', amount: 't.in_runs' },
  { item: 'Exceptions', count: 't.exception_count', amount: 't.exceptions' },
  { item: 'Not yet in a run', count: 't.open_count', amount: 't.open' },
]

const runLines: Line[] = [
  {
    item: 'Payments',
    count: 'p.count',
    amount: 'p.amount',
    shouldBe: 'coalesce(m.amount, 0) + coalesce(p.reissued, 0)',
  },
  { item: 'Exceptions', count: 'x.count', amount: 'x.amount' },
  {
    item: 'Bank file',
    count: 'f.count',
    amount: 'f.amount',
    shouldBe: `case when r.state <> 'Draft' then coalesce(p.amount, 0) end`,
  },
  ...(['Paid', 'Returned', 'Reissued', 'Unclaimed'] as const).map((state) => ({
    item: state,
    count: `p.${state.toLowerCase()}_count`,
    amount: `p.${state.toLowerCase()}`,
  })),
  { item: 'Awaiting a result', count: 'p.awaited_count', amount: 'p.awaited' },
  {
    item: 'Results',
    count: `p.paid_count + p.returned_count + p.reissued_count + p.unclaimed_count
      + p.awaited_count`,
    amount: `coalesce(p.paid, 0) + coalesce(p.returned, 0) + coalesce(p.reissued, 0)
      + coalesce(p.unclaimed, 0) + coalesce(p.awaited, 0)`,
    shouldBe: `case when r.state in ('Sent', 'Closed') then f.amount end`,
  },
]

const shown = (lines: Line[]) =>
  lines
    .map(
      ({ item, count, amount, shouldBe = 'null' }, place) =>
        `(${place}, '${item}', (${count})::bigint, coalesce(${amount}, 0)::numeric,
          (${shouldBe})::numeric)`,
    )
    .join(', ')

const columns = 'l.place, l.item, coalesce(l.count, 0) as count, l.amount, l.should_be'

/** The condition that a row under an alias is wanted. */
type Own = (alias: string) => Fragment

const taxIDs = raw(idsOf('Withholding tax'))
const paymentIDs = raw(idsOf('Distribution payment'))
const movedIDs = raw(idsOf('Distribution payment', 'Withholding tax'))

/** The tax and the cash of distributions; cash by whether it is in runs, an exception, or open. */
const transactions = (own: Own) => sql`
  select t.product_id, t.corporate_action_id,
    -sum(t.amount) filter (where t.biz_transaction_type_id in ${taxIDs}) as tax,
    sum(m.amount) as in_runs, count(m.amount) as run_count,
    sum(t.amount) filter (where m.amount is null and w.excepted) as exceptions,
    count(*) filter (where m.amount is null and w.excepted) as exception_count,
    sum(t.amount) filter (where m.amount is null and w.excepted = false) as open,
    count(*) filter (where m.amount is null and w.excepted = false) as open_count
  from biz_transaction t
  left join payment_item m on m.product_id = t.product_id
    and m.biz_transaction_id = t.biz_transaction_id
  left join lateral (
    select exists (select 1 from payment_exception z where z.product_id = t.product_id
      and z.biz_transaction_id = t.biz_transaction_id) as excepted
    where t.biz_transaction_type_id in ${paymentIDs}) w on true
  where ${own('t')} and t.corporate_action_id is not null and ${raw(counts('t'))}
    and t.biz_transaction_type_id in ${movedIDs}
  group by t.product_id, t.corporate_action_id`

/** Distributions that no stage is at work on, each with its lines. */
const distributions = (own: Own) => sql`
  select d.product_id, 'Distribution' as of, d.corporate_action_id as id, d.name,
    d.payment_date as date, i.currency_id, ${raw(columns)}
  from distribution d
  join investment i on i.investment_id = d.investment_id
  join (
    select product_id, corporate_action_id, count(*) as count, sum(gross_amount) as gross,
      sum(tax_amount) as tax, sum(drp_amount) as drp, sum(cash_amount) as cash,
      count(*) filter (where tax_amount > 0) as taxed,
      count(*) filter (where drp_amount > 0) as reinvesting,
      count(*) filter (where cash_amount > 0) as paid
    from entitlement e where ${own('e')} group by product_id, corporate_action_id) e
    on e.product_id = d.product_id and e.corporate_action_id = d.corporate_action_id
  left join (${transactions(own)}) t on t.product_id = d.product_id
    and t.corporate_action_id = d.corporate_action_id
  cross join lateral (values ${raw(shown(distributionLines))})
    l (place, item, count, amount, should_be)
  where ${own('d')} and d.distribution_status_id >= ${raw(String(Declared))} and not exists (
    select 1 from distribution_stage g where g.product_id = d.product_id
      and g.corporate_action_id = d.corporate_action_id)`

const byState = (state: string, name: string) =>
  `sum(amount) filter (where state ${state}) as ${name},
    count(*) filter (where state ${state}) as ${name}_count`

const states = [
  byState("= 'Paid'", 'paid'),
  byState("= 'Returned'", 'returned'),
  byState("= 'Reissued'", 'reissued'),
  byState("= 'Unclaimed'", 'unclaimed'),
  byState("in ('Pending', 'Sent')", 'awaited'),
].join(', ')

const runs = (own: Own) => sql`
  select r.product_id, 'Payment run' as of, r.payment_run_id as id, r.state::text as name,
    r.processing_date as date, r.currency_id, ${raw(columns)}
  from payment_run r
  left join (
    select product_id, payment_run_id, count(*) as count, sum(amount) as amount,
      ${raw(states)}
    from payment p where ${own('p')} group by product_id, payment_run_id) p
    on p.product_id = r.product_id and p.payment_run_id = r.payment_run_id
  left join (
    select product_id, payment_run_id, sum(amount) as amount
    from payment_item m where ${own('m')} group by product_id, payment_run_id) m
    on m.product_id = r.product_id and m.payment_run_id = r.payment_run_id
  left join (
    select product_id, payment_run_id, sum(payment_count) as count, sum(amount) as amount
    from payment_run_file f where ${own('f')} group by product_id, payment_run_id) f
    on f.product_id = r.product_id and f.payment_run_id = r.payment_run_id
  left join (
    select product_id, payment_run_id, count(*) as count, sum(amount) as amount
    from payment_exception x where ${own('x')} group by product_id, payment_run_id) x
    on x.product_id = r.product_id and x.payment_run_id = r.payment_run_id
  cross join lateral (values ${raw(shown(runLines))})
    l (place, item, count, amount, should_be)
  where ${own('r')}`

/** Some distributions and payment runs of a product, by their ids. */
export type Reconciled = {
  productID: number
  distributions: readonly number[]
  runs: readonly number[]
}

/**
 * Every line of some distributions and runs of a product, or of all there are: product_id, of, id,
 * name, date, currency_id, place, item, … Every table has the condition on the product: where Citus
 * spreads the ledger, a read of the past (KnownAt) finds the rows of a product in no other way. So
 * it has that on the ids, without which everything the product ever paid would be added up.
 */
export function reconciliationLines(only?: Reconciled): Fragment {
  const own =
    (key: string, ids: readonly number[] = []): Own =>
    (alias) =>
      only
        ? sql`${raw(alias)}.product_id = ${only.productID}
            and ${raw(`${alias}.${key}`)} = any(${ids}::int[])`
        : sql`true`
  return sql`
    ${distributions(own('corporate_action_id', only?.distributions))}
    union all ${runs(own('payment_run_id', only?.runs))}`
}
