import { randomBytes } from 'node:crypto'
import sql, { join } from 'sql-template-tag'
import { firstMissing } from '../../catalogue/product/sql.ts'
import type { Actor } from '../../platform/actor.ts'
import { notFound, Refusal } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { readFeed } from '../event/sql.ts'
import {
  Delivery,
  type DeliveryQuery,
  Webhook,
  type WebhookInput,
  type WebhookKey,
  type WebhookName,
  type WebhookQuery,
  type WebhookUpdate,
} from './schema.ts'

export type Seal = (text: string) => string

const webhookColumns = columns(Webhook, 'w')
const lists = sql`coalesce(to_json(w.types), '[]') as types,
  coalesce(to_json(w.product_ids), '[]') as "productIDs"`

/** A caller limited to some products sees only webhooks limited to these products. */
const visible = ({ productIDs }: Actor): Fragment =>
  productIDs === null ? sql`true` : sql`w.product_ids <@ ${productIDs}::int[]`

export const readWebhooks = (handle: Sql, actor: Actor, query: WebhookQuery) => {
  const { WebhookID } = query
  const asked = [visible(actor), ...(WebhookID ? [sql`w.webhook_id = ${WebhookID}`] : [])]
  return renderPage(handle, query, {
    key: ['webhookID'],
    rows: (wanted) => sql`
      select ${webhookColumns}, ${lists} from webhook w
      where ${join(asked, ' and ')} ${page(wanted, 'webhook w', 'w.webhook_id')}`,
  })
}

export const deliveryColumns = columns(Delivery, 'd')

/** Written out, because the indexes of deliveries are each for one status. */
const inStatus = {
  pending: sql`d.status = 'pending'`,
  delivered: sql`d.status = 'delivered'`,
  failed: sql`d.status = 'failed'`,
}

export const readDeliveries = (handle: Sql, actor: Actor, query: DeliveryQuery) => {
  const { WebhookID, Status } = query
  const asked = [
    sql`exists (select 1 from webhook w where w.webhook_id = d.webhook_id and ${visible(actor)})`,
    ...(actor.productIDs ? [tellsOf(actor.productIDs)] : []),
    ...(WebhookID ? [sql`d.webhook_id = ${WebhookID}`] : []),
    ...(Status ? [inStatus[Status]] : []),
  ]
  return renderPage(handle, query, {
    key: ['webhookDeliveryID'],
    rows: (wanted) => sql`
      select ${deliveryColumns} from webhook_delivery d where ${join(asked, ' and ')}
      ${page(wanted, 'webhook_delivery d', 'd.webhook_delivery_id')}`,
  })
}

/**
 * A test, or an event of these products: a delivery may date from when the webhook asked for
 * others.
 */
const tellsOf = (products: readonly number[]): Fragment => sql`(d.event_id is null
  or coalesce((d.body::json #>> '{data,productID}')::int = any(${products}::int[]), false))`

const renderWebhook = (tx: Tx, id: number, secret?: string) =>
  render(
    tx,
    sql`select ${webhookColumns}, ${lists} ${secret ? sql`, ${secret}::text as secret` : sql``}
      from webhook w where w.webhook_id = ${id}`,
  )

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

export async function createWebhook(
  tx: Tx,
  actor: Actor,
  input: WebhookInput,
  seal: Seal,
  secret = newSecret(),
): Promise<Written> {
  const { url, types, isActive = true, description } = input
  const products = await productsFor(tx, actor, input.productIDs)
  const [row] = await tx.query<{ id: number }>(sql`
    insert into webhook
      (url, types, product_ids, is_active, description, user_id, api_key_id, secret)
    values (${url}, ${listed(types)}, ${products}, ${isActive}, ${description}, ${actor.userID},
      ${actor.apiKeyID ?? null}, ${seal(secret)})
    returning webhook_id as id`)
  const { id } = row!
  await beginNow(tx, id)
  return { ...(await renderWebhook(tx, id, secret)), ids: [id], changes: input, secret }
}

