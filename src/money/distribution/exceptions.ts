import sql, { raw } from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import { counts } from '../../ledger/biz-transaction/kinds.ts'
import type { Actor } from '../../platform/actor.ts'
import { paging } from '../../platform/http/paging.ts'
import { decimal, Id, shown } from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { ofProduct, pageBy, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { DistributionKey, distributionParameter } from './schema.ts'
import { identifyDistribution, mostEntitlements, ofDistribution } from './sql.ts'

/** An entitlement that a later back-dated change has overtaken. */
export const DistributionException = shown('DistributionException', {
  corporateActionID: Id,
  productID: Id,
  accountID: Id,
  accountNumber: Type.String(),
  bizEntityID: Id,
  bizEntityName: Type.String(),
  entitledUnits: decimal(),
  heldUnits: decimal(),
  grossAmount: decimal(),
})
export const ExceptionQuery = Type.Object({ ...DistributionKey.properties, ...paging })

const exceptionColumns = columns(DistributionException, 't', {
  entitledUnits: 't.units',
  heldUnits: 't.held',
  accountNumber: 'a.account_number',
  bizEntityID: 'a.biz_entity_id',
  bizEntityName: 'n.name',
})

/** What is held of the investment at the end of the record date, as the ledger has it today. */
const heldAtRecordDate = `coalesce((
  select b.closing_quantity from transaction_line b
  where b.product_id = e.product_id and b.account_id = e.account_id
    and b.investment_id = e.investment_id and b.transaction_date <= d.record_date
    and ${counts('b')}
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0)`

/**
 * Of it, what an entitlement e can be about: not the units that its own allotment gave it on the
 * record date, which never earn it.
 */
export const heldWithoutOwn = `(${heldAtRecordDate} - coalesce((
  select b.quantity from biz_transaction b
  where b.product_id = e.product_id and b.biz_transaction_id = e.drp_transaction_id
    and b.investment_id = e.investment_id and b.transaction_date <= d.record_date
    and ${counts('b')}), 0))`

/**
 * Accounts without an entitlement that hold units at the record date by what was posted, changed or
 * taken back after the distribution was declared: of what is now dated up to that day, or was.
 * Whom it was not declared for has none of that.
 */
export const latecomers = `
  select e.product_id, d.corporate_action_id, e.account_id, 0::numeric as units,
    0::numeric as gross_amount, h.held
  from distribution d
  join holding e on e.product_id = d.product_id and e.investment_id = d.investment_id
  cross join lateral (select ${heldAtRecordDate} as held offset 0) h
  where h.held > 0
    and not exists (
      select 1 from entitlement x
      where x.product_id = d.product_id and x.corporate_action_id = d.corporate_action_id
        and x.account_id = e.account_id)
    and exists (
      select 1 from biz_transaction b
      where b.product_id = d.product_id and b.account_id = e.account_id
        and b.investment_id = e.investment_id
        and coalesce(b.updated_date, b.created_date) > d.declared_date
        and (${counts('b')} or b.created_date <= d.declared_date)
        and (b.transaction_date <= d.record_date or exists (
          select 1 from biz_transaction_version v
          where v.product_id = b.product_id and v.biz_transaction_id = b.biz_transaction_id
            and v.valid_to > d.declared_date and v.transaction_date <= d.record_date)))`

/**
 * Entitlements whose units no longer are the holding at the record date, with both figures; and
 * accounts that would have had one.
 */
export async function readExceptions(
  handle: Sql,
  actor: Actor,
  query: Static<typeof ExceptionQuery>,
) {
  const which = await identifyDistribution(handle, actor, query, distributionParameter)
  const { productID, id } = which
  return renderPage(handle, query, {
    key: ['accountID'],
    scope: ofProduct('t.product_id', productID),
    rows: (wanted, within) => sql`
      select t.* from (
        select e.product_id, e.corporate_action_id, e.account_id, e.units, e.gross_amount, h.held
        from entitlement e
        join distribution d on d.product_id = ${productID} and d.corporate_action_id = ${id}
        cross join lateral (select ${raw(heldWithoutOwn)} as held offset 0) h
        where ${ofDistribution(which, 'e')}
        union all
        ${raw(latecomers)} and ${ofDistribution(which, 'd')}) t
      where ${within} and t.held <> t.units ${pageBy(wanted, 't.account_id', mostEntitlements)}`,
    show: (rows) => sql`
      select ${exceptionColumns} from (${rows}) t
      join account a on a.account_id = t.account_id
      join biz_entity n on n.biz_entity_id = a.biz_entity_id
      order by t.account_id`,
  })
}
