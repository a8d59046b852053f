import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { resources } from '../../platform/permission.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { Audit, type AuditQuery, auditFilters } from './schema.ts'
import type { Veil } from './veil.ts'

const auditColumns = columns(Audit, 'a', { changes: 'n.changes' })

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
      ? [sql`(a.resource_id = ${ResourceID} or a.resource_ids @> array[${ResourceID}::bigint])`]
      : []),
  ]
  const records = await renderPage(handle, query, {
    key: ['auditID'],
    rows: (wanted) => sql`
      select ${auditColumns}, to_json(n.ids) as "resourceIDs"
      from audit a cross join lateral (${ResourceID ? ofRecord(ResourceID) : whole}) n
      where ${join(asked, ' and ')} ${page(wanted, 'audit a', 'a.audit_id')}`,
  })
  return veil.over(handle, actor, records)
}

/** What was kept until it is approved, as the trail has it; what was done stands by itself. */
const keptRequest = { changes: sql`(a.changes -> 'changes')`, isDone: sql`false` }
