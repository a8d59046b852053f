import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startDeliveries } from '../../src/integration/webhook/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Client } from '../support/client.ts'
import { openAsService } from '../support/explain.ts'
import { only } from '../support/ledger.ts'
import { newKey } from '../support/personas.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, withService } from '../support/service.ts'

it('A webhook is not tested while it is inactive: nothing would ever come of it', () =>
  withService({}, async ({ admin }) => {
    const hook = { url: 'https://hooks.example.com/', isActive: false }
    const { webhookID } = only(await admin.post('/Webhook', hook))
    refused(await admin.post('/Webhook/Test', { webhookID }), 409, 'wrong_state')
    const deliveries = `/Webhook/Delivery?WebhookID=${webhookID}`
    assert.deepEqual((await admin.get(deliveries)).data, [])
    only(await admin.put('/Webhook', { webhookID, isActive: true }))
    only(await admin.post('/Webhook/Test', { webhookID }))
    assert.equal((await admin.get(deliveries)).recordCount, 1)
  }))

it('A test of a webhook ends with its user or API key, and no other begins', () =>
  withService({}, async (service) => {
    const { admin } = service
    const user = await service.userWith({ role: 'Administrator' })
    const key = await newKey(admin, { permissions: ['Webhook.Write', 'Event.Read'] })
    const [{ apiKeyID }] = (await admin.get('/ApiKey')).data
    const { userID } = (await user.get('/User/Me')).data
    const tested = async (client: Client): Promise<number> => {
      const hook = { url: 'https://hooks.example.com/' }
      const { webhookID } = only(await client.post('/Webhook', hook))
      only(await admin.post('/Webhook/Test', { webhookID }))
      return webhookID
    }
    const webhookIDs = [await tested(user), await tested(key)]
    assert.equal((await admin.delete(`/ApiKey?ApiKeyID=${apiKeyID}`)).status, 200)
    only(await admin.put('/User', { userID, isActive: false }))
    for (const webhookID of webhookIDs) {
      const reply = await admin.post('/Webhook/Test', { webhookID })
      refused(reply, 409, 'wrong_state')
      assert.match(reply.message!, /until somebody else saves it/)
    }
    await whileDelivering(service, async () => {
      for (const webhookID of webhookIDs) {
        const [test] = await until('the test to end', async () => {
          const { data } = await admin.get(`/Webhook/Delivery?WebhookID=${webhookID}`)
          return data[0].status === 'pending' ? undefined : data
        })
        assert.deepEqual([test.status, test.attempts], ['failed', 0])
        assert.match(test.errorMessage, /^Who saved the webhook was deactivated, or their API key/)
      }
    })
    const [webhookID] = webhookIDs
    only(await admin.put('/Webhook', { webhookID, description: 'Mine now' }))
    only(await admin.post('/Webhook/Test', { webhookID }))
  }))

async function whileDelivering({ connection }: Service, work: () => Promise<void>) {
  const database = openAsService(connection)
  // Nothing is sent, and so nothing is signed.
  const stop = startDeliveries({
    database,
    unseal: (text) => text,
    allowLocal: false,
    log: createLog('silent'),
  })
  await work().finally(stop).finally(database.close)
}
