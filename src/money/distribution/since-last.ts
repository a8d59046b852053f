import sql, { join, raw } from 'sql-template-tag'
import { Type } from 'typebox'
import { lookups } from '../../platform/lookup/lookups.ts'
import { DateOnly, decimal, Id, nullable } from '../../platform/shape/fields.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { many, one } from '../../platform/sql/render.ts'
import { ofDistribution, readDistribution, type Stored } from './sql.ts'

const Compared = Type.Object({
  accountID: Id,
  accountNumber: Type.String(),
  bizEntityID: Id,
  bizEntityName: nullable(Type.String()),
  grossAmount: decimal(),
  lastGrossAmount: decimal(),
  difference: decimal(),
})

/** Compares a previewed distribution with the previous one of the same investment. */
export const SinceLast = Type.Object(
  {
    corporateActionID: Id,
    name: nullable(Type.String()),
    recordDate: DateOnly,
    accountCount: Type.Integer(),
    units: decimal(),
    grossAmount: decimal(),
    taxAmount: decimal(),
    drpAmount: decimal(),
    cashAmount: decimal(),
    components: Type.Array(
      Type.Object({
        taxComponentName: Type.String(),
        amount: decimal(),
        lastAmount: decimal(),
      }),
    ),
    joinedCount: Type.Integer(),
    leftCount: Type.Integer(),
    changedCount: Type.Integer(),
    joined: Type.Array(Compared, {
      description: 'The accounts that are entitled now and were not then; only the largest.',
    }),
    left: Type.Array(Compared, {
      description: 'The accounts that were entitled then and are not now; only the largest.',
    }),
    changed: Type.Array(Compared, {
      description: 'The accounts that are entitled both times; only the largest differences.',
    }),
  },
  { $id: 'SinceLast' },
)

/** The most accounts that each list shows; the others are only counted. */
const most = 10

/** The previous declared distribution of the investment, in the order of record dates and ids. */
export async function lastBefore(handle: Sql, stored: Stored): Promise<Stored | undefined> {
  const { productID, investmentID, recordDate, id } = stored
  const [found] = await handle.query<{ id: number }>(sql`
    select corporate_action_id as id from distribution
    where product_id = ${productID} and investment_id = ${investmentID}
      and distribution_status_id <> ${lookups.DistributionStatus.Configured}
      and (record_date, corporate_action_id) < (${recordDate}::date, ${id}::int)
    order by record_date desc, corporate_action_id desc limit 1`)
  return found && readDistribution(handle, { productID, id: found.id })
}

/** More parts of Preview's SQL statement, after `entitled`: both distributions by account. */
export const comparing = (last: Stored): Fragment => sql`
  last as materialized (select e.* from entitlement e where ${ofDistribution(last, 'e')}),
  compared as materialized (
    select coalesce(n.account_id, l.account_id) as account_id, n.account_id is not null as is_now,
      l.account_id is not null as was_then, coalesce(n.gross_amount, 0) as gross,
      coalesce(l.gross_amount, 0) as last_gross,
      coalesce(n.gross_amount, 0) - coalesce(l.gross_amount, 0) as difference
    from entitled n full join last l on l.account_id = n.account_id),`

const joined = sql`is_now and not was_then`
const left = sql`was_then and not is_now`
const changed = sql`is_now and was_then and difference <> 0`

/** `SinceLast` as one value, from the parts that `comparing` adds. */
export const comparison = (stored: Stored, last: Stored): Fragment =>
  one(sql`
  select d.corporate_action_id as "corporateActionID", d.name, d.record_date as "recordDate",
    t.*, ${componentsOf(stored, last)} as components, c.*,
    ${largest(joined)} as joined, ${largest(left)} as left, ${largest(changed)} as changed
  from distribution d
  cross join (
    select count(*)::int as "accountCount", trim_scale(coalesce(sum(units), 0)) as units,
      trim_scale(coalesce(sum(gross_amount), 0)) as "grossAmount",
      trim_scale(coalesce(sum(tax_amount), 0)) as "taxAmount",
      trim_scale(coalesce(sum(drp_amount), 0)) as "drpAmount",
      trim_scale(coalesce(sum(cash_amount), 0)) as "cashAmount" from last) t
  cross join (
    select count(*) filter (where ${joined})::int as "joinedCount",
      count(*) filter (where ${left})::int as "leftCount",
      count(*) filter (where ${changed})::int as "changedCount" from compared) c
  where ${ofDistribution(last, 'd')}`)

/** Tax components are matched by name, because their order may differ between distributions. */
const componentsOf = (stored: Stored, last: Stored): Fragment =>
  many(sql`
  select coalesce(n.name, l.name) as "taxComponentName",
    trim_scale(coalesce(n.amount, 0)) as amount, trim_scale(coalesce(l.amount, 0)) as "lastAmount"
  from (${namedOnce(amountsOf(stored, 'entitled'))}) n
  full join (${namedOnce(amountsOf(last, 'last'))}) l using (bare)
  order by n.place, l.place`)

/** A component given in parts is one row: matching each part with each would count them twice. */
const namedOnce = (amounts: Fragment): Fragment => sql`
  select lower(trim(name)) as bare, (array_agg(name order by place))[1] as name,
    sum(amount) as amount, min(place) as place
  from (${amounts}) a group by 1`

/** The total of each tax component, in one pass over the accounts for any number of components. */
export const amountsOf = ({ componentNames: names }: Stored, table: string): Fragment => {
  const sums = names.map((_, i) => sql`sum(component_amounts[${raw(String(i + 1))}])`)
  return sql`
    select u.* from (select array[${join(sums)}] as amounts from ${raw(table)}) s
    cross join lateral unnest(${names}::text[], s.amounts) with ordinality u (name, amount, place)`
}

const largest = (which: Fragment): Fragment =>
  many(sql`
  select a.account_id as "accountID", a.account_number as "accountNumber",
    e.biz_entity_id as "bizEntityID", e.name as "bizEntityName",
    trim_scale(c.gross) as "grossAmount", trim_scale(c.last_gross) as "lastGrossAmount",
    trim_scale(c.difference) as difference
  from (
    select * from compared where ${which}
    order by abs(difference) desc, account_id limit ${most}) c
  join account a on a.account_id = c.account_id
  join biz_entity e on e.biz_entity_id = a.biz_entity_id
  order by abs(c.difference) desc, c.account_id`)
