import assert from 'node:assert/strict'
import { it } from 'node:test'
import { only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { withService } from '../support/service.ts'

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
