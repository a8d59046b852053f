import sql from 'sql-template-tag'
import type { EventType } from '../event-types.ts'
import type { Fragment, Tx } from './handle.ts'

/** Something that happened, thin: whoever hears of it fetches what they need. */
export type NewEvent = {
  type: EventType
  resource: string
  productID?: number | undefined
  ids: readonly number[]
  /** How much it was about, where that is more than its ids tell. */
  counts?: Readonly<Record<string, number>> | undefined
  userID?: number | null
}

/** The records of one product among those that a write was about. */
export type Share = { productID: number | undefined; ids: readonly number[] }

/** A record of a product; one without an id was not written. */
type Placed = { productID: number; id: number | undefined }

/** Ids by product: who may see one product only must hear of their part of a list. */
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

/** The product of an audit record: none where what was written is of several. */
export function soleProduct(records: readonly { productID: number }[]): number | undefined {
  const [first, ...others] = new Set(records.map(({ productID }) => productID))
  return others.length === 0 ? first : undefined
}

/** An event names as many records as one request may bring; of more it tells the number. */
const mostIDs = 1000

/** Writes events in the transaction of what they tell; they are seen after its commit. */
export async function raise(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length > 0) await tx.query(insertEvents(events))
}

/** The same as part of a larger statement. */
export const insertEvents = (events: readonly NewEvent[]): Fragment =>
  insertEventRows(sql`
  select * from json_to_recordset(${JSON.stringify(events.map(rowOf))}) as g
    (type text, resource text, product_id int, ids bigint[], counts json, user_id int)`)

/** Events that a select yields: type, resource, product, ids, counts, user. */
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
