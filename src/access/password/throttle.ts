import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { networkOf } from '../../platform/http/network.ts'
import { tryLater } from '../../platform/refusal.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'

/**
 * Limits wrong passwords: ten failures for one name (a username, a document) from one network in
 * fifteen minutes, so that a stranger elsewhere locks nobody out. A name that is tried from
 * everywhere has to wait longer and longer instead. Names are stored as keyed hashes, since people
 * type their password into the wrong box.
 */
const mostFailures = 10
const windowMinutes = 15
const mostFromEverywhere = 100
const longestWait = 30

/**
 * What failures are counted by: the name alone, and the name together with the caller's network.
 */
export type Tried = { name: Buffer; pair: Buffer; isAudited: boolean }

export const nameHash = (key: Buffer, name: string): Buffer =>
  createHmac('sha256', key).update(name).digest()

export const triedBy = (key: Buffer, name: string, address: string): Tried => ({
  name: nameHash(key, name),
  pair: nameHash(key, `${name}\n${networkOf(address)}`),
  isAudited: true,
})

/** For names that are not a user's (a document): one count for all callers, and no audit record. */
export const triedByAnyone = (key: Buffer, name: string): Tried => {
  const hash = nameHash(key, name)
  return { name: hash, pair: hash, isAudited: false }
}

const recent = sql`failed_date > now() - ${windowMinutes} * interval '1 minute'
  and not is_forgiven`

/**
 * Waits for its turn on this name and network, counts the recent failures there and refuses after
 * too many. Attempts of one pair take turns on all nodes together, so that the limit holds however
 * many arrive at once.
 */
export async function refuseThrottled(tx: Tx, { pair }: Tried, what: string) {
  await tx.query(sql`select pg_advisory_xact_lock(${String(pair.readBigInt64BE())}::bigint)`)
  const [row] = await tx.query<{ failures: number; wait: number }>(sql`
    select count(*)::int as failures, coalesce(ceil(extract(epoch from
      min(failed_date) + ${windowMinutes} * interval '1 minute' - now())), 0)::int as wait
    from login_failure where pair_hash = ${pair} and ${recent}`)
  const { failures, wait } = row!
  if (failures >= mostFailures)
    throw tryLater(429, 'too_many_failures', `Too many ${what}; try again later.`, wait)
  return failures
}

/** What failed: the password, or a code of a second factor. `userID` is whose it was, if known. */
type Failure = { userID?: number | undefined; isCode?: boolean }

/**
 * Stores a failure and returns how many failures the audit record now reports. 0 means no audit
 * record yet: it is written when the limit is reached or the window has ended.
 */
export async function countFailure(
  tx: Tx,
  tried: Tried,
  before: number,
  { userID, isCode = false }: Failure = {},
) {
  const first = before === 0
  const isDone = first || !tried.isAudited
  await tx.query(sql`
    insert into login_failure (username_hash, pair_hash, user_id, is_audited, is_code)
    values (${tried.name}, ${tried.pair}, ${userID ?? null}, ${isDone}, ${isCode})`)
  if (first) return 1
  return before + 1 >= mostFailures ? tellUnaudited(tx, tried.pair) : 0
}

/** Pairs whose window has ended and which have failures that no audit record reports yet. */
export const endedWindows = (handle: Sql) =>
  handle.query<{ pair: Buffer; userID: number | null; username: string | null }>(sql`
    select f.pair_hash as pair, max(u.user_id) as "userID", max(u.username) as username
    from login_failure f left join app_user u using (user_id)
    where not f.is_audited
    group by f.pair_hash
    having min(f.failed_date) < now() - ${windowMinutes} * interval '1 minute' limit 500`)

/** Marks the unaudited failures of a pair as audited, and returns how many there were. */
export async function tellUnaudited(tx: Tx, pair: Buffer): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    with told as (
      update login_failure set is_audited = true
      where pair_hash = ${pair} and not is_audited returning true)
    select count(*)::int as count from told`)
  return row!.count
}

export const forgetFailures = (tx: Tx, { pair }: Tried) =>
  tx.query(sql`update login_failure set is_forgiven = true
    where pair_hash = ${pair} and not is_forgiven`)

/**
 * Forgives wrong codes only. Whoever holds a session can enrol a factor and then knows its codes,
 * so a right code without the password says nothing about wrong passwords.
 */
export const forgetCodes = (tx: Tx, { pair }: Tried) =>
  tx.query(sql`update login_failure set is_forgiven = true
    where pair_hash = ${pair} and is_code and not is_forgiven`)

/**
 * Forgives the failures of a name on all networks, so that nobody is kept from trying a new
 * password.
 */
export const forgetName = (tx: Tx, name: Buffer) =>
  tx.query(sql`update login_failure set is_forgiven = true
    where username_hash = ${name} and not is_forgiven`)

/**
 * How many requests wait for each pair of name and network. A waiting request holds a socket and
 * nothing else.
 */
const waiting = new Map<string, number>()
const mostWaiting = 3

/**
 * After a hundred failures for a name from anywhere, each further attempt waits a second longer
 * than the one before. It waits before it takes a turn or a connection.
 */
export async function waitForName(handle: Sql, { name, pair }: Tried, stopping: AbortSignal) {
  const [row] = await handle.query<{ failures: number }>(sql`
    select count(*)::int as failures from (
      select 1 from login_failure where username_hash = ${name} and ${recent}
      limit ${mostFromEverywhere + longestWait}) f`)
  const seconds = row!.failures - mostFromEverywhere
  if (seconds <= 0) return
  const key = pair.toString('hex')
  const others = waiting.get(key) ?? 0
  if (others >= mostWaiting)
    throw tryLater(429, 'too_many_failures', 'Too many failed sign-ins; try again later.', seconds)
  waiting.set(key, others + 1)
  try {
    await sleep(seconds * 1000, undefined, { signal: stopping })
  } catch {
    throw tryLater(503, 'stopping', 'The service is stopping; try again shortly.', 1)
  } finally {
    const left = waiting.get(key)! - 1
    if (left > 0) waiting.set(key, left)
    else waiting.delete(key)
  }
}
