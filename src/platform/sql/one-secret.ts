import sql from 'sql-template-tag'
import { type Bell, lockOf } from './bell.ts'
import type { Sql } from './handle.ts'
import { heldNames, nodesName } from './running.ts'

/**
 * Warns if another node derives its keys from a different secret: whether a caller is signed in
 * would depend on which node answers. Each node first holds a name with its secret's id, then the
 * name that all nodes share. A process that holds the shared name without our secret's name has
 * another secret.
 */
export async function agreeOnSecret(
  handle: Sql,
  bell: Bell,
  secretID: string,
  warn: (words: string) => void,
) {
  const ours = `${nodesName} with the secret ${secretID}`
  await bell.hold(ours)
  // held before we look, so that of two nodes starting at once at least one sees the other
  await bell.hold(nodesName)
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
