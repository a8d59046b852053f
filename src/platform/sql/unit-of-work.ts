import sql from 'sql-template-tag'
import type { EventType } from '../event-types.ts'
import { Refusal } from '../refusal.ts'
import { insertEvents, type NewEvent, type Share } from './event.ts'
import type { Database, Fragment, Tx } from './handle.ts'
import type { Answer } from './render.ts'

/** What a write did, beside its answer: what the audit record tells. */
export type Written = Answer & {
  /** The native ids of the records written. */
  ids: readonly number[]
  productID?: number | undefined
  /** Of one record that is replaced or deleted: it as GET showed it, read under its lock. */
  before?: string
  /** What they are, where it is not what the operation is about (a write kept for approval). */
  resource?: string
  /** What changed, with sensitive values masked already. */
  changes?: unknown
  /** The ids by product, where there are several: each gets an event of its own. */
  shares?: readonly Share[]
  /** How much the event was about, where that is more than its ids tell. */
  counts?: Readonly<Record<string, number>>
  /** What else happened, beside the event that the operation itself raises. */
  events?: readonly NewEvent[]
  /** Who did it, where that is known only now (sign-in). */
  by?: { userID: number; username: string }
  /** The audit record comes later, for several at once (failed sign-ins of one caller). */
  isToldLater?: boolean
  /** What is written stays written, and yet the caller is refused (a failed sign-in). */
  refusal?: Refusal
}

