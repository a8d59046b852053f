import sql, { empty, join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { resources } from '../../platform/permission.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { pageBy, renderPage, sortedBy, type Wanted } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { mostInRecord } from '../../platform/sql/unit-of-work.ts'
import { Audit, type AuditQuery, auditFilters } from './schema.ts'
import type { Veil } from './veil.ts'

const auditColumns = columns(Audit, 'a', {
  auditID: 'a.audit_id + n.place',
  changes: 'n.changes',
  requestID: 'n.request_id',
})

/** What a record tells: of a write all, of several requests each by itself. */
const told = (ofWrite: Fragment) => sql`
  select 0 as place, w.changes, w.ids, a.request_id from (${ofWrite}) w
  where a.request_ids is null
  union all
  select r.place - 1, r.changes, array[r.id], r.request_id
  from rows from (unnest(a.request_ids), unnest(a.record_ids),
    json_array_elements(case when a.request_ids is not null then a.changes end))
    with ordinality as r (request_id, id, changes, place)
  where a.request_ids is not null`

const whole = sql`
  select a.changes, coalesce(a.resource_ids, array_remove(array[a.resource_id], null)) as ids`

/**
 * Of a write of many records only what concerns the one. A list of changes has an item for each
 * record, or for each pair of legs; any other change is about the write as a whole.
 */
const ofRecord = (id: number) => sql`
  select array[${id}::bigint] as ids,
    case json_typeof(a.changes) when 'array' then
      case when cardinality(a.resource_ids) % nullif(json_array_length(a.changes), 0) = 0
        then a.changes -> (
          (array_position(a.resource_ids, ${id}::bigint) - 1)
            / (cardinality(a.resource_ids) / json_array_length(a.changes)))
        else a.changes end
      else a.changes end as changes`

/** As the index of their ranges has it; ids between may be of other records. */
const isAmongRecords = (id: number) => sql`(a.record_ids is not null
  and int8range(a.record_ids[1], a.record_ids[cardinality(a.record_ids)], '[]') @> ${id}::bigint
  and a.record_ids @> array[${id}::bigint])`

/** Reads the trail. It is written by the unit of work, and by nobody else. */
export async function readAudit(handle: Sql, actor: Actor, veil: Veil, query: AuditQuery) {
  const { Resource, ResourceID, Username } = query
  const asked = [
    conditions(auditFilters, query),
    inScope(actor, 'a.product_id'),
    ...(actor.productIDs
      ? [sql`not (a.resource = 'Approval' and ${veil.namesUnseen(actor, keptRequest)})`]
      : []),
    // The index of ids begins with the resource; naming them all lets it find an id alone.
    ...(Resource || ResourceID
      ? [sql`a.resource = any(${Resource ? [Resource] : resources}::text[])`]
      : []),
    ...(Username ? [sql`lower(a.username) = lower(${Username})`] : []),
    ...(ResourceID
      ? [
          sql`(a.resource_id = ${ResourceID} or a.resource_ids @> array[${ResourceID}::bigint]
            or ${isAmongRecords(ResourceID)})`,
        ]
      : []),
  ]
  const records = await renderPage(handle, query, {
    key: ['auditID'],
    rows: (wanted) => sql`
      select ${auditColumns}, to_json(n.ids) as "resourceIDs"
      from (select a.* from audit a where ${join(asked, ' and ')} ${near(wanted)}) a
      cross join lateral (${told(ResourceID ? ofRecord(ResourceID) : whole)}) n
      where ${ResourceID ? sql`${ResourceID} = any(n.ids)` : sql`true`}
        ${pageBy(wanted, 'a.audit_id + n.place', mostLines)}`,
  })
  return veil.over(handle, actor, records)
}

const mostLines = `(select max(audit_id) + ${mostInRecord} from audit)`

/** Records enough for a page in its order: each has a line at least, beginning with its number. */
function near(wanted: Wanted): Fragment {
  if (wanted.isWhole) return empty
  const { size, skip, after, isDescending } = wanted
  const inOrder = sql`order by ${sortedBy(wanted, 'a.audit_id')}`
  if (!after) return sql`${inOrder} limit ${String(skip + BigInt(size))}::bigint`
  const first = Number(after[0])
  return isDescending
    ? sql`and a.audit_id < ${first}::bigint ${inOrder} limit ${size}`
    : sql`and a.audit_id > ${first - mostInRecord}::bigint ${inOrder} limit ${size + mostInRecord}`
}

/** What was kept until it is approved, as the trail has it; what was done stands by itself. */
const keptRequest = { changes: sql`(a.changes -> 'changes')`, isDone: sql`false` }
