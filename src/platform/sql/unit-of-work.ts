import { randomUUID } from 'node:crypto'
import sql from 'sql-template-tag'
import type { EventType } from '../event-types.ts'
import { Refusal } from '../refusal.ts'
import { insertEvents, type NewEvent, type Share } from './event.ts'
import type { Database, Fragment, Tx } from './handle.ts'
import { type Answer, nothingLeft, type Shown } from './render.ts'
import { claim, keep, type RetryKey } from './retry-keys.ts'

/** The result of a write: its answer, and what the audit record and the events report about it. */
export type Written = Answer & {
  /** The native ids of the records written. */
  ids: readonly number[]
  productID?: number | undefined
  /** Existing records to which the written records are linked: `person 7`. */
  linked?: readonly string[]
  /** When one record is replaced or deleted: that record as GET showed it, read under its lock. */
  before?: string
  /**
   * The kind of record written, where it differs from the operation's own resource (a write kept
   * for approval).
   */
  resource?: string
  /** What changed, with sensitive values masked already. */
  changes?: unknown
  /**
   * The written ids grouped by product, where there are several products: each product gets its own
   * event.
   */
  shares?: readonly Share[]
  /** Numbers for the event, where the list of ids does not tell how much was written. */
  counts?: Readonly<Record<string, number>>
  /** Further events, beside the event that the operation itself raises. */
  events?: readonly NewEvent[]
  /** The user who did the write, where the user is known only after the work (sign-in). */
  by?: { userID: number; username: string }
  /**
   * No audit record now: one record is written later for several writes at once (failed sign-ins of
   * one caller).
   */
  isToldLater?: boolean
  /** A secret that the write has made, and that only its answer shows. */
  secret?: string
  /** The write is committed, but the caller receives this refusal (a failed sign-in). */
  refusal?: Refusal
}

export type Write = {
  userID: number | null
  username: string | null
  /** POST /Product */
  operation: string
  resource: string
  /** The event that the operation raises, if any. */
  event: EventType | null
  requestID: string
  retry?: RetryKey | undefined
}

export type Outcome = { answer: Shown; replayed: boolean }

/**
 * Every write goes through here: transaction, Idempotency-Key, operation, audit record, event,
 * commit. The whole unit starts again after an error that a new attempt can cure, such as a
 * serialization failure or a deadlock.
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

/** Writes an audit record when a caller downloads data in clear. */
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
 * Runs several writes in one transaction; each write is accepted or refused by itself. `work` gets
 * the places of the writes still to be done (a replayed write is done already) and returns for each
 * either what it wrote or a refusal. If `work` throws, all writes are undone. With `waits: false`,
 * a write whose Idempotency-Key another transaction holds is refused as `KeyHeld`.
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
 * Writes the audit records, the events, and the answers kept under Idempotency-Keys, in one round
 * trip. Exported for callers that run many units of work inside a transaction of their own (an
 * import).
 */
export async function record(tx: Tx, done: Done[]) {
  const trail = done.flatMap(({ write, result }) =>
    result instanceof Refusal || result.isToldLater ? [] : [auditRow(write, result)],
  )
  const keyed = done.filter(({ write }) => write.retry)
  if (trail.length === 0 && keyed.length === 0) return
  // The changes can be long and are JSON texts already. As an array of their own PostgreSQL parses
  // them once, not again as part of the other columns.
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
 * The most requests that one audit record may cover, each a write of one record. The sequence of
 * audit ids increments by this number (migration 0085), so a reader of the audit trail can number
 * the requests from the record's own id upwards.
 */
export const mostInRecord = 32

/**
 * Inserts the audit records that a select yields. A record with `is_event` appears in the event
 * feed as `biztransaction.posted` without a row in the event table: see the view `happening`.
 */
export const insertAuditRows = (rows: Fragment): Fragment => sql`
  insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
    product_id, changes, request_id, request_ids, record_ids, is_event)
  ${rows}`

/** The answer to keep under a write's Idempotency-Key; null for a refused request. */
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
 * The events of one write. A refused write raises none. A write that was only accepted for later,
 * or wrote no record, does not raise the event of its operation.
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
