import sql from 'sql-template-tag'
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

/**
 * Everything that is or was the entity's, by resource and id: also what was deleted or unlinked
 * since, of which the versions tell.
 */
const belonging = (id: number) => sql`
  with party as (
    select person_id, organisation_id from biz_entity_party where biz_entity_id = ${id}
    union
    select (image ->> 'person_id')::int, (image ->> 'organisation_id')::int from record_version
    where table_name = 'biz_entity_party' and (image ->> 'biz_entity_id')::int = ${id}),
  owned as (
    select 'address' as kind, address_id as id, biz_entity_id, person_id, organisation_id
    from address
    union all
    select 'communication', communication_id, biz_entity_id, person_id, organisation_id
    from communication)
  select 'BizEntity' as resource, ${id}::bigint as id
  union select 'Person', person_id from party where person_id is not null
  union select 'Organisation', organisation_id from party where organisation_id is not null
  union select initcap(kind), id from owned
    where biz_entity_id = ${id} or person_id in (select person_id from party)
      or organisation_id in (select organisation_id from party)
  union select 'PaymentDetail', payment_detail_id from payment_detail where biz_entity_id = ${id}
  union select case table_name when 'payment_detail' then 'PaymentDetail'
      else initcap(table_name) end, record_id
    from record_version
    where table_name in ('address', 'communication', 'payment_detail')
      and (image ->> 'biz_entity_id')::int = ${id}`

/** Every change, oldest first, from the trail: who, when, before and after. */
export async function readHistory(handle: Sql, actor: Actor, query: HistoryQuery) {
  const visible = visibleEntity(actor, 'r')
  const id = await identify(handle, bizEntityParameter, query, { visible })
  return renderPage(handle, query, {
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
}
