import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import type { Client } from '../support/client.ts'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { newProduct, only } from '../support/ledger.ts'
import { type Node, startNode } from '../support/node.ts'
import { until } from '../support/process.ts'
import { type Receiver, receiver } from '../support/receiver.ts'

const env = {
  REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true',
  REGISTRY_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
}

let connection: pg.ClientConfig
let node: Node
const receivers: Receiver[] = []
before(async () => {
  connection = await freshDatabase()
  node = await startNode(connection, env)
})
after(async () => {
  for (const one of receivers) one.close()
  await node.stop()
})

async function newReceiver() {
  const one = await receiver()
  receivers.push(one)
  return one
}

/** A webhook for new products. */
async function newWebhook(client: Client, url: string): Promise<number> {
  const reply = await client.post('/Webhook', { url, types: ['product.created'] })
  return only(reply).webhookID
}

const newProducts = async (count: number) => {
  const ids: number[] = []
  for (let i = 0; i < count; i++)
    ids.push((await newProduct({ admin: node.admin, connection })).productID)
  return ids
}

/** Inserts so many outstanding deliveries of existing events. */
async function owe(webhookID: number, count: number) {
  const events = await rowsOf(
    connection,
    `select event_id as id from event where type = 'product.created' limit 100`,
  )
  const eventIDs = events.map(({ id }) => Number(id))
  for (let owed = 0; owed < count; owed += eventIDs.length) {
    const reply = await node.admin.post('/Webhook/Replay', { webhookID, eventIDs })
    assert.equal(reply.status, 200, reply.text)
  }
}

const pending = async (webhookID: number): Promise<number> => {
  const sql = `select count(*)::int as count from webhook_delivery
    where webhook_id = $1 and status = 'pending'`
  return (await rowsOf(connection, sql, [webhookID]))[0].count
}

describe('Webhooks', () => {
  it('lose no event to a process that is killed (-9) while it sends', async () => {
    const { url, got, answer } = await newReceiver()
    await newWebhook(node.admin, url)
    answer('never')
    const made = await newProducts(8)
    await until('some to be on their way', () => got.length > 0)
    await node.kill()
    const before = new Map(got.map(({ headers, event }) => [event.data.eventID, headers]))
    answer(200)
    // The process that had them is dead; a minute later they are anybody's.
    await rowsOf(
      connection,
      `update webhook_delivery set next_date = now() where status = 'pending'`,
    )
    node = await startNode(connection, env)
    const told = () => new Set(got.map(({ event }) => event.data.ids[0]))
    await until('all to be sent', () => made.every((id) => told().has(id)))
    const again = got.filter(({ event }) => before.has(event.data.eventID))
    assert.ok(again.length > before.size, 'what was on its way is sent again')
    for (const { headers, event } of again)
      assert.equal(headers['webhook-id'], before.get(event.data.eventID)?.['webhook-id'])
  })

  it('stay delivered by one process where another, frozen meanwhile, fails', async () => {
    const { url, got, answer } = await newReceiver()
    const webhookID = await newWebhook(node.admin, url)
    answer('never')
    await newProducts(1)
    await until('it to be sent', () => got.length === 1)
    process.kill(node.pid, 'SIGSTOP')
    answer(200)
    const other = await startNode(connection, env)
    // As if a minute had passed: who took it must be dead.
    const due = `update webhook_delivery set next_date = now() where webhook_id = ${webhookID}`
    await rowsOf(connection, due)
    const first = async () =>
      only(await other.admin.get(`/Webhook/Delivery?WebhookID=${webhookID}&PageSize=1`))
    await until('another to send it', async () => (await first()).status === 'delivered')
    const delivered = await first()
    process.kill(node.pid, 'SIGCONT')
    const counted = `select failure_count as failures from webhook where webhook_id = ${webhookID}`
    await newProducts(1)
    await until('the next to be sent', () => got.length === 3)
    await other.stop()
    await newProducts(1)
    await until('the frozen one to go on', () => got.length === 4)
    const shown = await node.admin.get(`/Webhook/Delivery?WebhookID=${webhookID}&PageSize=1`)
    assert.deepEqual(only(shown), delivered)
    assert.deepEqual([delivered.attempts, delivered.errorMessage], [2, null])
    assert.deepEqual(await rowsOf(connection, counted), [{ failures: 0 }])
  })

  it('have four calls at a time, whatever the database thinks how many wait', async () => {
    await newProducts(10)
    const { url, got, answer } = await newReceiver()
    answer('never')
    const webhookID = await newWebhook(node.admin, url)
    // As after a sweep: there is nothing in the table, and much of it.
    await rowsOf(
      connection,
      `insert into webhook_delivery (webhook_id, type, body, status)
      select ${webhookID}, 'webhook.test', '{}', 'delivered' from generate_series(1, 400)`,
    )
    await rowsOf(connection, 'delete from webhook_delivery')
    await rowsOf(connection, 'analyze webhook_delivery')
    await owe(webhookID, 10)
    await until('some to be on their way', () => got.length >= 4)
    const taken = `select from webhook_delivery where webhook_id = ${webhookID} and attempts > 0`
    assert.equal((await rowsOf(connection, taken)).length, 4)
    await node.admin.delete(`/Webhook?WebhookID=${webhookID}`)
  })

  it('are deactivated after fifty failures in a row, and an event tells of it', async () => {
    const { url, got, answer } = await newReceiver()
    answer(500)
    const webhookID = await newWebhook(node.admin, url)
    await newProducts(10)
    await owe(webhookID, 70)
    await until('it to be deactivated', async () => {
      const { data } = await node.admin.get(`/Webhook?WebhookID=${webhookID}`)
      return data[0].isActive === false
    })
    assert.ok(got.length >= 50 && got.length < 70, `${got.length} attempts`)
    const { data } = await node.admin.get('/Event?Type=webhook.deactivated&Wait=30')
    assert.ok(data.some(({ ids }: { ids: number[] }) => ids[0] === webhookID))
    const after = got.length
    answer(200)
    await node.admin.put('/Webhook', { webhookID, url, types: ['product.created'], isActive: true })
    await until('it to go on', () => got.length > after)
  })

  it('of one caller, a thousand of them, do not delay those of another', async () => {
    const [crowded, other] = [await newReceiver(), await newReceiver()]
    crowded.answer('never')
    const busy = await newWebhook(node.admin, crowded.url)
    await owe(busy, 1000)
    const username = 'somebody-else'
    const password = 'a password for tests'
    await node.admin.post('/User', { username, password, role: 'Administrator' })
    const somebody = await node.anyone.signIn(username, password)
    await newWebhook(somebody, other.url)
    const [made] = await newProducts(1)
    await until('the event', () => other.got.some(({ event }) => event.data.ids[0] === made))
    assert.ok((await pending(busy)) >= 1000, 'the others still wait')
  })
})
