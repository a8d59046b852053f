import sql, { raw } from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { paging } from '../../platform/http/paging.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { decimal, Id, shown } from '../../platform/shape/fields.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { ofProduct, pageBy, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Selection } from './entitlement.ts'
import { DistributionKey, distributionParameter } from './schema.ts'
import { identifyDistribution, mostEntitlements, ofDistribution } from './sql.ts'

const ofPeriod = {
  description:
    'Only for a distribution that is calculated over the days of a period: the sum of the units ' +
    'held on each day.',
}

/** An entitlement that no longer fits the ledger because of a later back-dated change. */
export const DistributionException = shown('DistributionException', {
  corporateActionID: Id,
  productID: Id,
  accountID: Id,
  accountNumber: Type.String(),
  bizEntityID: Id,
  bizEntityName: Type.String(),
  entitledUnits: decimal(),
  heldUnits: decimal(),
  entitledUnitDays: decimal({}, ofPeriod),
  heldUnitDays: decimal({}, ofPeriod),
  grossAmount: decimal(),
})
export const ExceptionQuery = Type.Object({ ...DistributionKey.properties, ...paging })

const exceptionColumns = columns(DistributionException, 't', {
  entitledUnits: 't.units',
  heldUnits: 't.held',
  entitledUnitDays: 't.unit_days',
  heldUnitDays: 't.held_days',
  accountNumber: 'a.account_number',
  bizEntityID: 'a.biz_entity_id',
  bizEntityName: 'n.name',
})

const own = `b.product_id = e.product_id and b.account_id = e.account_id
  and b.investment_id = e.investment_id and ${counts('b')}`

/** The units at the end of the last day that passes a test, from the ledger. */
const heldAt = (test: string) => `coalesce((
  select b.closing_quantity from transaction_line b where ${own} and b.transaction_date ${test}
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0)`

const heldAtRecordDate = heldAt('<= d.record_date')

/** Whether distribution d uses the units of each day of a period; the same test as isByPeriod. */
const byPeriod = `(d.distribution_amount_per_unit is null and d.pro_rata_start_date is not null
  and d.pro_rata_end_date is not null)`

/** The sum of the units of all days of the period, from the ledger; null without a period. */
const heldDays = `case when ${byPeriod} then
  ${heldAt('< d.pro_rata_start_date')} * (d.pro_rata_end_date - d.pro_rata_start_date + 1)
  + coalesce((
    select sum(b.quantity * (d.pro_rata_end_date - b.transaction_date + 1))
    from biz_transaction b where ${own}
      and b.transaction_date between d.pro_rata_start_date and d.pro_rata_end_date), 0) end`

/** A figure of entitlement e's own DRP allotment, whose units do not count for e itself. */
const ownAllotted = (figure: string, test: string) => `coalesce((
  select ${figure} from biz_transaction b
  where ${own} and b.biz_transaction_id = e.drp_transaction_id and b.transaction_date ${test}), 0)`

const ownDays = `b.quantity
  * (d.pro_rata_end_date - greatest(b.transaction_date, d.pro_rata_start_date) + 1)`

/**
 * The units of entitlement e of distribution d as declared, and as the ledger has them now: at the
 * record date and, for a period, the sum over its days.
 */
export const compared = `
  select e.product_id, e.corporate_action_id, e.account_id, e.units, e.gross_amount,
    case when ${byPeriod} then coalesce(e.unit_days, 0) end as unit_days, h.held, h.held_days
  from distribution d
  join entitlement e on e.product_id = d.product_id
    and e.corporate_action_id = d.corporate_action_id
  cross join lateral (
    select ${heldAtRecordDate} - ${ownAllotted('b.quantity', '<= d.record_date')} as held,
      ${heldDays} - ${ownAllotted(ownDays, '<= d.pro_rata_end_date')} as held_days offset 0) h`

/** Whether rows t of `compared` or `latecomers` differ from the ledger. */
export const isOvertaken = '(t.held <> t.units or t.held_days <> t.unit_days)'

