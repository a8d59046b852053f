import assert from 'node:assert/strict'
import { it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { whileDelivering } from '../support/deliveries.ts'
import { newProduct, only } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { feedComesUp, withReceiver } from '../support/receiver.ts'
import { withService } from '../support/service.ts'

it('A delivery is repeated as often, and within as many hours, as the document says', () =>
  withService({ REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true' }, async ({ admin, connection }) => {
    const { paths } = JSON.parse((await admin.get('/openapi.json')).text)
    const [, times, hours] =
      /again, up to (\d+) times in (\d+) hours/.exec(paths['/Webhook'].post.description) ?? []
    const work = () =>
      withReceiver(async ({ url, answer }) => {
        answer(500)
        await feedComesUp(connection)
        const { webhookID } = only(
          await admin.post('/Webhook', { url, types: ['product.created'] }),
        )
        await newProduct({ admin, connection })
        const tried = (attempts: number) =>
          until(`attempt ${attempts}`, async () => {
            const [row] = await rowsOf(
              connection,
              `select status, extract(epoch from next_date - now())::float8 / 3600 as hours
             from webhook_delivery where webhook_id = $1 and attempts = $2
               and response_status is not null`,
              [webhookID, attempts],
            )
            return row as { status: string; hours: number } | undefined
          })
        let [attempts, sum] = [1, 0]
        for (let last = await tried(1); last.status !== 'failed'; last = await tried(++attempts)) {
          sum += last.hours
          await rowsOf(
            connection,
            `update webhook_delivery set next_date = now(), response_status = null
           where webhook_id = $1`,
            [webhookID],
          )
        }
        assert.deepEqual([attempts - 1, Math.ceil(sum)], [Number(times), Number(hours)])
      })
    await whileDelivering(connection, work)
  }))
