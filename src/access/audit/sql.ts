import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { resources } from '../../platform/permission.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { page } from '../../platform/sql/paging.ts'
import { columns, render } from '../../platform/sql/render.ts'
import { Audit, type AuditQuery, auditFilters } from './schema.ts'

const auditColumns = columns(Audit, 'a')

/** Reads the trail. It is written by the unit of work, and by nobody else. */
export function readAudit(handle: Sql, actor: Actor, query: AuditQuery) {
  const { Resource, ResourceID, Username } = query
  const asked = [
    conditions(auditFilters, query),
    inScope(actor, 'a.product_id'),
    // The index of ids begins with the resource; naming them all lets it find an id alone.
    ...(Resource || ResourceID
      ? [sql`a.resource = any(${Resource ? [Resource] : resources}::text[])`]
      : []),
    ...(Username ? [sql`lower(a.username) = lower(${Username})`] : []),
    ...(ResourceID
      ? [sql`(a.resource_id = ${ResourceID} or a.resource_ids @> array[${ResourceID}::bigint])`]
      : []),
  ]
  return render(
    handle,
    sql`
      select ${auditColumns},
        coalesce(to_json(a.resource_ids), to_json(array_remove(array[a.resource_id], null)))
          as "resourceIDs"
      from audit a where ${join(asked, ' and ')} ${page(query, 'audit a', 'a.audit_id')}`,
  )
}
