import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import {
  account,
  choose,
  configure,
  fundOf,
  newPaymentDetail,
  stage,
  takeBack,
} from '../support/distribution.ts'
import { all, assertVerified, type Fund, only, poster } from '../support/ledger.ts'
import { newRun, step } from '../support/payment-run.ts'
import { refused } from '../support/refused.ts'
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

/**
 * A fund whose only holder has 2 left of an allotment at 7, has sold everything, and was paid what
 * was left; the account is closed if `closed`.
 */
async function paidAlone({ closed = false } = {}) {
  const fund = await fundOf(service, [100], { investments: [{}, { unitDecimals: 0 }] })
  const accountID = account(fund, 0)
  await choose(service, accountID, 2)
  await newPaymentDetail(service, accountID)
  const [investmentID, drpInvestmentID] = fund.investmentIDs
  const drp = { drpIndicatorID: 2, drpInvestmentID, drpPrice: 7 }
  const distribution = await configure(service, fund, { distributionAmountPerUnit: 1, ...drp })
  for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
    await stage(service.admin, name, distribution)
  const sold = { accountID, investmentID, quantity: 100, transactionDate: '2025-07-20' }
  const sale = only(await poster(() => service.admin)('Redemption', { ...sold, amount: 100 }))
  if (closed) await close(fund)
  const body = { investmentID, date: '2025-08-01' }
  const paid = only(await service.admin.post('/Distribution/PayResiduals', body))
  assert.equal(paid.amount, 2)
  return { fund, accountID, distribution, drp, sale, body, ...paid }
}

/** Closes the account of a fund's only holder, once it has no units of the DRP's class either. */
async function close(fund: Fund) {
  const accountID = account(fund, 0)
  const units = { accountID, investmentID: fund.investmentIDs[1], quantity: 14, amount: 14 }
  only(await poster(() => service.admin)('Redemption', units))
  const entity = only(await service.admin.get(`/BizEntity?AccountID=${accountID}`))
  const accounts = [{ ...entity.accounts[0], accountStatusID: 3 }]
  const bizEntityParties = [{ person: { firstName: 'Ann', lastName: 'Example' } }]
  only(await service.admin.put('/BizEntity', { ...entity, accounts, bizEntityParties }))
}

const rollBack = (bizTransactionID: number) =>
  service.admin.put('/BizTransaction/Rollback', { bizTransactionID, reason: 'Paid twice' })

const residualOf = async ({ productID, investmentID }: Fund, more = '') => {
  const path = `/BizEntity/Account/Holdings?ProductID=${productID}&InvestmentID=${investmentID}`
  const [position] = all(await service.admin.get(`${path}${more}`))
  return position?.drpResidual
}

