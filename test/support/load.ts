import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply } from './client.ts'
import { rowsOf } from './database.ts'
import { assertVerified, type Fund } from './ledger.ts'
import { until } from './process.ts'
import { refused } from './refused.ts'
import type { Service } from './service.ts'

/** What a caller may see when something on our side fails: that it does, and when to come back. */
export function unavailable(reply: Reply) {
  refused(reply, 503)
  assert.ok(Number(reply.headers.get('retry-after')) >= 1)
}

/**
 * Clients who post without a pause, each under a key of its own, and send the same again until it
 * is acknowledged: in the end, everything they sent must be there once.
 */
export function startLoad(admin: Client, { productID, investmentID, accounts }: Fund) {
  const acknowledged: number[] = []
  let refusals = 0
  let isOver = false
  const post = async (accountID: number, key: string) => {
    const body = { productID, investmentID, accountID, amount: 1, transactionDate: '2026-01-10' }
    for (;;) {
      const headers = { 'Idempotency-Key': key }
      const reply = await admin.post('/BizTransaction/Deposit', body, headers)
      if (reply.status === 200) return acknowledged.push(reply.data[0].bizTransactionID)
      unavailable(reply)
      refusals++
      await sleep(10)
    }
  }
  const clients = accounts.map(async ({ accountID }) => {
    while (!isOver) await post(accountID, randomUUID())
  })
  const failed = Promise.all(clients).then(() => new Promise<never>(() => {}))
  return {
    refusals: () => refusals,
    /** Until as many more are acknowledged. */
    goesOn: (count = 20) => {
      const goal = acknowledged.length + count
      return Promise.race([failed, until('more writes', () => acknowledged.length >= goal)])
    },
    stop: async () => {
      isOver = true
      await Promise.all(clients)
      return acknowledged
    },
  }
}

/** Everything acknowledged is there, once; nothing else is; and the register is whole. */
export async function assertAllThere(
  service: Pick<Service, 'connection'>,
  { productID }: Fund,
  acknowledged: number[],
) {
  const rows = await rowsOf(
    service.connection,
    'select biz_transaction_id::int as id from biz_transaction where product_id = $1 order by 1',
    [productID],
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    acknowledged.toSorted((a, b) => a - b),
  )
  await assertVerified(service)
}
