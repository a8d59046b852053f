import sql, { empty, join, raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { eventTypes, resourceOfEvent } from '../../platform/event-types.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { defaultPageSize } from '../../platform/sql/paging.ts'
import { type Answer, columns } from '../../platform/sql/render.ts'
import { cursorOf, type Feed, head, type Place, placeOf, refuseSwept } from './cursor.ts'
import { type EventQuery, RegistryEvent } from './schema.ts'

/** A page of the feed, and the place from which to go on. */
export type Stretch = { answer: Answer; place: Place }

type Asked = Pick<EventQuery, 'Type' | 'ProductID'>

/**
 * The event types and products a reader may see. `products` null: all products, and events without
 * a product.
 */
export type Own = { types: readonly string[]; products: readonly number[] | null }

/** The events that a reader asks for, limited to those it may see. */
export const ownOf = (actor: Actor, asked: Asked): Own => ({
  types: typesFor(actor, asked),
  products: productsFor(actor, asked),
})

export async function readFeed(handle: Sql): Promise<Feed> {
  const [row] = await handle.query<Record<string, string>>(sql`
    select epoch, swept_xid::text as "sweptXid", swept_event_id::text as "sweptID",
      pg_snapshot_xmin(s)::text as horizon, pg_snapshot_xmax(s)::text as future
    from event_feed, pg_current_snapshot() s`)
  const { epoch, sweptXid, sweptID, horizon, future } = row as Record<string, string> & Feed
  return { epoch, swept: { xid: sweptXid!, id: sweptID! }, horizon, future }
}

/** The place from which a reader begins. */
export const placeAfter = (After: string | undefined, feed: Feed): Place => {
  if (After === undefined) return feed.swept
  return After.toLowerCase() === 'now' ? head(feed) : placeOf(After, feed)
}

/**
 * The events after a place, up to the horizon before which no transaction can still add one. The
 * next stretch of the feed is read first; if it holds no event for the reader, an index finds the
 * next one. So a reader of rare events costs no more than a reader of all events.
 */
export async function readAfter(
  handle: Sql,
  { own, size = defaultPageSize }: { own: Own; size: number | undefined },
  from: Place,
): Promise<Stretch> {
  const feed = await readFeed(handle)
  const read = (begin: Place) => readStretch(handle, feed, isOwn(own), begin, size)
  let found = await read(from)
  if (found.answer.recordCount === 0 && !found.isEnd) {
    const next = await nextOwn(handle, own, found.place, feed)
    found = next ? await read(next) : { ...found, place: head(feed) }
  }
  // Read the feed again after the events, to notice a sweep that happened meanwhile.
  refuseSwept(from, await readFeed(handle))
  const beside = { cursor: cursorOf(feed.epoch, found.place) }
  return { answer: { ...found.answer, beside }, place: found.place }
}

function typesFor({ permissions }: Actor, { Type = eventTypes }: Asked): string[] {
  return Type.filter((type) => {
    const resource = resourceOfEvent.get(type)!
    // For a resource without a Read permission, Write permission suffices.
    return permissions.has(`${resource}.Read`) || permissions.has(`${resource}.Write`)
  })
}

function productsFor({ productIDs }: Actor, { ProductID }: Asked): readonly number[] | null {
  if (ProductID === undefined) return productIDs
  return productIDs === null || productIDs.includes(ProductID) ? [ProductID] : []
}

export const isOwn = ({ types, products }: Own): Fragment =>
  join(
    [
      sql`e.type = any(${types}::text[])`,
      ...(products ? [sql`e.product_id = any(${products}::int[])`] : []),
    ],
    ' and ',
  )

export const after = ({ xid, id }: Place) =>
  sql`(e.xid, e.event_id) > (${xid}::xid8, ${id}::bigint)`
const eventColumns = columns(RegistryEvent, 'e', {
  cursor: `f.epoch || '.' || e.xid || '.' || e.event_id`,
})

/** How many events are scanned for each event that a page may hold. */
const width = 10

type Read = {
  json: string
  count: number
  last: [string, string] | null
  scanned: number
  end: [string, string] | null
}

async function readStretch(handle: Sql, feed: Feed, own: Fragment, from: Place, size: number) {
  const most = size * width
  const [read] = await handle.query<Read>(sql`
    with stretch as materialized (
      select e.* from happening e where ${after(from)} and e.xid < ${feed.horizon}::xid8
      order by e.xid, e.event_id limit ${most}),
    page as materialized (
      select e.* from stretch e where ${own} order by e.xid, e.event_id limit ${size})
    select (select count(*) from page)::int as count, ${lastOf('page')} as last,
      (select count(*) from stretch)::int as scanned, ${lastOf('stretch')} as end,
      (select coalesce(json_agg(r), '[]')::text from (
        select ${eventColumns}, e.ids from page e, event_feed f
        order by e.xid, e.event_id) r) as json`)
  const { json, count, last, scanned, end } = read!
  const isEnd = scanned < most && count < size
  const [xid, id] = (count === size ? last : end) ?? [from.xid, from.id]
  const answer: Answer = { json, recordCount: count }
  return { answer, place: isEnd ? head(feed) : { xid, id }, isEnd }
}

const lastOf = (rows: 'page' | 'stretch') =>
  raw(`(select array[xid::text, event_id::text] from ${rows}
    order by xid desc, event_id desc limit 1)`)

/** The place just before the next event of these types and products, found in their indexes. */
async function nextOwn(
  handle: Sql,
  { types, products }: Own,
  from: Place,
  { horizon }: Feed,
): Promise<Place | undefined> {
  const first = (rows: Fragment) => sql`
    lateral (select e.xid, e.event_id from (${rows}) e
      where ${after(from)} and e.xid < ${horizon}::xid8
      order by e.xid, e.event_id limit 1) e`
  const each = products
    ? sql`unnest(${types}::text[]) t (type), unnest(${products}::int[]) p (product_id),
        ${first(sql`select * from event e where e.product_id = p.product_id and e.type = t.type`)}`
    : sql`unnest(${types}::text[]) t (type),
        ${first(sql`select * from event e where e.type = t.type`)}`
  const ofPostings = sql`
    union all
    select e.xid, e.event_id
    from ${products ? sql`unnest(${products}::int[])` : productsOfPostings} p (product_id),
      ${first(recordsOfProduct)}`
  const [next] = await handle.query<Place>(sql`
    select e.xid::text as xid, (e.event_id - 1)::text as id from (
      select e.xid, e.event_id from ${each}
      ${types.includes('biztransaction.posted') ? ofPostings : empty}) e
    order by e.xid, e.event_id limit 1`)
  return next
}

/** Audit records that are events as well, read by their partial index: see the view `happening`. */
const recordsOfProduct = sql`
  select xid, audit_id as event_id from audit a
  where a.is_event and a.xid > '2' and a.product_id = p.product_id`

/** Each product that has such audit records once, found by stepping along that index. */
const productsOfPostings = sql`(
  with recursive step (product_id) as (
    (select a.product_id from audit a where a.is_event order by a.product_id limit 1)
    union all
    select (select a.product_id from audit a where a.is_event and a.product_id > s.product_id
      order by a.product_id limit 1)
    from step s where s.product_id is not null)
  select product_id from step where product_id is not null)`

/** The distinct types and products of events after a place. */
export const readKinds = (handle: Sql, from: Place, { horizon }: Feed) =>
  handle.query<{ type: string; productID: number | null }>(sql`
    select distinct e.type, e.product_id as "productID" from happening e
    where ${after(from)} and e.xid < ${horizon}::xid8`)

/** Passes the next page of a reader's events, in order, to the SQL statement that `make` builds. */
export async function nextPage(
  handle: Sql,
  { feed, own, from, size }: { feed: Feed; own: Own; from: Place; size: number },
  make: (page: Fragment) => Fragment,
): Promise<{ place: Place; isEnd: boolean }> {
  const most = size * width
  const [read] = await handle.query<Omit<Read, 'json'>>(sql`
    with stretch as materialized (
      select e.* from happening e where ${after(from)} and e.xid < ${feed.horizon}::xid8
      order by e.xid, e.event_id limit ${most}),
    page as materialized (
      select e.* from stretch e where ${isOwn(own)} order by e.xid, e.event_id limit ${size}),
    made as (${make(sql`select * from page`)})
    select (select count(*) from page)::int as count, ${lastOf('page')} as last,
      (select count(*) from stretch)::int as scanned, ${lastOf('stretch')} as end`)
  const { count, last, scanned, end } = read!
  const isEnd = scanned < most && count < size
  const [xid, id] = (count === size ? last : end) ?? [from.xid, from.id]
  return { place: isEnd ? head(feed) : { xid, id }, isEnd }
}
