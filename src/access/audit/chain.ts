import { createHash } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The hash that the first record of a trail is linked to. */
export const beginning = Buffer.alloc(32)

/**
 * A record as bytes that are the same in every database: no format of its own, no rounding. Of
 * several requests each stands in it: records of one are as they were before there were others.
 */
export const digestOf = (alias: Fragment): Fragment => sql`
  sha256(convert_to(case when ${alias}.request_ids is null
    then json_build_array(${fieldsOf(alias)})
    else json_build_array(${fieldsOf(alias)}, ${alias}.request_ids,
      ${alias}.record_ids) end::text, 'UTF8'))`

const fieldsOf = (alias: Fragment) => sql`${alias}.audit_id,
    (extract(epoch from ${alias}.occurred_date) * 1000000)::bigint, ${alias}.user_id,
    ${alias}.username, ${alias}.operation, ${alias}.resource, ${alias}.resource_id,
    ${alias}.resource_ids, ${alias}.product_id, ${alias}.changes::text, ${alias}.request_id`

/** The hash of a record's place: over the one before, and so over all before it. */
export const linkHash = (before: Buffer, digest: Buffer): Buffer =>
  createHash('sha256').update(before).update(digest).digest()

/** As much of the hash of a place as is kept of each: to name a record, where a seal is broken. */
export const markBytes = 8
export const markOf = (hash: Buffer): Buffer => hash.subarray(0, markBytes)
