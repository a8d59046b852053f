import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readDeliveries } from '../../src/integration/webhook/sql.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import { rowsOf } from '../support/database.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { only } from '../support/ledger.ts'
import { withService } from '../support/service.ts'

it('Deliveries that failed or wait are read by themselves, however many arrived', () =>
  withService({}, async ({ admin, connection }) => {
    const hook = { url: 'https://example.com', isActive: false }
    const ids = []
    for (const url of [hook.url, `${hook.url}/other`])
      ids.push(only(await admin.post('/Webhook', { ...hook, url })).webhookID)
    await rowsOf(
      connection,
      `insert into webhook_delivery (webhook_id, type, body, status)
      select w, 'product.created', '{}',
        case n % 4000 when 0 then 'failed' when 1 then 'pending' else 'delivered' end
      from unnest($1::int[]) w, generate_series(1, 20000) n`,
      [ids],
    )
    await rowsOf(connection, 'analyze webhook_delivery')
    const database = openAsService(connection)
    try {
      for (const Status of ['failed', 'pending'] as const)
        for (const Order of ['asc', 'desc'] as const)
          for (const of of [{ WebhookID: ids[0] }, {}]) {
            const query = { ...of, Status, Order }
            const readings = await readingsOf(database, async (tx) => {
              const found = await readDeliveries(tx, operator, query)
              assert.equal(found.recordCount, of.WebhookID ? 5 : 10, JSON.stringify(query))
            })
            const rows = readings.flatMap((one) => (/^webhook_d/.test(one.table) ? one.rows : []))
            assert.ok(
              rows.length > 0 && Math.max(...rows) <= 20,
              `${JSON.stringify(query)}: ${rows}`,
            )
          }
    } finally {
      await database.close()
    }
  }))
