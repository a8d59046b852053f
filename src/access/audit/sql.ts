import sql, { empty, join, raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { resources } from '../../platform/permission.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { behind, renderPage, sortedBy, type Wanted } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { mostInRecord } from '../../platform/sql/unit-of-work.ts'
import { Audit, type AuditQuery, auditFilters } from './schema.ts'
import type { Veil } from './veil.ts'

/** Of several requests that share a record each has a line: the one at its place. */
const isShared = 'a.request_ids is not null'
const auditColumns = columns(Audit, 'a', {
  auditID: 'a.audit_id + a.place - 1',
  changes: `case when ${isShared} then a.changes -> (a.place - 1) else n.changes end`,
  requestID: 'coalesce(a.request_ids[a.place], a.request_id)',
})
const lineIDs = raw(`case when ${isShared} then array[a.record_ids[a.place]] else n.ids end`)

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
      select ${auditColumns}, to_json(${lineIDs}) as "resourceIDs"
      from (${linesOf(wanted, join(asked, ' and '), ResourceID)}) a
      cross join lateral (${ResourceID ? ofRecord(ResourceID) : whole}) n
      order by ${sortedBy(wanted, lineOrder)}`,
  })
  return veil.over(handle, actor, records)
}

const lineOrder = 'a.audit_id, a.place'

/**
 * The lines of a page: what they show is looked up for these alone. Numbers of records are so far
 * apart that lines are in the order of their numbers, too.
 */
const linesOf = (wanted: Wanted, asked: Fragment, resourceID: number | undefined) => sql`
  select a.* from (
    select a.*, n.place from (select a.* from audit a where ${asked} ${near(wanted)}) a
    cross join lateral generate_series(1, coalesce(cardinality(a.request_ids), 1)) n (place)) a
  where ${resourceID ? isOfRecord(resourceID) : sql`true`}
    ${behind(wanted, 'a.audit_id + a.place - 1')} ${lineEnd(wanted)}`

const isOfRecord = (id: number) =>
  sql`(a.record_ids is null or a.record_ids[a.place] = ${id}::bigint)`

function lineEnd(wanted: Wanted): Fragment {
  if (wanted.isWhole) return empty
  const skip = String(wanted.skip)
  return sql`and (${skip}::bigint = 0
      or ${skip}::bigint < (select max(audit_id) + ${mostInRecord} from audit))
    order by ${sortedBy(wanted, lineOrder)} limit ${wanted.size} offset ${skip}::bigint`
}

/**
 * Records enough for a page, in its order: each has a line, but for one that begins before the page
 * does and, where one resource is asked for, has no line of it there.
 */
function near(wanted: Wanted): Fragment {
  if (wanted.isWhole) return empty
  const { size, skip, after, isDescending } = wanted
  const inOrder = sql`order by ${sortedBy(wanted, 'a.audit_id')}`
  if (!after) return sql`${inOrder} limit ${String(skip + BigInt(size))}::bigint`
  const first = Number(after[0])
  return isDescending
    ? sql`and a.audit_id < ${first}::bigint ${inOrder} limit ${size + 1}`
    : sql`and a.audit_id > ${first - mostInRecord}::bigint ${inOrder} limit ${size + mostInRecord}`
}

/** What was kept until it is approved, as the trail has it; what was done stands by itself. */
const keptRequest = { changes: sql`(a.changes -> 'changes')`, isDone: sql`false` }
