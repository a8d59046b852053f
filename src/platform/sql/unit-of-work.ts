import { randomUUID } from 'node:crypto'
import sql from 'sql-template-tag'
import type { EventType } from '../event-types.ts'
import { Refusal } from '../refusal.ts'
import { insertEvents, type NewEvent, type Share } from './event.ts'
import type { Database, Fragment, Tx } from './handle.ts'
import { type Answer, nothingLeft, type Shown } from './render.ts'
import { claim, keep, type RetryKey } from './retry-keys.ts'

/** What a write did, beside its answer: what the audit record tells. */
export type Written = Answer & {
  /** The native ids of the records written. */
  ids: readonly number[]
  productID?: number | undefined
  /** Records that were there before, to which those written are linked: `person 7`. */
  linked?: readonly string[]
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

export type Outcome = { answer: Shown; replayed: boolean }

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

type HandedOut = Pick<Written, 'ids' | 'productID' | 'changes'> & {
  operation: string
  resource: string
}

/** Whoever takes away what stands there in clear leaves a record of it. */
export const recordDownload = (
  database: Database,
  { userID, username }: Pick<Write, 'userID' | 'username'>,
  { operation, resource, ...told }: HandedOut,
) =>
  unitOfWork(
    database,
    { userID, username, operation, resource, event: null, requestID: randomUUID() },
    async () => ({ ...nothingLeft, ...told }),
  )

/**
 * Several writes through the door in one transaction, each accepted or refused by itself: the work
 * gets the places of those that are to be done (a replayed one is done already) and tells for each
 * what it wrote, or why not. What the work throws undoes them all. Where it does not wait, a write
 * whose key somebody else holds is refused as `KeyHeld`.
 */
export async function unitsOfWork(
  database: Database,
  writes: readonly Write[],
  work: (tx: Tx, places: number[]) => Promise<(Written | Refusal)[]>,
  how: { waits: boolean; lockTimeout?: string } = { waits: true },
): Promise<(Outcome | Refusal)[]> {
  const ended = await database.transaction(async (tx) => {
    const ends = new Map<number, Outcome | Refusal>(await claim(tx, writes, how))
    const places = writes.flatMap((_, place) => (ends.has(place) ? [] : [place]))
    const results = places.length > 0 ? await work(tx, places) : []
    await record(
      tx,
      places.map((place, i) => ({ write: writes[place]!, result: results[i]! })),
    )
    for (const [i, place] of places.entries()) ends.set(place, endOf(results[i]!))
    return writes.map((_, place) => ends.get(place)!)
  }, how)
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
    with ${keyed.length > 0 ? keep(keyed.map(keptOf)) : sql`nothing_kept as (select 1)`}
    ${events.length > 0 ? sql`, raised as (${insertEvents(events)})` : sql``}
    ${insertAuditRows(sql`
    select user_id, username, operation, resource, resource_id, resource_ids, product_id,
      changes, request_id, null::text[], null::bigint[], null::boolean
    from rows from (
      json_to_recordset(${JSON.stringify(others)}) as (user_id int, username text,
        operation text, resource text, resource_id bigint, resource_ids bigint[], product_id int,
        request_id text),
      unnest(${changes.map((given) => given && JSON.stringify(given))}::json[])) as g (user_id,
      username, operation, resource, resource_id, resource_ids, product_id, request_id,
      changes)`)}`)
}

/**
 * Requests that one audit record may be of, each a write of one record by itself: so many numbers
 * are its own (the increment of their sequence, migration 0085), and who reads the trail numbers
 * them from the record's own on.
 */
export const mostInRecord = 32

/**
 * Audit records that a select yields. One that is an event, too, is read as `biztransaction.posted`
 * from the feed, and no event is written for it: see the view happening.
 */
export const insertAuditRows = (rows: Fragment): Fragment => sql`
  insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
    product_id, changes, request_id, request_ids, record_ids, is_event)
  ${rows}`

/** What a key will replay; of a refused request nothing. */
const keptOf = ({ write, result }: Done) => ({
  write,
  answer: result instanceof Refusal || result.refusal ? null : answerOf(result),
})

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
