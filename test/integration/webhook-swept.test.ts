import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sweep } from '../../src/operations/maintenance.ts'
import { rowsOf } from '../support/database.ts'
import { whileDelivering } from '../support/deliveries.ts'
import { openAsService } from '../support/explain.ts'
import { newFund, newProduct, only } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { feedComesUp, withReceiver } from '../support/receiver.ts'
import { type Service, withService } from '../support/service.ts'

const types = ['biztransaction.posted', 'product.created']

it('A webhook that slept is sent what it missed, and no posting that is not told any more', () =>
  withService({ REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true' }, async (service) => {
    const { admin, connection } = service
    const fund = await newFund(service, { accounts: 1 })
    const happen = async () => {
      const body = { accountID: fund.accounts[0]!.accountID, investmentID: fund.investmentID }
      const deposit = { ...body, transactionDate: '2026-01-05', amount: 100, investmentPrice: 1 }
      const posted = only(await admin.post('/BizTransaction/Deposit', deposit))
      const { productID } = await newProduct(service)
      await feedComesUp(connection)
      return [`biztransaction.posted ${posted.bizTransactionID}`, `product.created ${productID}`]
    }
    const asleep = async (url: string) => {
      await feedComesUp(connection)
      const { webhookID } = only(await admin.post('/Webhook', { url, types }))
      only(await admin.put('/Webhook', { webhookID, isActive: false }))
      return webhookID as number
    }
    await happen() // the first posting of an account is of another kind
    await withReceiver(async ({ url }) => {
      const long = await asleep(url)
      await happen()
      for (const table of ['event', 'audit'])
        await rowsOf(
          connection,
          `update ${table} set occurred_date = now() - interval '91 days' where true`,
        )
      const short = await asleep(url)
      const kept = await happen()
      await afterSweep(service, async () => {
        for (const webhookID of [long, short]) {
          only(await admin.put('/Webhook', { webhookID, isActive: true }))
          assert.deepEqual(await sentTo(service, webhookID, kept), kept)
        }
      })
    })
  }))

/** What a webhook was sent once the last of what is expected has come, in the feed's order. */
async function sentTo({ admin, connection }: Service, webhookID: number, expected: string[]) {
  const told = async () => {
    const rows = await rowsOf(
      connection,
      `select type || ' ' || (body::json #>> '{data,ids,0}') as told from webhook_delivery
       where webhook_id = $1 order by webhook_delivery_id`,
      [webhookID],
    )
    return rows.map((row) => row.told as string)
  }
  return until('all to be sent', async () => {
    const { data } = await admin.get(`/Webhook/Delivery?WebhookID=${webhookID}&Status=pending`)
    const sent = await told()
    return data.length === 0 && sent.includes(expected.at(-1)!) ? sent : undefined
  })
}

async function afterSweep({ connection }: Service, work: () => Promise<void>) {
  const database = openAsService(connection)
  await sweep(database, { eventDays: 90 }).finally(database.close)
  await whileDelivering(connection, work)
}
