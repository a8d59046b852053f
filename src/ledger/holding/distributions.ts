import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Fragment } from '../../platform/sql/handle.ts'

/**
 * What a holding gets of distributions, at the end of a day. The totals of each holding are stored;
 * only the entitlements to distributions that are not behind it on that day are read besides. So
 * the cost does not grow with the distributions that there ever were.
 */

const { Declared } = lookups.DistributionStatus

/** The rows of holding h in a table of entitlements, totals or payments. */
const ofHolding = (alias: string) =>
  raw(`${alias}.product_id = h.product_id and ${alias}.account_id = h.account_id
    and ${alias}.investment_id = h.investment_id`)

/** The money of entitlement e that its DRP allotment left over. */
const leftOver = raw('e.drp_residual - e.residual_before')
const isAllottedLater = (day: Fragment) =>
  sql`coalesce(c.drp_allotment_date, c.payment_date) > ${day}`

/**
 * The DRP residual of holding h at a day: what there is now, less what later allotments left over,
 * and what was paid out later. A read of the past adds what the changed distributions had left over
 * more than they have now.
 */
const residualBy = (day: Fragment, leftOverLater: Fragment, changed: Fragment) => sql`
  coalesce((
    select s.amount + ${goneSince(leftOver, changed)} - coalesce(${leftOverLater}, 0) + coalesce((
      select sum(o.amount) from residual_payment o
      where ${ofHolding('o')} and o.reversed_date is null and o.payment_date > ${day}), 0)
    from drp_residual s where ${ofHolding('s')}), 0)`

/**
 * Whether a holding h without units still has money left over by a DRP at a day. `y` has what
 * `itsLaterAllotments` found for the day.
 */
export const hasResidual = (day: Fragment) => {
  const later = sql`(
    select sum(${ofEntitlement(leftOver)}) from distribution c
    where c.product_id = h.product_id and c.corporate_action_id = any(y.later))`
  return sql`${residualBy(day, later, raw('y.changed'))} > 0`
}

/**
 * The distributions of the investment of holding h whose entitlements may have been others at the
 * moment of a read of the past: none in a read of the present.
 */
const itsChanged = raw(`(
      select array_agg(u.corporate_action_id) from changed_distribution u
      where u.product_id = h.product_id and u.investment_id = h.investment_id)`)

/**
 * The distributions of the investment of holding h that are allotted after a day, which PostgreSQL
 * looks up once for each investment (see itsProduct in sql.ts). A holding without units would
 * otherwise read all entitlements that it ever had.
 */
export const itsLaterAllotments = (day: Fragment) => sql`
  cross join lateral (
    select array_agg(c.corporate_action_id) as later, ${itsChanged} as changed from distribution c
    where c.product_id = h.product_id and c.investment_id = h.investment_id
      and ${isAllottedLater(day)} limit 1) y`

/**
 * The distributions of the investment of holding h that are not behind it at a day: the open ones,
 * which are not paid yet; of these the owed ones, which are declared; and those that are allotted
 * later. Before it is declared, one has entitlements only while a stage is under way.
 */
export const itsDistributions = (day: Fragment) => sql`
  select count(*) > 0 as has_distributions,
    array_agg(c.corporate_action_id) filter (where s.is_open or s.is_later) as recent,
    array_agg(c.corporate_action_id) filter (where s.is_open) as open,
    array_agg(c.corporate_action_id) filter (where s.is_open and s.is_declared
      and c.record_date <= ${day}) as owed,
    array_agg(c.corporate_action_id) filter (where s.is_later) as later,
    ${itsChanged} as changed
  from distribution c
  cross join lateral (
    select c.distribution_status_id >= ${Declared} as is_declared,
      case when c.distribution_status_id > ${Declared} then c.payment_date > ${day}
        else c.distribution_status_id = ${Declared} or exists (
          select 1 from distribution_stage g where g.product_id = c.product_id
            and g.corporate_action_id = c.corporate_action_id) end as is_open,
      c.distribution_status_id > ${Declared} and ${isAllottedLater(day)} as is_later) s
  where c.product_id = h.product_id and c.investment_id = h.investment_id`

/** A figure of holding h's entitlement to distribution c, which is looked up by its key. */
const ofEntitlement = (figure: Fragment, table = raw('entitlement')) => sql`(
      select ${figure} from ${table} e
      where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
        and e.account_id = h.account_id)`

/**
 * By how much a figure of holding h's entitlements was more, at the moment of a read of the past,
 * than it is now. Where a schema is named, the table of the present is read.
 */
const goneSince = (figure: Fragment, changed: Fragment) => sql`
  case when ${changed} is null then 0 else coalesce((
    select sum(coalesce(${ofEntitlement(figure)}, 0)
      - coalesce(${ofEntitlement(figure, raw('public.entitlement'))}, 0))
    from public.distribution c
    where c.product_id = h.product_id and c.corporate_action_id = any(${changed})), 0) end`

/**
 * The distributions of holding h at a day: amounts declared and not yet paid, amounts paid
 * (including DRP), and the DRP residual. `d` has what `itsDistributions` found. In a join, the
 * planner would read all entitlements of the holding to find these few.
 */
export const distributionsOf = (day: Fragment) => sql`
  select coalesce(r.owed, 0) as declared,
    coalesce((select t.gross_amount from entitlement_total t where ${ofHolding('t')}), 0)
      + ${goneSince(raw('e.gross_amount'), raw('d.changed'))} - coalesce(r.open, 0) as paid,
    ${residualBy(day, raw('r.later'), raw('d.changed'))} as residual
  from (
    select sum(c.gross) filter (where c.id = any(d.open)) as open,
      sum(c.gross) filter (where c.id = any(d.owed)) as owed,
      sum(c.left_over) filter (where c.id = any(d.later)) as later
    from (
      select c.corporate_action_id as id, ${ofEntitlement(raw('e.gross_amount'))} as gross,
        ${ofEntitlement(leftOver)} as left_over
      from distribution c
      where c.product_id = h.product_id and c.corporate_action_id = any(d.recent)) c) r`
