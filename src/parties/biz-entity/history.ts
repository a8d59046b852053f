import sql, { raw } from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import { type Actor, inScope } from '../../platform/actor.ts'
import { paging } from '../../platform/http/paging.ts'
import { DateTime, ExternalId, Id, LongId, optional, shown } from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { identify } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { bizEntityParameter } from '../investor/identities.ts'
import { visibleEntity } from '../investor/scope.ts'
import { withoutHiddenParents } from './hidden-parents.ts'

/** A change of an entity or of a record that belongs or belonged to it. */
export const EntityChange = shown(
  'EntityChange',
  {
    auditID: LongId,
    occurredDate: DateTime,
    userID: Type.Integer(),
    username: Type.String(),
    operation: Type.String(),
    resource: Type.String(),
    resourceID: LongId,
    changes: Type.Unsafe<unknown>({
      description: 'The values before and after, by field. Sensitive values are masked.',
    }),
  },
  {
    auditID: 4711,
    occurredDate: '2026-01-01T00:00:00Z',
    userID: 2,
    username: 'ann',
    operation: 'PUT /BizEntity',
    resource: 'BizEntity',
    resourceID: 12,
    changes: { name: { from: 'A. Lee', to: 'Ann Lee' } },
  },
)
export const HistoryQuery = Type.Object({
  BizEntityID: optional(Id),
  ExternalBizEntityId: optional(ExternalId),
  ...paging,
})
export type HistoryQuery = Static<typeof HistoryQuery>

const changeColumns = columns(EntityChange, 'a', { resourceID: 'o.id', changes: 'n.changes' })

/** SQL for the addresses or other records that an entity or its parties have or had. */
const ownedBy = (resource: string, table: string) =>
  raw(`
  select '${resource}', t.${table}_id, true from ${table} t
  where t.biz_entity_id = (select id from own)
  union select '${resource}', v.record_id, false from record_version v
  where v.table_name = '${table}' and (v.image ->> 'biz_entity_id')::int = (select id from own)
  union ${ownedThrough('person_id', resource, table)}
  union ${ownedThrough('organisation_id', resource, table)}`)

const ownedThrough = (owner: string, resource: string, table: string) => `
  select '${resource}', t.${table}_id, p.is_now from party p join ${table} t using (${owner})
  union select '${resource}', v.record_id, false
  from party p join record_version v
    on v.table_name = '${table}' and (v.image ->> '${owner}')::int = p.${owner}`

/**
 * All records that belong or belonged to an entity, by resource and id, and whether they still do.
 * Deleted and unlinked records are found in record_version. No versions are kept of the persons of
 * an organisation, so only its present persons count. Columns are named where they are selected,
 * because a Citus coordinator loses column names given after the name of a CTE.
 */
const belonging = (id: number) => sql`
  with own as (select ${id}::int as id),
  named as (
    select person_id, organisation_id, true as is_now from biz_entity_party
    where biz_entity_id = (select id from own)
    union
    select (image ->> 'person_id')::int, (image ->> 'organisation_id')::int, false
    from record_version
    where table_name = 'biz_entity_party'
      and (image ->> 'biz_entity_id')::int = (select id from own)),
  party as (
    select * from named
    union
    select a.person_id, null, n.is_now
    from named n join organisation_person a using (organisation_id)),
  record as (
    select 'BizEntity' as resource, id::bigint as id, true as is_now from own
    union select 'Person', person_id, is_now from party where person_id is not null
    union select 'Organisation', organisation_id, is_now from party
      where organisation_id is not null
    union ${ownedBy('Address', 'address')}
    union ${ownedBy('Communication', 'communication')}
    union select 'PaymentDetail', payment_detail_id, true from payment_detail
      where biz_entity_id = (select id from own)
    union select 'PaymentDetail', record_id, false from record_version
      where table_name = 'payment_detail'
        and (image ->> 'biz_entity_id')::int = (select id from own))
  select resource, id, bool_or(is_now) as is_now from record group by resource, id`

/**
 * A record that now belongs to another entity may have changed there, in products that the caller
 * cannot see. So audit records without a product (a change in several products, or in none) are
 * shown only for records that still belong to the entity.
 */
const seen = (actor: Actor) =>
  actor.productIDs === null
    ? sql`true`
    : sql`(${inScope(actor, 'a.product_id')} or (a.product_id is null and o.is_now))`

/** Every change from the audit trail, oldest first: who, when, before and after. */
export async function readHistory(handle: Sql, actor: Actor, query: HistoryQuery) {
  const visible = visibleEntity(actor, 'r')
  const id = await identify(handle, bizEntityParameter, query, { visible })
  const changes = await renderPage(handle, query, {
    key: ['auditID'],
    rows: (wanted) => sql`
      select ${changeColumns}
      from (${belonging(id)}) o
      join audit a on a.resource = o.resource
        and (a.resource_id = o.id or a.resource_ids @> array[o.id])
      -- Of a write of many records what concerns this one; where that cannot be told, nothing.
      cross join lateral (
        select case
          when a.resource_ids is null then a.changes
          when json_typeof(a.changes) = 'array'
              and json_array_length(a.changes) = cardinality(a.resource_ids)
            then a.changes -> (array_position(a.resource_ids, o.id) - 1) end as changes) n
      where ${seen(actor)} ${page(wanted, 'audit a', 'a.audit_id')}`,
  })
  return withoutHiddenParents(handle, actor, changes)
}
