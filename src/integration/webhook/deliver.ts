import sql, { join, raw } from 'sql-template-tag'
import { readAbsentCaller } from '../../access/caller/absent.ts'
import type { Actor } from '../../platform/actor.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { render, utc } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { type Feed, head, keptFrom, type Place } from '../event/cursor.ts'
import { after, isOwn, nextPage, type Own, ownOf, readFeed } from '../event/sql.ts'
import type { Replay, WebhookName } from './schema.ts'
import { deliveryColumns, lockWebhook, tooMany } from './sql.ts'

/** The most deliveries that wait for one webhook; more are made when some of them have ended. */
const mostWaiting = 1000
const mostReplayed = 10_000

/** The user and key that last saved a webhook, and the types and products it asks for. */
type Hook = {
  userID: number
  apiKeyID: number | null
  types: string[] | null
  productIDs: number[] | null
}

type Due = Hook & {
  id: number
  epoch: string | null
  xid: string | null
  eventID: string | null
  room: number
}

/**
 * Turns new events into deliveries of one webhook and moves its place in the feed, in one
 * transaction, so that a killed process neither loses an event nor makes a delivery twice. Returns
 * whether there are more events.
 */
export async function makeDeliveries(tx: Tx, webhookID: number): Promise<boolean> {
  const [due] = await tx.query<Due>(sql`
    select webhook_id as id, ${hookFields}, place_epoch as epoch,
      place_xid::text as xid, place_event_id::text as "eventID",
      ${mostWaiting} - (select count(*) from webhook_delivery d
        where d.webhook_id = w.webhook_id and d.status = 'pending')::int as room
    from webhook w where w.webhook_id = ${webhookID} and w.is_active for update skip locked`)
  const owner = due && (await ownerOf(tx, due))
  if (!due || !owner || due.room <= 0 || !owner.permissions.has('Event.Read')) return false
  const feed = await readFeed(tx)
  const asked = { feed, own: ownFor(owner, due), from: placeOf(due, feed), size: due.room }
  const { place, isEnd } = await nextPage(tx, asked, (page) =>
    insertDeliveries(webhookID, butItsMaking(webhookID, page)),
  )
  await tx.query(sql`
    update webhook set place_epoch = ${feed.epoch}, place_xid = ${place.xid}::xid8,
      place_event_id = ${place.id}::bigint where webhook_id = ${webhookID}`)
  return !isEnd
}

/**
 * The place after which a webhook is sent events. A place in another feed, from before a restore,
 * means nothing here: begin at the present head. Of what was swept since, the audit trail still has
 * the postings, but no reader is told them any more.
 */
function placeOf({ epoch, xid, eventID }: Due, feed: Feed): Place {
  const isKnown = epoch === feed.epoch && xid !== null && eventID !== null
  return isKnown ? keptFrom({ xid, id: eventID }, feed) : head(feed)
}

/**
 * Leaves out the event of the webhook's own creation, which comes after its first place in the
 * feed: its creator need not be told.
 */
const butItsMaking = (webhookID: number, page: Fragment) => sql`
  select * from (${page}) e
  where not (e.type = 'webhook.created' and ${webhookID}::bigint = any(e.ids))`

const hookFields = sql`
  user_id as "userID", api_key_id as "apiKeyID", types, product_ids as "productIDs"`

/** The user or key whose rights the webhook has; undefined once either has ended. */
const ownerOf = (handle: Sql, hook: Hook) => readAbsentCaller(handle, hook)

/** The events that a webhook asks for, limited to those that its owner may see. */
const ownFor = (actor: Actor | undefined, { types, productIDs }: Hook): Own => {
  if (!actor?.permissions.has('Event.Read')) return { types: [], products: [] }
  const own = ownOf(actor, types ? { Type: types } : {})
  if (productIDs === null) return own
  const seen = own.products
  return { ...own, products: seen ? productIDs.filter((id) => seen.includes(id)) : productIDs }
}

