import sql from 'sql-template-tag'
import type { EventType } from '../event-types.ts'
import type { Fragment, Tx } from './handle.ts'

/** An event to write. It carries ids only; receivers fetch the records they need. */
export type NewEvent = {
  type: EventType
  resource: string
  productID?: number | undefined
  ids: readonly number[]
  /** Numbers for the event, where the list of ids does not tell how much was written. */
  counts?: Readonly<Record<string, number>> | undefined
  userID?: number | null
}

/** The ids of one product among the records of a write. */
export type Share = { productID: number | undefined; ids: readonly number[] }

/** A record and its product; without an id it was not written. */
type Placed = { productID: number; id: number | undefined }

/** Groups ids by product: a user who may see only one product must hear of their part of a list. */
export function sharesOf(records: readonly Placed[]): Share[] {
  const shares = new Map<number, number[]>()
  for (const { productID, id } of records) {
    if (id === undefined) continue
    const ids = shares.get(productID)
    if (ids) ids.push(id)
    else shares.set(productID, [id])
  }
  return [...shares].map(([productID, ids]) => ({ productID, ids }))
}

/** The product of an audit record; undefined where the records belong to several products. */
export function soleProduct(records: readonly { productID: number }[]): number | undefined {
  const [first, ...others] = new Set(records.map(({ productID }) => productID))
  return others.length === 0 ? first : undefined
}

/**
 * An event lists at most this many ids, as many records as one request may bring; for more records
 * it gives their number instead.
 */
const mostIDs = 1000

/** Writes events in the transaction that they report; they become visible with its commit. */
export async function raise(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await tx.query(insertEvents(events))
}

/** Like raise, as a part of a larger SQL statement. */
export const insertEvents = (events: readonly NewEvent[]): Fragment =>
  insertEventRows(sql`
  select * from json_to_recordset(${JSON.stringify(events.map(rowOf))}) as g
    (type text, resource text, product_id int, ids bigint[], counts json, user_id int)`)

/** Inserts the events that a select yields: type, resource, product, ids, counts, user. */
export const insertEventRows = (rows: Fragment): Fragment => sql`
  insert into event (type, resource, product_id, ids, counts, user_id) ${rows}`

function rowOf({ type, resource, productID, ids, counts, userID }: NewEvent) {
  const isLong = ids.length > mostIDs
  return {
    type,
    resource,
    product_id: productID,
    ids: isLong ? [] : ids,
    counts: isLong ? { records: ids.length, ...counts } : counts,
    user_id: userID,
  }
}
