import { createHash } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The hash that the first record of the audit trail is linked to. */
export const beginning = Buffer.alloc(32)

/**
 * The digest of a record, computed from a text that is the same in every database: dates as
 * microseconds, no formats, no rounding. A record shared by several requests includes their request
 * ids and record ids; the digest of other records is the same as before there were shared ones.
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

/**
 * The hash of a record's place in the chain: over the hash of the place before, and so over all
 * records before it.
 */
export const linkHash = (before: Buffer, digest: Buffer): Buffer =>
  createHash('sha256').update(before).update(digest).digest()

/** How many bytes of each place's hash a seal keeps: enough to name the first changed record. */
export const markBytes = 8
export const markOf = (hash: Buffer): Buffer => hash.subarray(0, markBytes)
