import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { verifyWebhook } from '../../client/src/index.ts'
import { sweepDeliveries } from '../../src/integration/webhook/attempt.ts'
import { startDeliveries } from '../../src/integration/webhook/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import { unseal } from '../../src/platform/secrets.ts'
import { type Database, openDatabase } from '../../src/platform/sql/handle.ts'
import { rowsOf } from '../support/database.ts'
import { newProduct, only } from '../support/ledger.ts'
import { newKey } from '../support/personas.ts'
import { until } from '../support/process.ts'
import { feedComesUp, type Told, withReceiver } from '../support/receiver.ts'
import { refused } from '../support/refused.ts'
import { encryptionKey, type Service, startService, withService } from '../support/service.ts'

let service: Service
let database: Database
let stopDeliveries: () => Promise<void>
before(async () => {
  service = await startService({ REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true' })
  database = openDatabase({
    connection: service.connection,
    role: 'registry_service',
    connections: 5,
    prepareStatements: true,
    onLostConnection: () => {},
  })
  stopDeliveries = deliver()
})
after(async () => {
  await stopDeliveries()
  await database.close()
  await service.stop()
})

const deliver = () =>
  startDeliveries({
    database,
    unseal: (text) => unseal(Buffer.from(encryptionKey, 'base64'), text),
    allowLocal: true,
    log: createLog('silent'),
    patience: 2_000,
  })

/** Creates a webhook, which is sent the events from now on. */
async function newWebhook(url: string, more: object = {}, client = service.admin) {
  await feedComesUp(service.connection)
  return only(await client.post('/Webhook', { url, ...more }))
}

const deliveriesOf = async (webhookID: number) =>
  (await service.admin.get(`/Webhook/Delivery?WebhookID=${webhookID}`)).data

const makeDue = (webhookID: number) =>
  rowsOf(
    service.connection,
    `update webhook_delivery set next_date = now() where webhook_id = $1 and status = 'pending'`,
    [webhookID],
  )

type Delivery = { status: string; attempts: number; responseStatus: number | null }

/** Waits until so many deliveries of a webhook have got an answer, whatever its status. */
const tried = (webhookID: number, count: number) =>
  until('all to be tried', async () => {
    const all: Delivery[] = await deliveriesOf(webhookID)
    return all.filter(({ responseStatus }) => responseStatus !== null).length === count
  })

describe('A webhook', () => {
  it('is sent what happens, signed, of the types and products asked for', async () => {
    await withReceiver(async ({ url, got }) => {
      const { productID } = await newProduct(service)
      const types = ['product.updated']
      const hook = await newWebhook(url, { types, productIDs: [productID] })
      assert.match(hook.secret, /^whsec_/)
      const other = await newProduct(service)
      for (const id of [other.productID, productID])
        await service.admin.put('/Product', { productID: id, name: 'Renamed', isActive: true })
      const first = await until('the event', () => got[0])
      assert.equal(first.event.type, 'product.updated')
      assert.deepEqual(first.event.data.ids, [productID])
      const headers = new Headers(first.headers as Record<string, string>)
      assert.equal(await verifyWebhook(first.body, headers, hook.secret), true)
      assert.equal(headers.get('webhook-id'), `evt_${first.event.data.eventID}`)
      await until('the delivery', async () => {
        const [one] = await deliveriesOf(hook.webhookID)
        return one?.status === 'delivered'
      })
      assert.equal(got.length, 1)
      assert.equal((await service.admin.get('/Webhook')).text.includes('whsec_'), false)
    })
  })

  it('of everything stays one of everything when it is read and sent back', async () => {
    await withReceiver(async ({ url, got }) => {
      const { productID } = await newProduct(service)
      const limited = await service.userWith({ role: 'Administrator', productIDs: [productID] })
      const { webhookID } = await newWebhook(url, { types: [], productIDs: [] })
      const path = `/Webhook?WebhookID=${webhookID}`
      const read = only(await service.admin.get(path))
      assert.deepEqual([read.types, read.productIDs], [[], []])
      assert.equal((await service.admin.put('/Webhook', read)).status, 200)
      assert.deepEqual((await limited.get(path)).data, [])
      refused(await limited.post('/Webhook/RotateSecret', { webhookID }), 404, 'not_found')
      await service.admin.put('/Product', { productID, name: 'Renamed', isActive: true })
      await until('the event', () => got.find(({ event }) => event.type === 'product.updated'))
      const own = only(await limited.post('/Webhook', { url, types: [], productIDs: [] }))
      assert.deepEqual(own.productIDs, [productID])
    })
  })

  it('of an API key sends what the key may see, while there is the key', async () => {
    await withReceiver(async ({ url, got }) => {
      const [own, other] = [await newProduct(service), await newProduct(service)]
      const permissions = ['Webhook.Write', 'Event.Read', 'Product.Read'] as const
      const key = await newKey(service.admin, { permissions, productIDs: [own.productID] })
      const types = ['product.updated', 'person.created']
      const { webhookID, apiKeyID } = await newWebhook(url, { types }, key)
      const { data: me } = await key.get('/User/Me')
      assert.equal(apiKeyID, me.apiKeyID)
      const happens = async () => {
        await service.admin.post('/Person', { firstName: 'Pat' })
        for (const { productID } of [other, own])
          await service.admin.put('/Product', { productID, name: 'Renamed', isActive: true })
      }
      const seen = () => got.map(({ event }) => [event.type, event.data.ids?.[0]])
      await happens()
      await until('the event', () => got.length === 1)
      assert.deepEqual(seen(), [['product.updated', own.productID]])
      const again = { webhookID, from: '2020-01-01T00:00:00Z' }
      const asked = await service.admin.post('/Webhook/Replay', again)
      assert.equal(asked.data.deliveries, 1, 'not more than the key may see, whoever asks')
      await until('the event again', () => got.length === 2)

      await service.admin.delete(`/ApiKey?ApiKeyID=${apiKeyID}`)
      refused(await service.admin.post('/Webhook/Test', { webhookID }), 409, 'wrong_state')
      await happens()
      assert.equal((await service.admin.post('/Webhook/Replay', again)).data.deliveries, 0)
      await withReceiver(async (others) => {
        await newWebhook(others.url, { types })
        await happens()
        await until('another webhook to have all', () => others.got.length === 3)
      })
      assert.equal(got.length, 2, 'nothing is sent any more')
      // Saved by a person it is theirs, and goes on where it stood.
      const saved = only(await service.admin.put('/Webhook', { webhookID }))
      assert.equal(saved.apiKeyID, null)
      const updates = () => seen().filter(([type]) => type === 'product.updated')
      await until('what happened since', () => updates().length === 4)
      await service.admin.delete(`/Webhook?WebhookID=${webhookID}`)
    })
  })

  it('sends nothing any more for a user who is made inactive, not even what waits', async () => {
    await withReceiver(async ({ url, got, answer }) => {
      const permissions = ['Webhook.Write', 'Event.Read', 'Product.Read'] as const
      const user = await service.userWith({ permissions })
      const { userID } = (await user.get('/User/Me')).data
      answer(500)
      const { webhookID } = await newWebhook(url, { types: ['product.created'] }, user)
      await newProduct(service)
      await until('the first try', async () => (await deliveriesOf(webhookID))[0]?.responseStatus)
      only(await service.admin.put('/User', { userID, isActive: false }))
      await makeDue(webhookID)
      await withReceiver(async (others) => {
        await newWebhook(others.url, { types: ['product.created'] })
        await newProduct(service)
        await until('another webhook to be served', () => others.got.length === 1)
      })
      assert.equal(got.length, 1)
      await service.admin.delete(`/Webhook?WebhookID=${webhookID}`)
    })
  })

  it('sends what waited only as far as its user or key may still see it', async () => {
    await withReceiver(async ({ url, got, answer }) => {
      const [kept, lost] = [await newProduct(service), await newProduct(service)]
      const productIDs = [kept.productID, lost.productID]
      const permissions = ['Webhook.Write', 'Event.Read', 'Product.Read', 'Person.Read'] as const
      const user = await service.userWith({ permissions, productIDs })
      const key = await newKey(user, { permissions })
      const { userID } = (await user.get('/User/Me')).data
      answer(500)
      const types = ['product.updated']
      const hooks = [await newWebhook(url, { types }, user), await newWebhook(url, { types }, key)]
      for (const productID of productIDs)
        only(await service.admin.put('/Product', { productID, name: 'Renamed', isActive: true }))
      for (const { webhookID } of hooks) await tried(webhookID, 2)
      only(await service.admin.put('/User', { userID, productIDs: [kept.productID] }))
      answer(200)
      for (const { webhookID } of hooks) {
        await makeDue(webhookID)
        const settled = await until('what waits to be settled', async () => {
          const all = await deliveriesOf(webhookID)
          return all.every(({ status }: { status: string }) => status !== 'pending') && all
        })
        assert.deepEqual(
          settled.map(({ status, attempts }: Delivery) => [status, attempts]),
          [
            ['delivered', 2],
            ['failed', 1],
          ],
        )
        assert.match(settled[1].errorMessage, /may not see it/)
        assert.equal((await service.admin.get(`/Webhook?WebhookID=${webhookID}`)).recordCount, 1)
      }
      const again = got.slice(4).map(({ event }) => event.data.productID)
      assert.deepEqual(again, [kept.productID, kept.productID])

      answer(500)
      const [{ webhookID }] = hooks as [{ webhookID: number }]
      const { productID } = kept
      only(await service.admin.put('/Product', { productID, name: 'Again', isActive: true }))
      await tried(webhookID, 3)
      only(await service.admin.put('/User', { userID, permissions: ['Webhook.Write'] }))
      only(await service.admin.post('/Webhook/Test', { webhookID }))
      await makeDue(webhookID)
      await until('the test alone to be sent', async () => {
        const [test, event] = (await deliveriesOf(webhookID)).reverse()
        return test.attempts > 0 && event.status === 'failed'
      })
      for (const hook of hooks) await service.admin.delete(`/Webhook?WebhookID=${hook.webhookID}`)
    })
  })

  it('is sent again what it did not take, under the same id', async () => {
    await withReceiver(async ({ url, got, answer }) => {
      answer(302)
      const hook = await newWebhook(url, { types: ['product.created'] })
      await newProduct(service)
      await until('the first attempt', () => got.length === 1)
      const failed = await until('the failure to be told', async () => {
        const [one] = await deliveriesOf(hook.webhookID)
        return one.errorMessage && one
      })
      assert.deepEqual([failed.status, failed.responseStatus], ['pending', 302])
      answer(204)
      await makeDue(hook.webhookID)
      await until('the delivery', async () => {
        const [one] = await deliveriesOf(hook.webhookID)
        return one.status === 'delivered' && one.attempts === 2
      })
      const [first, second] = got
      assert.equal(first!.headers['webhook-id'], second!.headers['webhook-id'])
    })
  })

  it('is sent what happens once it is made, and not that it was', async () => {
    await withReceiver(async ({ url, got }) => {
      await stopDeliveries()
      const types = ['product.created', 'webhook.created']
      const hook = await newWebhook(url, { types })
      const asleep = await newWebhook(url, { types, isActive: false })
      const first = await newProduct(service)
      await feedComesUp(service.connection)
      await service.admin.put('/Webhook', { webhookID: asleep.webhookID, isActive: true })
      const second = await newProduct(service)
      stopDeliveries = deliver()
      await until('all to be sent', () => got.length === 4)
      const told = got.map(({ event }) => `${event.type} ${event.data.ids[0]}`).sort()
      const made = [first, second, second].map(({ productID }) => `product.created ${productID}`)
      assert.deepEqual(told, [...made, `webhook.created ${asleep.webhookID}`].sort())
      for (const { webhookID } of [hook, asleep])
        await service.admin.delete(`/Webhook?WebhookID=${webhookID}`)
    })
  })

  it('that is slow delays nobody else', async () => {
    await withReceiver(async (slow) => {
      await withReceiver(async (quick) => {
        slow.answer('never')
        const types = ['person.created']
        const [lazy, busy] = [
          await newWebhook(slow.url, { types }),
          await newWebhook(quick.url, { types }),
        ]
        for (let i = 0; i < 12; i++) await service.admin.post('/Person', { firstName: `P${i}` })
        await until('the quick one to have all', () => quick.got.length === 12)
        const open = await deliveriesOf(lazy.webhookID)
        assert.ok(open.every(({ status }: { status: string }) => status !== 'delivered'))
        for (const { webhookID } of [lazy, busy])
          await service.admin.delete(`/Webhook?WebhookID=${webhookID}`)
      })
    })
  })

  it('loses no event to a worker that stops in the middle, and goes on with the next', async () => {
    await withReceiver(async ({ url, got }) => {
      const hook = await newWebhook(url, { types: ['product.created'] })
      await stopDeliveries()
      const made: number[] = []
      for (let i = 0; i < 5; i++) made.push((await newProduct(service)).productID)
      stopDeliveries = deliver()
      await until('all to be sent', () => got.length >= 5)
      const told = got.map(({ event }) => event.data.ids[0]!)
      assert.deepEqual(
        told.sort((a, b) => a - b),
        made,
      )
      await service.admin.delete(`/Webhook?WebhookID=${hook.webhookID}`)
    })
  })

  it('that is gone is deactivated, and an event tells of it', async () => {
    await withReceiver(async ({ url, got, answer }) => {
      answer(410)
      const hook = await newWebhook(url, { types: ['product.created'] })
      await newProduct(service)
      await until('the attempt', () => got.length === 1)
      const { webhookID } = hook
      await until('it to be deactivated', async () => {
        const { data } = await service.admin.get(`/Webhook?WebhookID=${webhookID}`)
        return data[0].isActive === false
      })
      await until('the event', async () => {
        const { data } = await service.admin.get('/Event?Type=webhook.deactivated')
        return data.some(({ ids }: Told) => ids[0] === webhookID)
      })
    })
  })

  it('that is sent nothing any more does not keep what is old from going', async () => {
    const url = 'https://example.com/hook'
    const { webhookID } = only(await service.admin.post('/Webhook', { url, isActive: false }))
    await rowsOf(
      service.connection,
      `insert into webhook_delivery (webhook_id, type, body, status, created_date)
       select $1, 'product.created', '{}', case when n < 6000 then 'pending' else 'delivered' end,
         now() - make_interval(days => case when n = 6000 then 89 else 91 end)
       from generate_series(1, 6001) n`,
      [webhookID],
    )
    // Younger ones of other tests stand before these, and end a round.
    for (const _round of [1, 2]) await database.transaction((tx) => sweepDeliveries(tx, 90))
    assert.equal((await deliveriesOf(webhookID)).length, 1)
  })

  it('is signed with both secrets while one is replaced', async () => {
    await withReceiver(async ({ url, got }) => {
      const hook = await newWebhook(url, { types: ['webhook.created'] })
      const { webhookID } = hook
      const renewed = only(await service.admin.post('/Webhook/RotateSecret', { webhookID }))
      only(await service.admin.post('/Webhook/Test', { webhookID }))
      const isTest = ({ event }: (typeof got)[number]) => event.type === 'webhook.test'
      const { body, headers } = await until('the test', () => got.find(isTest))
      for (const secret of [hook.secret, renewed.secret])
        assert.ok(await verifyWebhook(body, new Headers(headers as Record<string, string>), secret))
    })
  })

  it('is sent old events again when asked, under their ids', async () => {
    await withReceiver(async ({ url, got }) => {
      const hook = await newWebhook(url, { types: ['product.created'] })
      await newProduct(service)
      const first = await until('the event', () => got[0])
      const { webhookID } = hook
      const eventIDs = [first.event.data.eventID]
      const reply = await service.admin.post('/Webhook/Replay', { webhookID, eventIDs })
      assert.equal(reply.data.deliveries, 1, reply.text)
      await until('it again', () => got.length === 2)
      assert.equal(got[1]!.headers['webhook-id'], first.headers['webhook-id'])
      refused(await service.admin.post('/Webhook/Replay', { webhookID }), 400, 'required')
      const backwards = { from: '2026-07-02T00:00:00Z', to: '2026-07-02T00:00:00+01:00' }
      const reply400 = await service.admin.post('/Webhook/Replay', { webhookID, ...backwards })
      refused(reply400, 400, 'invalid_value')
    })
  })

  it('is refused at an address that is not public, or not https', async () => {
    const bad = [
      'http://example.com/',
      'https://10.1.2.3/',
      'https://[::ffff:10.1.2.3]/',
      'https://[fd00::1]/',
      'https://169.254.169.254/latest/meta-data',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://127.1/',
      'https://[::1]/',
      'https://[::ffff:7f00:1]/',
      'https://localhost/',
      'http://[::ffff:127.0.0.1]/',
      'https://user:secret@example.com/',
      'ftp://example.com/',
      'not an address',
    ]
    // A service that is not told to let them go to its own machine.
    await withService(
      {},
      async ({ admin }) => {
        for (const url of bad) refused(await admin.post('/Webhook', { url }), 400, 'invalid_value')
      },
      service.connection,
    )
    assert.equal((await service.admin.get('/Webhook?WebhookID=999999')).recordCount, 0)
  })
})
