import sql, { raw } from 'sql-template-tag'
import { Refusal } from '../refusal.ts'
import type { Fragment, Tx } from './handle.ts'
import type { Answer } from './render.ts'

export type RetryKey = {
  key: string
  fingerprint: Buffer
  /** Answers that hold secrets are not kept in clear. */
  seal: (text: string) => string
  unseal: (text: string) => string
}

type Keyed = { userID: number | null; retry?: RetryKey | undefined }
type Replay = { answer: Answer; replayed: boolean }

/** Keyed by user; 0 stands for those who are not signed in. */
const ownerOf = ({ userID }: Keyed) => userID ?? 0

type Kept = { userID: number; key: string; fingerprint: Buffer; response: string }

/**
 * Takes the keys for this transaction. Whoever uses a key holds its lock until their end; after a
 * commit the kept answer is replayed, after a rollback the key is ours. Keys are taken in order, so
 * that two who wait cannot wait for each other; a list that others share does not wait at all.
 * Nothing of a refused request is kept, so it may be tried again under its key.
 */
export async function claim(
  tx: Tx,
  writes: readonly Keyed[],
  { waits }: { waits: boolean },
): Promise<[number, Replay | Refusal][]> {
  const keyed = writes.flatMap((write, place) => (write.retry ? [{ write, place }] : []))
  if (keyed.length === 0) return []
  const owners = keyed.map(({ write }) => ownerOf(write))
  const keys = keyed.map(({ write }) => write.retry!.key)
  const prints = keyed.map(({ write }) => write.retry!.fingerprint)
  const claimed = await tx.query<{ userID: number; key: string }>(sql`
    insert into idempotency (user_id, key, fingerprint)
    select g.* from (
      select * from unnest(${owners}::int[], ${keys}::text[], ${prints}::bytea[])
        k (user_id, key, fingerprint) order by 1, 2 offset 0) g
    where ${waits ? waitForKey('g') : tryKey('g')}
    on conflict (user_id, key) do update
      set fingerprint = excluded.fingerprint, response = null, created_date = now()
      where idempotency.created_date < now() - interval '24 hours'
    returning user_id as "userID", key`)
  if (claimed.length === keyed.length) return []
  const kept = await tx.query<Kept>(sql`
    select user_id as "userID", key, fingerprint, response
    from idempotency join unnest(${owners}::int[], ${keys}::text[]) g (user_id, key)
      using (user_id, key)
    where response is not null`)
  return keyed.flatMap(({ write, place }): [number, Replay | Refusal][] => {
    const isMine = (one: { userID: number; key: string }) =>
      one.userID === ownerOf(write) && one.key === write.retry!.key
    const mine = kept.find(isMine)
    if (mine) return [[place, replayOf(write.retry!, mine)]]
    return claimed.some(isMine) ? [] : [[place, new KeyHeld(503, [])]]
  })
}

/** Somebody else is at work under the key. */
export class KeyHeld extends Refusal {}

/** The lock of a key, for a row of a statement with user_id and key. */
const keyLock = (alias: string) => `hashtextextended(${alias}.key, ${alias}.user_id)`
const waitForKey = (alias: string) => raw(`pg_advisory_xact_lock(${keyLock(alias)}) is not null`)
export const tryKey = (alias: string) => raw(`pg_try_advisory_xact_lock(${keyLock(alias)})`)

function replayOf(retry: RetryKey, { fingerprint, response }: Kept): Replay | Refusal {
  // Before 0085 they were kept in full.
  const isSame = retry.fingerprint.equals(fingerprint.subarray(0, retry.fingerprint.length))
  if (!isSame) return keyReused()
  return { answer: answerKept(retry.unseal(response)), replayed: true }
}

/**
 * Answers are kept as the number of records and their JSON as it is: as a text within JSON it would
 * be an eighth longer. Those that say more than that are JSON as a whole.
 */
function keptText(answer: Answer): string {
  const { json, recordCount, ...more } = answer
  return Object.keys(more).length === 0 ? plainText(recordCount, json) : JSON.stringify(answer)
}

/** How an answer of so many records is kept that says nothing else. */
export const plainText = (recordCount: number, json: string) => `${recordCount}:${json}`

function answerKept(text: string): Answer {
  const [, recordCount] = /^(\d+):/.exec(text) ?? []
  if (recordCount === undefined) return JSON.parse(text)
  return { json: text.slice(recordCount.length + 1), recordCount: Number(recordCount) }
}

const keyReused = () =>
  new Refusal(422, [
    {
      code: 'idempotency_key_reused',
      message:
        'This Idempotency-Key was used for another request, or through another API key. ' +
        'Use a new one for a new request.',
    },
  ])

/**
 * Keys with their answers, none of which was there before. The rows have user_id, key, fingerprint
 * in hex, and the answer as it is to be kept; those without a key are left out.
 */
export const insertKeyRows = (rows: Fragment, answer: Fragment): Fragment => sql`
  insert into idempotency (user_id, key, fingerprint, response)
  select user_id, key, decode(fingerprint, 'hex'), ${answer} from ${rows} where key is not null`

/** The same as a column of a statement. */
export const plainlyKept = (count: string, json: string) => raw(`${count} || ':' || ${json}`)

/** Keeps the answers under their keys; the key of a refused request is free again. */
export function keep(keyed: readonly { write: Keyed; answer: Answer | null }[]): Fragment {
  const responses = keyed.map(({ write, answer }) => answer && write.retry!.seal(keptText(answer)))
  const owners = keyed.map(({ write }) => ownerOf(write))
  const keys = keyed.map(({ write }) => write.retry!.key)
  const given = sql`unnest(${owners}::int[], ${keys}::text[], ${responses}::text[])
    g (user_id, key, response)`
  const own = sql`i.user_id = g.user_id and i.key = g.key`
  return sql`
    kept as (
      update idempotency i set response = g.response from ${given}
      where ${own} and g.response is not null),
    freed as (
      delete from idempotency i using ${given} where ${own} and g.response is null)`
}
