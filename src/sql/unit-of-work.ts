import sql from 'sql-template-tag'
import { Refusal } from '../refusal.ts'
import type { Database, Fragment, Tx } from './handle.ts'
import type { Answer } from './render.ts'

/** What a write did, beside its answer: what the audit record tells. */
export type Written = Answer & {
  /** The native ids of the records written. */
  ids: readonly number[]
  productID?: number | undefined
  /** What changed, with sensitive values masked already. */
  changes?: unknown
  /** Who did it, where that is known only now (sign-in). */
  by?: { userID: number; username: string }
  /** What is written stays written, and yet the caller is refused (a failed sign-in). */
  refusal?: Refusal
}

export type Write = {
  userID: number | null
  username: string | null
  /** POST /Product */
  operation: string
  resource: string
  requestID: string
  retry?: RetryKey | undefined
}

export type RetryKey = {
  key: string
  fingerprint: Buffer
  /** Answers that hold secrets are not kept in clear. */
  seal: (text: string) => string
  unseal: (text: string) => string
}

export type Outcome = { answer: Answer; replayed: boolean }

/**
 * The one door for writes: the transaction, the idempotency key, the operation, the audit record,
 * the commit. Again from the start when PostgreSQL asks for it.
 */
export async function unitOfWork(
  database: Database,
  write: Write,
  work: (tx: Tx) => Promise<Written>,
): Promise<Outcome> {
  const { outcome, refusal } = await database.transaction(async (tx) => {
    const earlier = write.retry && (await claim(tx, write.userID ?? 0, write.retry))
    if (earlier) return { outcome: { answer: earlier, replayed: true } }
    const written = await work(tx)
    const { json, recordCount, message } = written
    const answer = { json, recordCount, ...(message !== undefined && { message }) }
    await record(tx, write, written, answer)
    return { outcome: { answer, replayed: false }, refusal: written.refusal }
  })
  if (refusal) throw refusal
  return outcome
}

/**
 * Takes the key for this transaction. While another transaction holds it, PostgreSQL makes this
 * insert wait for the other's end: after a commit the kept answer is replayed, after a rollback the
 * key is ours. Nothing of a refused request is kept, so it may be tried again under its key.
 */
async function claim(tx: Tx, userID: number, retry: RetryKey): Promise<Answer | undefined> {
  const claimed = await tx.query(sql`
    insert into idempotency (user_id, key, fingerprint)
    values (${userID}, ${retry.key}, ${retry.fingerprint})
    on conflict (user_id, key) do update
      set fingerprint = excluded.fingerprint, response = null, created_date = now()
      where idempotency.created_date < now() - interval '24 hours'
    returning true`)
  if (claimed.length > 0) return undefined
  const [kept] = await tx.query<{ same: boolean; response: string }>(sql`
    select fingerprint = ${retry.fingerprint} as same, response from idempotency
    where user_id = ${userID} and key = ${retry.key}`)
  if (!kept) return undefined
  if (!kept.same) throw keyReused()
  return JSON.parse(retry.unseal(kept.response))
}

const keyReused = () =>
  new Refusal(422, [
    {
      code: 'idempotency_key_reused',
      message:
        'This Idempotency-Key was used for another request. Use a new one for a new request.',
    },
  ])

/** The audit record, and what the key will replay, in one round trip. */
async function record(tx: Tx, write: Write, written: Written, answer: Answer) {
  const { ids, changes, productID, by } = written
  const { userID, username, operation, resource, requestID } = write
  await tx.query(sql`
    with kept as (${keep(write, written, answer)})
    insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
      product_id, changes, request_id)
    values (${by?.userID ?? userID}, ${by?.username ?? username}, ${operation}, ${resource},
      ${ids.length === 1 ? ids[0] : null}, ${ids.length > 1 ? ids : null}::bigint[],
      ${productID ?? null}, ${changes === undefined ? null : JSON.stringify(changes)},
      ${requestID})`)
}

function keep({ userID, retry }: Write, { refusal }: Written, answer: Answer): Fragment {
  if (!retry) return sql`select`
  const own = sql`user_id = ${userID ?? 0} and key = ${retry.key}`
  return refusal
    ? sql`delete from idempotency where ${own}`
    : sql`update idempotency set response = ${retry.seal(JSON.stringify(answer))} where ${own}`
}
