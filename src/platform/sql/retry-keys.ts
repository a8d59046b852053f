import sql, { raw } from 'sql-template-tag'
import { Refusal } from '../refusal.ts'
import type { Fragment, Tx } from './handle.ts'
import type { Answer } from './render.ts'

export type RetryKey = {
  key: string
  fingerprint: Buffer
  /** Encrypts answers that hold secrets before they are kept; unseal decrypts them. */
  seal: (text: string) => string
  unseal: (text: string) => string
}

type Keyed = { userID: number | null; retry?: RetryKey | undefined }
type Replay = { answer: Answer; replayed: boolean }

/** Keys belong to a user; 0 stands for callers who are not signed in. */
const ownerOf = ({ userID }: Keyed) => userID ?? 0

type Kept = { userID: number; key: string; fingerprint: Buffer; response: string }

/**
 * Takes the Idempotency-Keys for this transaction. A transaction locks its keys until it ends:
 * after its commit a waiting request replays the kept answer, after its rollback the waiting
 * request gets the key. Keys are locked in sorted order to prevent deadlocks; a list shared by
 * several callers does not wait at all. Nothing is kept of a refused request, so it may be sent
 * again under the same key.
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

/** Another transaction is working under the same Idempotency-Key. */
export class KeyHeld extends Refusal {}

/** The advisory lock of a key, for a row with the columns user_id and key. */
const keyLock = (alias: string) => `hashtextextended(${alias}.key, ${alias}.user_id)`
const waitForKey = (alias: string) => raw(`pg_advisory_xact_lock(${keyLock(alias)}) is not null`)
export const tryKey = (alias: string) => raw(`pg_try_advisory_xact_lock(${keyLock(alias)})`)

function replayOf(retry: RetryKey, { fingerprint, response }: Kept): Replay | Refusal {
  // Since migration 0085 fingerprints are kept shortened; older rows hold the full one.
  const isSame = retry.fingerprint.equals(fingerprint.subarray(0, retry.fingerprint.length))
  if (!isSame) return keyReused()
  return { answer: answerKept(retry.unseal(response)), replayed: true }
}

/**
 * An answer is kept as its record count and its JSON as it is: as a string within JSON it would be
 * an eighth longer. An answer with further fields (a message) is kept as JSON as a whole.
 */
function keptText(answer: Answer): string {
  const { json, recordCount, ...more } = answer
  return Object.keys(more).length === 0 ? plainText(recordCount, json) : JSON.stringify(answer)
}

/** The kept form of an answer that consists of a record count and JSON only. */
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
 * Inserts new keys with their answers. The rows have user_id, key, and fingerprint in hex; `answer`
 * is the column with the text to keep. Rows without a key are left out.
 */
export const insertKeyRows = (rows: Fragment, answer: Fragment): Fragment => sql`
  insert into idempotency (user_id, key, fingerprint, response)
  select user_id, key, decode(fingerprint, 'hex'), ${answer} from ${rows} where key is not null`

/** The same as plainText, as a column of an SQL statement. */
export const plainlyKept = (count: string, json: string) => raw(`${count} || ':' || ${json}`)

/**
 * Keeps the answers under their keys. The key of a refused request is deleted, so it is free again.
 */
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
