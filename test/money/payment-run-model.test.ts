import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { account, fundOf, newPaymentDetail } from '../support/distribution.ts'
import { assertVerified, type Fund, poster } from '../support/ledger.ts'
import { mend, paymentsOf, payOut, runBody } from '../support/payment-run.ts'
import { type Service, startService } from '../support/service.ts'
import { walks } from '../support/walks.ts'

let service: Service
let second: Service
let approvers: Client[]
before(async () => {
  service = await startService()
  second = await startService({}, service.connection)
  const user = { role: 'Administrator' }
  approvers = [await service.userWith(user), await second.userWith(user)]
})
after(async () => {
  await second.stop()
  await service.stop()
})

const holders = 4
const step = fc.record({
  what: fc.constantFrom(
    'pay',
    'redeem',
    'rollback',
    'create',
    'create',
    'approve',
    'send',
    'result',
    'result',
    'reissue',
    'unclaimed',
    'delete',
    'bend',
    'mend',
  ),
  which: fc.nat({ max: 1000 }),
  other: fc.nat({ max: 1000 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe('Random steps of runs from two nodes at once', () => {
  it('put nothing into two runs, pay nobody twice, and leave all of it tied', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), play), {
      numRuns: 20 * walks,
      interruptAfterTimeLimit: 20_000 * walks,
      endOnFailure: true,
    })
    await assertVerified(service)
  })
})

async function play(steps: Step[]) {
  const fund = await fundOf(service, Array(holders).fill(1000))
  for (const { accountID } of fund.accounts) {
    const id = await newPaymentDetail(service, accountID)
    await rowsOf(
      service.connection,
      'update payment_detail set is_for_redemption = true where payment_detail_id = $1',
      [id],
    )
  }
  await payOut(service, fund, 0.25)
  // Every step comes from both nodes at once: what one does, the other must find done.
  for (const one of steps)
    await Promise.all([service, second].map((node, i) => act(node, approvers[i]!, fund, one)))
  await paysOnce(fund)
}

/** Takes a step, which may be refused but must not fail with a status of 500 or more. */
async function act(node: Service, approver: Client, fund: Fund, { what, which, other }: Step) {
  const call = async (client: Client, name: string, body: object) => {
    const { status, text } = await client.post(`/PaymentRun${name}`, body)
    assert.ok(status < 500, `${name}: ${text}`)
  }
  const owner = account(fund, which % holders)
  const paymentRunID = await runOf(fund, which)
  const key = { paymentRunID }
  if (what === 'pay') return node === service ? void (await payOut(node, fund, 0.1)) : undefined
  if (what === 'redeem') return redeem(node, fund, owner, other)
  if (what === 'rollback') return rollBack(node, fund, which)
  if (what === 'create') return call(node.admin, '', runBody(fund, { upToDate: '2025-12-31' }))
  if (what === 'bend') return void (await mend(service, owner, "bsb = '000000'"))
  if (what === 'mend') return void (await mend(service, owner, "bsb = '062000'"))
  if (!paymentRunID) return undefined
  if (what === 'approve') return call(approver, '/Approve', key)
  if (what === 'send') return call(node.admin, '/Sent', key)
  if (what === 'reissue') return call(node.admin, '/Reissue', key)
  if (what === 'unclaimed') return call(node.admin, '/Unclaimed', { ...key, days: 0 })
  if (what === 'delete') {
    const { status, text } = await node.admin.delete(`/PaymentRun?PaymentRunID=${paymentRunID}`)
    return assert.ok(status < 500, text)
  }
  const payments = (await paymentsOf(node.admin, { paymentRunID }))
    .filter(({ state }: { state: string }) => state === 'Sent')
    .map(({ paymentID }: { paymentID: number }, i: number) => ({
      paymentID,
      state: (other >> i) % 2 ? 'Paid' : 'Returned',
    }))
  return payments.length > 0 ? call(node.admin, '/Result', { ...key, payments }) : undefined
}

async function runOf({ productID }: Fund, which: number): Promise<number | undefined> {
  const runs = await rowsOf(
    service.connection,
    'select payment_run_id as id from payment_run where product_id = $1 order by 1',
    [productID],
  )
  return runs.length > 0 ? runs[which % runs.length].id : undefined
}

async function redeem(node: Service, fund: Fund, accountID: number, amount: number) {
  const body = { accountID, investmentID: fund.investmentID, transactionDate: '2025-08-01' }
  const { status, text } = await poster(() => node.admin)('Redemption', {
    ...body,
    quantity: 1 + (amount % 30),
  })
  assert.ok(status < 500, text)
}

async function rollBack(node: Service, { productID }: Fund, which: number) {
  const redeemed = await rowsOf(
    service.connection,
    `select biz_transaction_id as id from biz_transaction
    where product_id = $1 and biz_transaction_type_id = 3 order by 1`,
    [productID],
  )
  if (redeemed.length === 0) return
  const { status, text } = await node.admin.put('/BizTransaction/Rollback', {
    bizTransactionID: redeemed[which % redeemed.length].id,
  })
  assert.ok(status < 500, text)
}

/** Asserts that payment runs pay no account more than was posted for it. */
async function paysOnce({ productID }: Fund) {
  const rows = await rowsOf(
    service.connection,
    `select a.account_id, t.posted, coalesce(p.paid, 0) as paid
    from account a
    join (select account_id, sum(abs(amount)) as posted from biz_transaction
      where product_id = $1 and biz_transaction_type_id in (3, 10)
        and biz_transaction_status_id <> 3 group by account_id) t using (account_id)
    left join (select p.account_id, sum(p.amount) as paid from payment p
      join payment_run r using (product_id, payment_run_id)
      where product_id = $1 and p.state <> 'Reissued' and r.state <> 'Draft'
      group by p.account_id) p using (account_id)
    where coalesce(p.paid, 0) > t.posted`,
    [productID],
  )
  assert.deepEqual(rows, [])
  const twice = await rowsOf(
    service.connection,
    `select m.biz_transaction_id from payment_item m
    join payment p using (product_id, payment_id)
    where m.product_id = $1 group by 1 having count(*) > 1`,
    [productID],
  )
  assert.deepEqual(twice, [])
}
