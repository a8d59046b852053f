import { createHmac } from 'node:crypto'
import sql from 'sql-template-tag'
import { tryLater } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'

/**
 * The limit on wrong passwords: so many for one name (a username, a document) in so many minutes.
 * Names are kept as keyed hashes, since people type their password into the wrong box.
 */
const mostFailures = 10
const windowMinutes = 15

export const nameHash = (key: Buffer, name: string): Buffer =>
  createHmac('sha256', key).update(name).digest()

/**
 * Waits for its turn on this name, then counts its recent failures. Attempts on one name take turns
 * on all nodes together, so that the limit holds however many arrive at once.
 */
export async function refuseThrottled(tx: Tx, name: Buffer, what: string) {
  await tx.query(sql`select pg_advisory_xact_lock(${String(name.readBigInt64BE())}::bigint)`)
  const [row] = await tx.query<{ failures: number; wait: number }>(sql`
    select count(*)::int as failures, coalesce(ceil(extract(epoch from
      min(failed_date) + ${windowMinutes} * interval '1 minute' - now())), 0)::int as wait
    from login_failure
    where username_hash = ${name}
      and failed_date > now() - ${windowMinutes} * interval '1 minute'`)
  if (row!.failures >= mostFailures)
    throw tryLater(429, 'too_many_failures', `Too many ${what}; try again later.`, row!.wait)
}

export const countFailure = (tx: Tx, name: Buffer) =>
  tx.query(sql`insert into login_failure (username_hash) values (${name})`)

export const forgetFailures = (tx: Tx, name: Buffer) =>
  tx.query(sql`delete from login_failure where username_hash = ${name}`)
