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

/**
 * A record shared by several requests is listed as one line per request; `place` is the line's
 * position in the record's arrays.
 */
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
 * Narrows a write of many records to the part about one record. A list of changes has one item per
 * record, or per pair of legs; any other kind of change is about the write as a whole.
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

/**
 * Written as the index on the range of record_ids has it. A range may also span ids of other
 * records, so the ids themselves are compared too.
 */
const isAmongRecords = (id: number) => sql`(a.record_ids is not null
  and int8range(a.record_ids[1], a.record_ids[cardinality(a.record_ids)], '[]') @> ${id}::bigint
  and a.record_ids @> array[${id}::bigint])`

/** Reads the audit trail, which only the unit of work writes. */
export async function readAudit(handle: Sql, actor: Actor, veil: Veil, query: AuditQuery) {
  const { Resource, ResourceID, Username } = query
  const asked = [
    conditions(auditFilters, query),
    inScope(actor, 'a.product_id'),
    ...(actor.productIDs
      ? [sql`not (a.resource = 'Approval' and ${veil.namesUnseen(actor, keptRequest)})`]
      : []),
    // The index on ids begins with the resource: naming all resources lets PostgreSQL use it to
    // find an id alone.
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
 * Selects the lines of a page first, so that shown columns are looked up for these lines alone. The
 * numbers of shared records leave room for one number per line, so the order of records and places
 * is also the order of line numbers.
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
 * Limits the records to enough for a page, in the page's order. Each record yields a line, except
 * one that begins before the page starts and, when one resource is asked for, has no line of it on
 * the page.
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

/**
 * How an audit record holds a request that was kept for approval; what was done has a record of its
 * own.
 */
const keptRequest = { changes: sql`(a.changes -> 'changes')`, isDone: sql`false` }
