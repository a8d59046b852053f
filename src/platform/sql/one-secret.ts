import sql from 'sql-template-tag'
import { type Bell, lockOf } from './bell.ts'
import type { Sql } from './handle.ts'
import { heldNames, nodesName } from './running.ts'

/**
 * Warns where a node beside this one draws its keys from another secret: a caller would be signed
 * in or not by which of them answers. A node holds two names, that of its secret first: whoever
 * holds that of all nodes without ours has another.
 */
export async function agreeOnSecret(
  handle: Sql,
  bell: Bell,
  secretID: string,
  warn: (words: string) => void,
) {
  const ours = `${nodesName} with the secret ${secretID}`
  await bell.hold(ours)
  await bell.hold(nodesName) // before we look: of two starts at once one sees the other
  const [row] = await handle.query<{ isOther: boolean }>(sql`
    with held as (${heldNames})
    select exists (
      select 1 from held n where n.key = ${lockOf(nodesName)} and not exists (
        select 1 from held s where s.pid = n.pid and s.key = ${lockOf(ours)})) as "isOther"`)
  if (row?.isOther) warn(words)
}

const words =
  'Another node runs on this database with another secret: tokens of one are refused by the ' +
  'other, and so are requests sent again under an Idempotency-Key. Give every node the same ' +
  'REGISTRY_JWT_SECRET, or the same file keys/jwt-secret in the data folder.'