/** The events a webhook may be sent now; undefined once its user or its key has ended. */
export async function ownNow(handle: Sql, webhookID: number): Promise<Own | undefined> {
  const [hook] = await handle.query<Hook>(sql`
    select ${hookFields} from webhook where webhook_id = ${webhookID} and is_active`)
  const owner = hook && (await ownerOf(handle, hook))
  return owner && ownFor(owner, hook)
}

/** Inserts deliveries whose bodies hold the events by the Standard Webhooks contract. */
const insertDeliveries = (webhookID: number, events: Fragment): Fragment => sql`
  insert into webhook_delivery (webhook_id, event_id, type, body)
  select ${webhookID}, e.event_id, e.type, json_build_object('type', e.type,
    'timestamp', ${raw(utc('e.occurred_date'))},
    'data', json_build_object('eventID', e.event_id, 'productID', e.product_id,
      'resource', e.resource, 'ids', e.ids, 'counts', e.counts, 'userID', e.user_id))::text
  from (${events}) e order by e.xid, e.event_id`

/**
 * Sends events again under their former ids, limited to events that both the caller and the owner
 * of the webhook may see.
 */
export async function replayEvents(tx: Tx, actor: Actor, input: Replay): Promise<Written> {
  const { webhookID, from, to, eventIDs } = input
  if (!from && !eventIDs) throw invalid('required', 'Give from or eventIDs.', 'from')
  if (from && to && Date.parse(to) < Date.parse(from))
    throw invalid('invalid_value', 'to is before from.', 'to')
  const id = await lockWebhook(tx, actor, webhookID)
  const [hook] = await tx.query<Hook>(sql`
    select ${hookFields} from webhook where webhook_id = ${id}`)
  const { swept } = await readFeed(tx)
  const asked = [
    isOwn(ownFor(actor, hook!)),
    isOwn(ownFor(await ownerOf(tx, hook!), hook!)),
    after(swept),
    ...(eventIDs ? [sql`e.event_id = any(${eventIDs}::bigint[])`] : []),
    ...(from ? [sql`e.occurred_date >= ${from}::timestamptz`] : []),
    ...(to ? [sql`e.occurred_date < ${to}::timestamptz + interval '1 second'`] : []),
  ]
  const events = sql`select e.* from happening e where ${join(asked, ' and ')}
    limit ${mostReplayed + 1}`
  const made = await tx.query(sql`${insertDeliveries(id, events)} returning true`)
  if (made.length > mostReplayed) throw tooMany(mostReplayed)
  return {
    json: JSON.stringify({ webhookID: id, deliveries: made.length }),
    recordCount: 1,
    ids: [id],
    changes: { ...input, deliveries: made.length },
  }
}

/** Sends a test event at once, so that a receiver can be tried out. */
export async function testWebhook(
  tx: Tx,
  actor: Actor,
  { webhookID }: WebhookName,
): Promise<Written> {
  const id = await lockWebhook(tx, actor, webhookID)
  await refuseUnserved(tx, id)
  const body = { type: 'webhook.test', timestamp: new Date().toISOString(), data: { webhookID } }
  const [row] = await tx.query<{ id: number }>(sql`
    insert into webhook_delivery (webhook_id, type, body)
    values (${id}, 'webhook.test', ${JSON.stringify(body)})
    returning webhook_delivery_id as id`)
  const sent = await render(
    tx,
    sql`select ${deliveryColumns} from webhook_delivery d
      where d.webhook_delivery_id = ${row!.id}`,
  )
  return { ...sent, ids: [id], changes: { test: row!.id } }
}

async function refuseUnserved(tx: Tx, id: number) {
  const [hook] = await tx.query<Hook & { isActive: boolean }>(sql`
    select ${hookFields}, is_active as "isActive" from webhook where webhook_id = ${id}`)
  if (!hook!.isActive)
    throw conflict(
      'wrong_state',
      'The webhook is inactive, and is sent nothing: activate it first.',
    )
  if (!(await ownerOf(tx, hook!))) throw conflict('wrong_state', ownerless)
}

/** A webhook has the rights of the user or key that last saved it. */
export const ownerless =
  'Who saved the webhook was deactivated, or their API key has ended: it is sent nothing until ' +
  'somebody else saves it.'
