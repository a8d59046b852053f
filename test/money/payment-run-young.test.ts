import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { isSpread, rowsOf } from '../support/database.ts'
import { newRun, paidFund } from '../support/payment-run.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

/** The generic plan by which one row of a table is found; it shows the conditions used. */
async function conditionsOf(table: string, tests: string): Promise<string> {
  const prepared = `prepare asked (int, bigint) as
    select 1 from only ${table} x where ${tests} for key share of x`
  const text = `set plan_cache_mode = force_generic_plan; ${prepared};
    explain (format json) execute asked (1, 1)`
  return JSON.stringify(await plansOf(text))
}

/** The result of the last of several SQL statements; the driver returns a list of results. */
async function plansOf(text: string): Promise<unknown> {
  const client = new pg.Client(service.connection)
  await client.connect()
  try {
    const results = (await client.query(text)) as unknown as { rows: object[] }[]
    return results.at(-1)!.rows
  } finally {
    await client.end()
  }
}

describe('Payments that nobody has counted yet', { skip: isSpread && 'plans are apart' }, () => {
  it('are found by their key, as each of a first run is for what it is made of', async () => {
    for (const table of ['payment', 'payment_item'])
      await rowsOf(service.connection, `alter table ${table} set (autovacuum_enabled = false)`)
    const { fund } = await paidFund(service, Array<number>(40).fill(100))
    const { payments } = await newRun(service.admin, fund)
    assert.equal(payments.count, 40)
    const byPayment = await conditionsOf('payment', 'product_id = $1 and payment_id = $2')
    assert.match(byPayment, /payment_pkey/)
    assert.doesNotMatch(byPayment, /Filter/)
    const byItem = await conditionsOf('payment_item', 'product_id = $1 and biz_transaction_id = $2')
    assert.match(byItem, /payment_item_pkey/)
    assert.doesNotMatch(byItem, /Filter/)
  })
})