/**
 * Accounts without an entitlement that would have one now, because a transaction dated (now or
 * before) up to the last day was posted, changed or rolled back during or after the declaration.
 * Accounts that the declaration left out have no such transaction, and so are not listed.
 */
export const latecomers = `
  select e.product_id, d.corporate_action_id, e.account_id, 0::numeric as units,
    0::numeric as gross_amount, case when ${byPeriod} then 0::numeric end as unit_days, h.held,
    h.held_days
  from distribution d
  join holding e on e.product_id = d.product_id and e.investment_id = d.investment_id
  cross join lateral (
    select ${heldAtRecordDate} as held, ${heldDays} as held_days, greatest(d.record_date,
      case when ${byPeriod} then d.pro_rata_end_date end) as last_day offset 0) h
  where coalesce(h.held_days, h.held) > 0
    and not exists (
      select 1 from entitlement x
      where x.product_id = d.product_id and x.corporate_action_id = d.corporate_action_id
        and x.account_id = e.account_id)
    and exists (
      select 1 from biz_transaction b
      where b.product_id = d.product_id and b.account_id = e.account_id
        and b.investment_id = e.investment_id
        and coalesce(b.updated_date, b.created_date) > d.declared_since
        and (${counts('b')} or b.created_date <= d.declared_date)
        and (b.transaction_date <= h.last_day or exists (
          select 1 from biz_transaction_version v
          where v.product_id = b.product_id and v.biz_transaction_id = b.biz_transaction_id
            and v.valid_to > d.declared_since and v.transaction_date <= h.last_day)))`

/**
 * The moment from which changes count as later than a declaration that begins now. A posting under
 * way is not seen by it, and carries the time at which its transaction began: nothing but a whole
 * import (see outlast) takes the minutes that are allowed for. What was posted within them and seen
 * gave an entitlement, so it is no latecomer, except to accounts that the declaration leaves out:
 * with such lists only what begins later counts (docs/decisions/0475).
 */
export const changesSince = ({ include, exclude }: Selection): Fragment =>
  include || exclude.length > 0
    ? sql`select now()::text as since`
    : sql`select (now() - interval '10 minutes')::text as since`

/**
 * Corrects declarations made during a long transaction, such as an import. They have not seen its
 * rows, which carry the time at which it began. So `declared_since` is set back to before that
 * time, and latecomers are found from then on.
 */
export async function outlast(all: Tx) {
  const declared = await all.query<{ productID: number }>(sql`
    select distinct d.product_id as "productID" from distribution d
    where d.declared_since >= now() order by 1`)
  for (const { productID } of declared)
    await inProduct(all, productID).query(sql`
      update distribution d set declared_since = now() - interval '1 microsecond'
      where d.product_id = ${productID} and d.declared_since >= now()`)
}

/**
 * Lists entitlements whose units differ from the ledger's at the record date or over the period,
 * with both figures, and accounts that would have had an entitlement.
 */
export async function readExceptions(
  handle: Sql,
  actor: Actor,
  query: Static<typeof ExceptionQuery>,
) {
  const which = await identifyDistribution(handle, actor, query, distributionParameter)
  const { productID } = which
  return renderPage(handle, query, {
    key: ['accountID'],
    scope: ofProduct('t.product_id', productID),
    rows: (wanted, within) => sql`
      select t.* from (
        ${raw(compared)} where ${ofDistribution(which, 'd')} and ${ofDistribution(which, 'e')}
        union all
        ${raw(latecomers)} and ${ofDistribution(which, 'd')}) t
      where ${within} and ${raw(isOvertaken)} ${pageBy(wanted, 't.account_id', mostEntitlements)}`,
    show: (rows) => sql`
      select ${exceptionColumns} from (${rows}) t
      join account a on a.account_id = t.account_id
      join biz_entity n on n.biz_entity_id = a.biz_entity_id
      order by t.account_id`,
  })
}
