import sql, { raw } from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { paging } from '../../platform/http/paging.ts'
import { DateTime, ExternalId, Id, LongId, optional, shown } from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { identify } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { bizEntityParameter } from '../investor/identities.ts'
import { visibleEntity } from '../investor/scope.ts'
import { withoutHiddenParents } from './hidden-parents.ts'

/** A change of an entity, or of something that belongs to it. */
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
      description: 'What it was and what it became, by field; secrets blotted out.',
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

/** What the entity has of a kind, itself or through its parties, each by an index. */
const ownedBy = (resource: string, table: string) =>
  raw(`
  select '${resource}', t.${table}_id from ${table} t where t.biz_entity_id = (select id from own)
  union select '${resource}', t.${table}_id from party p join ${table} t using (person_id)
  union select '${resource}', t.${table}_id from party p join ${table} t using (organisation_id)
  union select '${resource}', v.record_id from record_version v
  where v.table_name = '${table}' and (v.image ->> 'biz_entity_id')::int = (select id from own)`)

/**
 * Everything that is or was the entity's, by resource and id: also what was deleted or unlinked
 * since, of which the versions tell.
 */
const belonging = (id: number) => sql`
  with own as (select ${id}::int as id),
  party as (
    select person_id, organisation_id from biz_entity_party
    where biz_entity_id = (select id from own)
    union
    select (image ->> 'person_id')::int, (image ->> 'organisation_id')::int from record_version
    where table_name = 'biz_entity_party'
      and (image ->> 'biz_entity_id')::int = (select id from own))
  select 'BizEntity' as resource, id::bigint as id from own
  union select 'Person', person_id from party where person_id is not null
  union select 'Organisation', organisation_id from party where organisation_id is not null
  union ${ownedBy('Address', 'address')}
  union ${ownedBy('Communication', 'communication')}
  union select 'PaymentDetail', payment_detail_id from payment_detail
    where biz_entity_id = (select id from own)
  union select 'PaymentDetail', record_id from record_version
    where table_name = 'payment_detail'
      and (image ->> 'biz_entity_id')::int = (select id from own)`

/** Every change, oldest first, from the trail: who, when, before and after. */
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
      where true ${page(wanted, 'audit a', 'a.audit_id')}`,
  })
  return withoutHiddenParents(handle, actor, changes)
}
