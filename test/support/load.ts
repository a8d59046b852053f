import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply } from './client.ts'
import { rowsOf } from './database.ts'
import { assertVerified, type Fund } from './ledger.ts'
import { until } from './process.ts'
import { refused } from './refused.ts'
import type { Service } from './service.ts'

/** Asserts that an answer is 503 with a Retry-After, as it must be if something of ours fails. */
export function unavailable(reply: Reply) {
  refused(reply, 503)
  assert.ok(Number(reply.headers.get('retry-after')) >= 1)
}

/**
 * Starts clients who post without a pause, each posting under its own Idempotency-Key. They repeat
 * a posting until it is acknowledged; in the end everything they sent must be there once.
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
    /** Waits until so many more postings are acknowledged. */
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

/** Asserts that the ledger has each acknowledged posting once and no other, and is consistent. */
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