describe('Residuals that were paid alone', () => {
  it('are left again when their payment is rolled back, and can be paid again', async () => {
    const { fund, body, bizTransactionID } = await paidAlone()
    assert.equal(await residualOf(fund), undefined)
    const back = only(await rollBack(bizTransactionID))
    assert.equal(back.statusName, 'RolledBack')
    assert.equal(await residualOf(fund), 2)
    refused(await rollBack(bizTransactionID), 409, 'rolled_back')
    assert.equal(await residualOf(fund), 2)
    assert.equal(only(await service.admin.post('/Distribution/PayResiduals', body)).amount, 2)
    assert.equal(await residualOf(fund), undefined)
  })

  it('are left again all, where several payments are rolled back at once', async () => {
    const { fund, drp, body, bizTransactionID } = await paidAlone()
    const units = { accountID: account(fund, 0), investmentID: fund.investmentID, quantity: 100 }
    const dated = { ...units, amount: 100, transactionDate: '2025-08-02' }
    const bought = only(await poster(() => service.admin)('Allotment', dated))
    const later = { recordDate: '2025-09-30', paymentDate: '2025-10-15' }
    const next = await configure(service, fund, { distributionAmountPerUnit: 1, ...drp, ...later })
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, next)
    only(await rollBack(bought.bizTransactionID))
    const path = '/Distribution/PayResiduals'
    const paid = only(await service.admin.post(path, { ...body, date: '2025-11-01' }))
    const bizTransactionIDs = [bizTransactionID, paid.bizTransactionID]
    const both = { bizTransactionIDs, reason: 'Paid twice' }
    assert.equal(all(await service.admin.put('/BizTransaction/Rollback', both)).length, 2)
    assert.equal(await residualOf(fund), 4)
  })

  it('are left again of a closed account, which nothing else could give them back', async () => {
    const { fund, sale, bizTransactionID } = await paidAlone({ closed: true })
    refused(await rollBack(sale.bizTransactionID), 409, 'account_closed')
    only(await rollBack(bizTransactionID))
    assert.equal(await residualOf(fund), 2)
  })

  it('no longer stop the reversal of the allotment, which says what comes first', async () => {
    const { fund, distribution, sale, bizTransactionID } = await paidAlone()
    only(await rollBack(sale.bizTransactionID))
    const reversal = { ...distribution, fromStatusID: 4, reason: 'Wrong price' }
    const stopped = await service.admin.post('/Distribution/Reverse', reversal)
    refused(stopped, 409, 'residual_used')
    assert.match(
      stopped.message!,
      new RegExp(`paid out by transaction ${bizTransactionID}: roll that back first`),
    )
    only(await rollBack(bizTransactionID))
    await takeBack(service.admin, distribution, 4)
    assert.equal(await residualOf(fund), 0)
    await stage(service.admin, 'DrpAllotment', distribution)
    assert.equal(await residualOf(fund), 2)
  })

  it('leave a draft payment run with the rollback, which an approved run refuses', async () => {
    const { fund, body, bizTransactionID } = await paidAlone()
    const pay = { sources: ['Residual'], processingDate: '2025-08-01' }
    const draft = await newRun(service.admin, fund, pay)
    assert.deepEqual(draft.payments, { count: 1, amount: 2 })
    only(await rollBack(bizTransactionID))
    const path = `/PaymentRun?PaymentRunID=${draft.paymentRunID}`
    assert.deepEqual(only(await service.admin.get(path)).payments, { count: 0, amount: 0 })
    const again = only(await service.admin.post('/Distribution/PayResiduals', body))
    const run = await newRun(service.admin, fund, pay)
    await step(approver, 'Approve', run)
    refused(await rollBack(again.bizTransactionID), 409, 'in_payment_run')
    assert.equal(await residualOf(fund), undefined)
  })

  it('are shown as they were known before the rollback', async () => {
    const { fund, bizTransactionID } = await paidAlone()
    const known = new Date(Date.now() + 1).toISOString()
    await new Promise((resolve) => setTimeout(resolve, 5))
    only(await rollBack(bizTransactionID))
    assert.equal(await residualOf(fund, `&KnownAt=${known}`), undefined)
    assert.equal(await residualOf(fund), 2)
  })

  it('stay with their distribution where that paid them: it is reversed instead', async () => {
    const { fund, accountID, distribution, drp, bizTransactionID } = await paidAlone()
    only(await rollBack(bizTransactionID))
    const units = { accountID, investmentID: fund.investmentID, quantity: 50, amount: 50 }
    const dated = { ...units, transactionDate: '2025-07-21' }
    only(await poster(() => service.admin)('Allotment', dated))
    await choose(service, accountID, 1)
    const later = { recordDate: '2025-09-30', paymentDate: '2025-10-15' }
    const next = await configure(service, fund, { distributionAmountPerUnit: 1, ...drp, ...later })
    for (const name of ['Declare', 'Payment'] as const) await stage(service.admin, name, next)
    const made = 'BizTransactionTypeID=13&Status=Complete'
    const paid = only(
      await service.admin.get(`/BizTransaction?ProductID=${fund.productID}&${made}`),
    )
    assert.equal(paid.amount, 2)
    refused(await rollBack(paid.bizTransactionID), 409, 'from_distribution')
    const reversal = { ...distribution, fromStatusID: 4, reason: 'Wrong price' }
    const stopped = await service.admin.post('/Distribution/Reverse', reversal)
    refused(stopped, 409, 'residual_used')
    assert.match(
      stopped.message!,
      new RegExp(`paid out by distribution ${next.corporateActionID}: reverse that payment first`),
    )
  })

  it('keep their amount and day: only a rollback changes them', async () => {
    const { bizTransactionID } = await paidAlone()
    const change = { bizTransactionID, amount: 1 }
    refused(await service.admin.put('/BizTransaction', change), 409, 'from_distribution')
  })
})
