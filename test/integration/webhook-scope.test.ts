import assert from 'node:assert/strict'
import { it } from 'node:test'
import { feedEnd } from '../support/events.ts'
import { all, newInvestment, newProduct, only } from '../support/ledger.ts'
import { withService } from '../support/service.ts'

it('A webhook of one product does not show what it told of another before', () =>
  withService({}, async (service) => {
    const { admin } = service
    const productIDs: number[] = []
    for (let i = 0; i < 2; i++) productIDs.push((await newProduct(service)).productID)
    const [mine] = productIDs
    const hook = { url: 'https://hooks.example.com/', types: ['investment.created'], productIDs }
    const { webhookID } = only(await admin.post('/Webhook', hook))
    for (const productID of productIDs) await newInvestment(service, productID)
    await feedEnd(admin)
    const replay = { webhookID, from: '2000-01-01T00:00:00Z' }
    assert.equal((await admin.post('/Webhook/Replay', replay)).data.deliveries, 2)
    only(await admin.post('/Webhook/Test', { webhookID }))
    only(await admin.put('/Webhook', { webhookID, productIDs: [mine] }))

    const rights = { permissions: ['Webhook.Read', 'Event.Read', 'Investment.Read'] }
    const reader = await service.userWith({ ...rights, productIDs: [mine] })
    const [own] = all(await reader.get('/Event?Type=investment.created'))
    const told = async (client: typeof reader) =>
      all(await client.get(`/Webhook/Delivery?WebhookID=${webhookID}`)).map(
        ({ eventID }: { eventID: number | null }) => eventID,
      )
    assert.deepEqual(await told(reader), [own.eventID, null])
    assert.equal((await told(admin)).length, 3)
  }))
