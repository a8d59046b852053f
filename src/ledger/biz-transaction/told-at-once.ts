import sql, { empty, raw } from 'sql-template-tag'
import { bytesColumn } from '../../platform/sql/bytes.ts'
import { insertEventRows } from '../../platform/sql/event.ts'
import { arrayOfRecords } from '../../platform/sql/render.ts'
import { insertKeyRows, plainlyKept } from '../../platform/sql/retry-keys.ts'
import { insertAuditRows } from '../../platform/sql/unit-of-work.ts'
import { requestTypes } from './posting-rows.ts'
import { later, type Shape, valuesGiven } from './resolve-at-once.ts'

/**
 * The part of the SQL statement of at-once.ts that writes the audit trail, the event feed and the
 * answers kept for Idempotency-Keys, and returns the answers. `told` has one row per request.
 */

/** A CTE with the columns of an array's request, given once for all its postings. */
export const asked = sql`
    asked as materialized (
      select ${valuesGiven(Object.entries(requestTypes))}),`

/** The end of the SQL statement; it reads the rendered transactions `shown`. */
export function telling({ isArray, size }: Shape, isKeyed: boolean) {
  const recorded = isArray || size === 'one' ? recordedByRequest(isArray) : recordedByUser
  return sql`
    ${isArray ? toldTogether : toldOneByOne},
    audited as (${insertAuditRows(recorded)})
    ${isArray ? raised : empty}
    ${isKeyed ? kept(isArray) : empty}
    select request, count as "recordCount", json as ${raw(isArray ? bytesColumn : 'values')}
    from told`
}

const toldOneByOne = sql`
    told as materialized (
      select request, user_id, 1 as count, product_id, biz_transaction_id as resource_id,
        null::bigint[] as resource_ids, shown as json, username,
        operation, request_id, changes, key, fingerprint
      from shown)`

const toldTogether = sql`
    told as materialized (
      select a.*, t.* from asked a cross join (
        select count(*)::int as count,
          case when min(product_id) = max(product_id) then min(product_id) end as product_id,
          null::bigint as resource_id,
          array_agg(biz_transaction_id order by place) as resource_ids,
          ${arrayOfRecords(raw('shown'), ' order by place')} as json
        from shown having count(*) > 0) t)`

const recordedByRequest = (isArray: boolean) => sql`
      select user_id, username, operation, ${later.resource}::text, resource_id, resource_ids,
        product_id, changes::json, request_id, null::text[], null::bigint[],
        ${raw(isArray ? 'null::boolean' : 'true')}
      from told`

/**
 * One audit record for all requests of one user, operation and product in the SQL statement: the
 * indexes of the audit table cost as much as those of the postings. A reader of the audit trail
 * still gets a line for each request (access/audit/sql.ts).
 */
const recordedByUser = sql`
      select user_id, username, operation, ${later.resource}::text,
        case when not is_shared then ids[1] end, null::bigint[], product_id,
        case when is_shared then '[' || array_to_string(changes, ',') || ']'
          else changes[1] end::json,
        request_ids[1], case when is_shared then request_ids end, case when is_shared then ids end,
        true
      from (
        select user_id, username, operation, product_id, count(*) > 1 as is_shared,
          array_agg(resource_id order by resource_id) as ids,
          array_agg(changes order by resource_id) as changes,
          array_agg(request_id order by resource_id) as request_ids
        from told group by user_id, username, operation, product_id) t`

/**
 * Raises the events of an array: one per product. A single posting needs none, because its audit
 * record is its event.
 */
const raised = sql`,
    raised as (${insertEventRows(sql`
      select ${later.event}::text, ${later.resource}::text, product_id,
        array_agg(biz_transaction_id order by place), null::json,
        (select user_id from asked)
      from shown group by product_id`)})`

const kept = (isArray: boolean) => sql`,
    kept as (${insertKeyRows(raw('told'), isArray ? plainlyKept('count', 'json') : raw('json'))})`
