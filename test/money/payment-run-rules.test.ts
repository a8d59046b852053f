import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { account, allot, configure, entitled, fundOf, stage } from '../support/distribution.ts'
import { all, assertVerified, dayIn, type Fund, only, poster } from '../support/ledger.ts'
import {
  mend,
  newRun,
  paidFund,
  paymentsOf,
  payOut,
  runBody,
  step,
} from '../support/payment-run.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let approver: Client
before(async () => {
  service = await startService()
  approver = await service.userWith({ role: 'Administrator' })
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const create = (fund: Fund, more: object) => service.admin.post('/PaymentRun', runBody(fund, more))

/** A payment run that was sent to the bank. */
async function sentRun(fund: Fund, more: object = {}) {
  const run = await newRun(service.admin, fund, more)
  await step(approver, 'Approve', run)
  await step(service.admin, 'Sent', run)
  return run
}

describe('What a run takes', () => {
  it('is nothing that is to be paid later than the bank works on it', async () => {
    const { fund } = await paidFund(service, [100])
    const paymentDate = dayIn(7)
    const ahead = await configure(service, fund, { distributionAmountPerUnit: 0.5, paymentDate })
    for (const name of ['Declare', 'Payment'] as const) await stage(service.admin, name, ahead)
    const now = await newRun(service.admin, fund, { processingDate: dayIn(6) })
    assert.deepEqual(now.payments, { count: 1, amount: 100 })
    const early = await create(fund, { processingDate: dayIn(6) })
    refused(early, 409, 'nothing_to_pay')
    assert.match(early.message!, new RegExp(dayIn(6)))
    const then = await newRun(service.admin, fund, { processingDate: paymentDate })
    assert.deepEqual(then.payments, { count: 1, amount: 50 })
  })

  it('is of distributions that are named: none is all, one that is not there 404', async () => {
    const { fund, distribution } = await paidFund(service, [100])
    const { distribution: foreign } = await paidFund(service, [100])
    const ids = [distribution, foreign].map(({ corporateActionID }) => corporateActionID)
    const absent = await create(fund, { corporateActionIDs: [...ids, 999_999] })
    refused(absent, 404, 'not_found')
    assert.deepEqual(fieldsOf(absent), ['corporateActionIDs[1]', 'corporateActionIDs[2]'])
    await payOut(service, fund, 0.5)
    const all = await newRun(service.admin, fund, { corporateActionIDs: [] })
    assert.deepEqual(all.payments, { count: 1, amount: 150 })
  })
})

describe('POST /PaymentRun/Result', () => {
  it('takes no day that has not come or was before the run, and no payment twice', async () => {
    const { fund } = await paidFund(service, [100, 200])
    const run = await sentRun(fund)
    const [first, other] = await paymentsOf(service.admin, run)
    const { paymentID, reference } = first
    const tell = (...payments: object[]) =>
      service.admin.post('/PaymentRun/Result', { paymentRunID: run.paymentRunID, payments })
    const state = 'Returned'
    const ahead = await tell(
      { paymentID, state, date: dayIn() },
      { reference, state, date: dayIn(2) },
    )
    refused(ahead, 400, 'out_of_range')
    assert.deepEqual(fieldsOf(ahead), ['payments[1].date'])
    assert.equal(run.processingDate, '2025-07-15')
    const before = await tell(
      { paymentID, state, date: '2025-07-14' },
      { paymentID: other.paymentID, state, date: '2025-07-15' },
    )
    refused(before, 400, 'out_of_range')
    assert.deepEqual(fieldsOf(before), ['payments[0].date'])
    assert.match(before.message!, /before the run, which is of 2025-07-15/)
    const twice = await tell(
      { paymentID, state },
      { paymentID: other.paymentID, state },
      { reference, state: 'Paid' },
    )
    refused(twice, 400, 'given_twice')
    assert.deepEqual(fieldsOf(twice), ['payments[2]'])
    assert.match(twice.message!, /same payment as payments\[0\]/)
    only(await tell({ paymentID, state, date: dayIn() }, { paymentID: other.paymentID, state }))
  })

  it('needs no run where payments are named: it is that of the first, in scope', async () => {
    const { fund } = await paidFund(service, [100, 200])
    const run = await sentRun(fund)
    const [first, other] = await paymentsOf(service.admin, run)
    const { fund: another } = await paidFund(service, [100])
    const [foreign] = await paymentsOf(service.admin, await sentRun(another))
    const tell = (client: Client, ...payments: object[]) =>
      client.post('/PaymentRun/Result', { payments })
    const paid = { paymentID: first.paymentID, state: 'Paid' }
    const mixed = await tell(service.admin, paid, { reference: foreign.reference, state: 'Paid' })
    refused(mixed, 404, 'not_found')
    assert.deepEqual(fieldsOf(mixed), ['payments[1]'])
    refused(await tell(service.admin, { reference: 'PAY 999999999', state: 'Paid' }), 404)
    refused(await tell(service.admin, { state: 'Paid' }), 400, 'required')
    const productIDs = [another.productID]
    const elsewhere = await service.userWith({ role: 'Operator', productIDs })
    refused(await tell(elsewhere, paid), 404, 'not_found')
    const told = only(await tell(service.admin, { reference: other.reference, state: 'Paid' }))
    assert.deepEqual([told.paymentRunID, told.state], [run.paymentRunID, 'Sent'])
    assert.equal(only(await tell(service.admin, paid)).state, 'Closed')
    refused(await tell(service.admin, paid), 409, 'wrong_state')
  })
})

describe('A draft that sends returned money again', () => {
  /** A draft that reissues a returned payment for two redemptions of one holder. */
  async function returned() {
    const { fund } = await paidFund(service, [100])
    await mend(service, account(fund, 0), 'is_for_redemption = true')
    const own = { accountID: account(fund, 0), investmentID: fund.investmentID }
    const redeem = async (quantity: number): Promise<number> =>
      only(await poster(() => service.admin)('Redemption', { ...own, quantity })).bizTransactionID
    const ids = [await redeem(5), await redeem(7)]
    const run = await sentRun(fund, { sources: ['Redemption'] })
    const [{ paymentID }] = await paymentsOf(service.admin, run)
    await step(service.admin, 'Result', run, { payments: [{ paymentID, state: 'Returned' }] })
    const draft = await step(service.admin, 'Reissue', run)
    const rollBack = async (bizTransactionID: number) =>
      only(await service.admin.put('/BizTransaction/Rollback', { bizTransactionID }))
    const drop = async () => {
      const path = `/PaymentRun?PaymentRunID=${draft.paymentRunID}`
      assert.equal((await service.admin.delete(path)).status, 200)
    }
    const first = async () => {
      const now = only(await service.admin.get(`/PaymentRun?PaymentRunID=${run.paymentRunID}`))
      return [now.state, (await paymentsOf(service.admin, run))[0].state]
    }
    return { fund, ids, rollBack, drop, first }
  }

  it('loses what is rolled back; what is left is payable when the draft goes', async () => {
    const { fund, ids, rollBack, drop, first } = await returned()
    await rollBack(ids[0]!)
    await drop()
    assert.deepEqual(await first(), ['Closed', 'Reissued'])
    const next = await newRun(service.admin, fund, { sources: ['Redemption'] })
    assert.deepEqual(next.payments, { count: 1, amount: 7 })
    await assertVerified(service)
  })

  it('and all of it rolled back leaves nothing returned, unclaimed or payable', async () => {
    const { fund, ids, rollBack, drop, first } = await returned()
    for (const id of ids) await rollBack(id)
    await drop()
    assert.deepEqual(await first(), ['Closed', 'Reissued'])
    refused(await create(fund, { sources: ['Redemption'] }), 409, 'nothing_to_pay')
  })

  it('gives all of it back as returned when nothing was', async () => {
    const { drop, first } = await returned()
    assert.deepEqual(await first(), ['Closed', 'Reissued'])
    await drop()
    assert.deepEqual(await first(), ['Sent', 'Returned'])
  })
})

describe('Money in another currency than the product', () => {
  it('goes to the account that is of it, whatever the default; else to the default', async () => {
    const investments = [{}, { currencyID: 8 }]
    const fund = await fundOf(service, [10, 10], { investments })
    const [aud, yen] = fund.investmentIDs as [number, number]
    const [first, second] = fund.accounts
    const bank = { bsb: '062-000', isForDistribution: true, isForRedemption: true }
    const detail = (bizEntityID: number, accountNumber: string, more: object) =>
      service.admin.post('/PaymentDetail', { bizEntityID, accountNumber, ...bank, ...more })
    only(await detail(first!.bizEntityID, '123111', { currencyID: 1, isDefault: true }))
    only(await detail(first!.bizEntityID, '123888', { currencyID: 8 }))
    only(await detail(second!.bizEntityID, '123222', { isDefault: true }))
    only(await detail(second!.bizEntityID, '123999', { currencyID: 8 }))
    const post = poster(() => service.admin)
    for (const { accountID } of fund.accounts) {
      const units = { accountID, investmentID: yen, quantity: 10 }
      await allot(service, fund, [units], '2024-01-01')
      const out = [aud, yen].map((investmentID) => ({ accountID, investmentID, quantity: 1 }))
      all(await post('Redemption', out))
    }
    const paidTo = async (investmentID: number, currencyID: number) => {
      const distribution = await payOut(service, { ...fund, investmentID })
      const run = await newRun(service.admin, fund, { currencyID, format: 'pain.001' })
      const payments = await paymentsOf(service.admin, run)
      const told = [...(await entitled(service.admin, distribution)), ...payments]
      return new Set(told.map((one) => `${one.accountID} ${one.payeeAccountNumber.slice(-3)}`))
    }
    const [one, two] = [first!.accountID, second!.accountID]
    assert.deepEqual(await paidTo(aud, 1), new Set([`${one} 111`, `${two} 222`]))
    assert.deepEqual(await paidTo(yen, 8), new Set([`${one} 888`, `${two} 222`]))
  })
})