/**
 * Starts the webhook at the present head of the feed, so that it misses no later event, however
 * long it takes until the first delivery is made.
 */
async function beginNow(tx: Tx, id: number) {
  const { epoch, horizon } = await readFeed(tx)
  await tx.query(sql`
    update webhook set place_epoch = ${epoch}, place_xid = ${horizon}::xid8, place_event_id = 0
    where webhook_id = ${id} and is_active and place_xid is null`)
}

/** An empty list means all, and is stored as null. */
const listed = <T>(given: readonly T[] | undefined) => (given?.length ? given : null)

/** The products of a webhook; a caller may only choose products that it sees itself. */
async function productsFor(tx: Tx, actor: Actor, given: number[] | undefined) {
  const products = listed(given) ?? actor.productIDs
  if (products?.length === 0)
    throw notFound('not_found', 'There is no product whose events you may see.', 'productIDs')
  const missing = await firstMissing(tx, actor, products ?? [])
  if (missing !== undefined)
    throw notFound('not_found', `There is no product ${missing}.`, 'productIDs')
  return products
}

/**
 * Changes a webhook; fields that are left out stay. Setting isActive to true resets its failure
 * count.
 */
export async function updateWebhook(tx: Tx, actor: Actor, input: WebhookUpdate): Promise<Written> {
  const id = await lockWebhook(tx, actor, input.webhookID)
  const { url, types, productIDs, isActive, description } = input
  const products = productIDs ? await productsFor(tx, actor, productIDs) : null
  const { json: before } = await renderWebhook(tx, id)
  await tx.query(sql`
    update webhook set url = coalesce(${url}, url),
      types = case when ${types !== undefined} then ${listed(types)}::text[] else types end,
      product_ids = case when ${productIDs !== undefined} then ${products}::int[]
        else product_ids end,
      is_active = coalesce(${isActive}, is_active),
      description = coalesce(${description}, description),
      failure_count = case when ${isActive ?? false} then 0 else failure_count end,
      user_id = ${actor.userID}, api_key_id = ${actor.apiKeyID ?? null}, updated_date = now()
    where webhook_id = ${id}`)
  await beginNow(tx, id)
  const after = await renderWebhook(tx, id)
  return { ...after, ids: [id], before, changes: changesBetween(Webhook, before, after.json) }
}

export async function deleteWebhook(tx: Tx, actor: Actor, key: WebhookKey): Promise<Written> {
  const id = await lockWebhook(tx, actor, key.WebhookID)
  const { json: before } = await renderWebhook(tx, id)
  await tx.query(sql`delete from webhook where webhook_id = ${id}`)
  return { ...nothingLeft, ids: [id], before, changes: { deleted: recordOf(before) } }
}

/** Sets a new secret; the former secret signs as well for a day. */
export async function rotateSecret(
  tx: Tx,
  actor: Actor,
  { webhookID }: WebhookName,
  seal: Seal,
  secret = newSecret(),
): Promise<Written> {
  const id = await lockWebhook(tx, actor, webhookID)
  await tx.query(sql`
    update webhook set previous_secret = secret, previous_until = now() + interval '24 hours',
      secret = ${seal(secret)}, updated_date = now()
    where webhook_id = ${id}`)
  const changes = { secret: 'replaced' }
  return { ...(await renderWebhook(tx, id, secret)), ids: [id], changes, secret }
}

export async function lockWebhook(tx: Tx, actor: Actor, id: number): Promise<number> {
  const [row] = await tx.query(sql`
    select 1 from webhook w where w.webhook_id = ${id} and ${visible(actor)} for update`)
  if (!row) throw notFound('not_found', `No record was found for webhookID ${id}.`, 'webhookID')
  return id
}

export const tooMany = (most: number) =>
  new Refusal(400, [
    { code: 'too_many', message: `More than ${most} events; take a shorter time.`, field: 'from' },
  ])