export type Write = {
  userID: number | null
  username: string | null
  /** POST /Product */
  operation: string
  resource: string
  /** The event that it raises, if any. */
  event: EventType | null
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
 * The one door for writes: the transaction, the idempotency key, the operation, the audit record
 * and the event, the commit. Again from the start when PostgreSQL asks for it.
 */
export async function unitOfWork(
  database: Database,
  write: Write,
  work: (tx: Tx) => Promise<Written>,
): Promise<Outcome> {
  const [end] = await unitsOfWork(database, [write], async (tx) => [await work(tx)])
  if (end instanceof Refusal) throw end
  return end!
}

/**
 * Several writes through the door in one transaction, each accepted or refused by itself: the work
 * gets the places of those that are to be done (a replayed one is done already) and tells for each
 * what it wrote, or why not. What the work throws undoes them all.
 */
export async function unitsOfWork(
  database: Database,
  writes: readonly Write[],
  work: (tx: Tx, places: number[]) => Promise<(Written | Refusal)[]>,
): Promise<(Outcome | Refusal)[]> {
  const ended = await database.transaction(async (tx) => {
    const ends = new Map<number, Outcome | Refusal>(await claim(tx, writes))
    const places = writes.flatMap((_, place) => (ends.has(place) ? [] : [place]))
    const results = places.length > 0 ? await work(tx, places) : []
    await record(
      tx,
      places.map((place, i) => ({ write: writes[place]!, result: results[i]! })),
    )
    for (const [i, place] of places.entries()) ends.set(place, endOf(results[i]!))
    return writes.map((_, place) => ends.get(place)!)
  })
  database.bell.ring()
  return ended
}

function endOf(result: Written | Refusal): Outcome | Refusal {
  if (result instanceof Refusal) return result
  return result.refusal ?? { answer: answerOf(result), replayed: false }
}

const answerOf = ({ json, recordCount, message, accepted }: Written): Answer => ({
  json,
  recordCount,
  ...(accepted && { accepted }),
  ...(message !== undefined && { message }),
})

/** Keyed by user; 0 stands for those who are not signed in. */
const ownerOf = ({ userID }: Write) => userID ?? 0

type Kept = { userID: number; key: string; fingerprint: Buffer; response: string }

/**
 * Takes the keys for this transaction. While another transaction holds one, PostgreSQL makes this
 * insert wait for the other's end: after a commit the kept answer is replayed, after a rollback the
 * key is ours. Keys are taken in order, so that two lists cannot wait for each other. Nothing of a
 * refused request is kept, so it may be tried again under its key.
 */
async function claim(tx: Tx, writes: readonly Write[]): Promise<[number, Outcome | Refusal][]> {
  const keyed = writes.flatMap((write, place) => (write.retry ? [{ write, place }] : []))
  if (keyed.length === 0) return []
  const owners = keyed.map(({ write }) => ownerOf(write))
  const keys = keyed.map(({ write }) => write.retry!.key)
  const prints = keyed.map(({ write }) => write.retry!.fingerprint)
  const claimed = await tx.query<{ userID: number; key: string }>(sql`
    insert into idempotency (user_id, key, fingerprint)
    select * from unnest(${owners}::int[], ${keys}::text[], ${prints}::bytea[]) order by 1, 2
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
  return keyed.flatMap(({ write, place }): [number, Outcome | Refusal][] => {
    const mine = kept.find(
      ({ userID, key }) => userID === ownerOf(write) && key === write.retry!.key,
    )
    return mine ? [[place, replayOf(write.retry!, mine)]] : []
  })
}

function replayOf(retry: RetryKey, { fingerprint, response }: Kept): Outcome | Refusal {
  if (!retry.fingerprint.equals(fingerprint)) return keyReused()
  return { answer: JSON.parse(retry.unseal(response)), replayed: true }
}

const keyReused = () =>
  new Refusal(422, [
    {
      code: 'idempotency_key_reused',
      message:
        'This Idempotency-Key was used for another request. Use a new one for a new request.',
    },
  ])

export type Done = { write: Write; result: Written | Refusal }

/**
 * The audit records, the events, and what the keys will replay, in one round trip. For whoever does
 * many writes in a transaction of their own (an import), whose units of work are a part of it.
 */
export async function record(tx: Tx, done: Done[]) {
  const trail = done.flatMap(({ write, result }) =>
    result instanceof Refusal || result.isToldLater ? [] : [auditRow(write, result)],
  )
  const keyed = done.filter(({ write }) => write.retry)
  if (trail.length === 0 && keyed.length === 0) return
  // The changes can be long, and are JSON already: they go beside the rest and are read once.
  const changes = trail.map((row) => row.changes ?? null)
  const others = trail.map((row) => ({ ...row, changes: undefined }))
  const events = done.flatMap(eventsOf)
  await tx.query(sql`
    with ${keyed.length > 0 ? keep(keyed) : sql`nothing_kept as (select)`}
    ${events.length > 0 ? sql`, raised as (${insertEvents(events)})` : sql``}
    insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
      product_id, changes, request_id)
    select user_id, username, operation, resource, resource_id, resource_ids, product_id,
      changes, request_id
    from rows from (
      json_to_recordset(${JSON.stringify(others)}) as (user_id int, username text,
        operation text, resource text, resource_id bigint, resource_ids bigint[], product_id int,
        request_id text),
      unnest(${changes.map((given) => given && JSON.stringify(given))}::json[])) as g (user_id,
      username, operation, resource, resource_id, resource_ids, product_id, request_id, changes)`)
}

const auditRow = (write: Write, { ids, productID, changes, by, ...told }: Written) => ({
  user_id: by?.userID ?? write.userID,
  username: by?.username ?? write.username,
  operation: write.operation,
  resource: told.resource ?? write.resource,
  resource_id: ids.length === 1 ? ids[0] : null,
  resource_ids: ids.length > 1 ? ids : null,
  product_id: productID ?? null,
  changes,
  request_id: write.requestID,
})

/**
 * A refusal tells of nothing. What is only taken on, or wrote no record, does not raise the event
 * of its operation.
 */
function eventsOf({ write, result }: Done): NewEvent[] {
  if (result instanceof Refusal || result.refusal) return []
  const { ids, productID, shares = [{ productID, ids }], counts, by, events = [] } = result
  const isDone = !result.accepted && ids.length > 0
  const userID = by?.userID ?? write.userID
  const { event: type, resource } = write
  const own = type && isDone ? shares : []
  return [...own.map((share) => ({ type: type!, resource, counts, ...share })), ...events].map(
    (event) => ({ userID, ...event }),
  )
}

/** Keeps the answers under their keys; the key of a refused request is free again. */
function keep(keyed: Done[]): Fragment {
  const responses = keyed.map(({ write, result }) =>
    result instanceof Refusal || result.refusal
      ? null
      : write.retry!.seal(JSON.stringify(answerOf(result))),
  )
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
