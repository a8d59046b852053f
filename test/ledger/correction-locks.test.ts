import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { waitingForLocks } from '../support/database.ts'
import { assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)

/** A database session of another node in the middle of a correction. */
async function node() {
  const client = new pg.Client(service.connection)
  await client.connect()
  await client.query('begin')
  return {
    run: (text: string, values: unknown[]) => client.query(text, values),
    end: async (how: 'commit' | 'rollback') => {
      await client.query(how)
      await client.end()
    },
  }
}
const lockOf = 'select 1 from ledger_account where product_id = $1 and account_id = $2 for update'

it('A correction that waited locks what its transaction reaches from its new day', async () => {
  const { productID, investmentID, accounts } = await newFund(service, { accounts: 2, price: 1 })
  const [from, to] = accounts.map(({ accountID }) => accountID)
  const own = { accountID: from, investmentID, quantity: 10 }
  only(await post('Allotment', { ...own, transactionDate: '2026-01-02' }))
  const late = only(await post('Allotment', { ...own, transactionDate: '2026-01-20' }))
  const moved = { fromAccountID: from, toAccountID: to, investmentID, quantity: 5 }
  await post('Transfer', { ...moved, costBasis: 'Carry', transactionDate: '2026-01-10' })

  // One node moves it before the transfer, which takes cost along to the other account.
  const mover = await node()
  await mover.run(lockOf, [productID, from])
  await mover.run(
    `update biz_transaction set transaction_date = '2026-01-05' where biz_transaction_id = $1`,
    [late.bizTransactionID],
  )
  let isDone = false
  const { bizTransactionID } = late
  const correction = service.admin
    .put('/BizTransaction/Rollback', { bizTransactionID })
    .finally(() => {
      isDone = true
    })
  await until('it to wait', async () => (await waitingForLocks(service.connection)) > 0)
  const other = await node()
  await other.run(lockOf, [productID, to])
  await mover.end('commit')
  await sleep(500)
  assert.equal(isDone, false, 'it changed an account that another node holds')
  await other.end('rollback')
  only(await correction)
})
