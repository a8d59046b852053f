import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { account, keyOf } from '../support/distribution.ts'
import { getBytes } from '../support/files.ts'
import { type Account, assertVerified, only, poster } from '../support/ledger.ts'
import { fundingAccount, mend, newRun, paidFund, runBody, step } from '../support/payment-run.ts'
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

const bytesOf = async (client: Client, path: string) => (await getBytes(client, path)).bytes
const runOf = async (id: number) => only(await service.admin.get(`/PaymentRun?PaymentRunID=${id}`))
const nothing = { count: 0, amount: 0 }

describe('A payment run that is a draft', () => {
  it('loses what is rolled back while a draft, and keeps it when approved', async () => {
    const { fund } = await paidFund(service, [100, 200])
    await mend(service, account(fund, 0), 'is_for_redemption = true')
    const redeem = async (quantity: number) =>
      only(
        await poster(() => service.admin)('Redemption', {
          ...{ accountID: account(fund, 0), investmentID: fund.investmentID, quantity },
        }),
      )
    const [gone, kept] = [await redeem(5), await redeem(7)]
    const run = await newRun(service.admin, fund, { sources: ['Redemption'] })
    assert.deepEqual(run.payments, { count: 1, amount: 12 })
    const back = (bizTransactionID: number) =>
      service.admin.put('/BizTransaction/Rollback', { bizTransactionID })
    assert.equal((await back(gone.bizTransactionID)).status, 200)
    assert.deepEqual((await runOf(run.paymentRunID)).payable, { count: 1, amount: 7 })
    const approved = await step(approver, 'Approve', run)
    assert.deepEqual(approved.payments, { count: 1, amount: 7 })
    refused(await back(kept.bizTransactionID), 409, 'in_payment_run')
  })

  it('is not approved once an account of it is suspended, by itself or by its entity', async () => {
    const { fund } = await paidFund(service, [100, 200, 300])
    const run = await newRun(service.admin, fund)
    const set = (what: string, id: number) => rowsOf(service.connection, what, [id])
    const [first, second] = fund.accounts as [Account, Account]
    await set('update account set account_status_id = 2 where account_id = $1', first.accountID)
    const status = (id: number) =>
      set(
        `update biz_entity set biz_entity_status_id = ${id} where biz_entity_id = $1`,
        bizEntityID,
      )
    const { bizEntityID } = second
    await status(3)
    const { paymentRunID } = run
    const reply = await approver.post('/PaymentRun/Approve', { paymentRunID })
    refused(reply, 409, 'account_suspended')
    assert.deepEqual(
      reply.errors.map(({ message }: { message: string }) => /Account (\w+)/.exec(message)?.[1]),
      [first.accountNumber, second.accountNumber],
    )
    await status(1)
    await service.admin.delete(`/PaymentRun?PaymentRunID=${paymentRunID}`)
    const anew = await newRun(service.admin, fund)
    assert.deepEqual([anew.payments.amount, anew.exceptionList[0].code], [500, 'account_suspended'])
    assert.equal((await step(approver, 'Approve', anew)).payments.amount, 500)
  })

  it('loses what is corrected while a draft, and the next run judges it anew', async () => {
    const { fund } = await paidFund(service, [100])
    const own = { accountID: account(fund, 0), investmentID: fund.investmentID }
    await mend(service, account(fund, 0), 'is_for_redemption = true')
    const posted = poster(() => service.admin)
    only(await posted('Deposit', { ...own, amount: 200_000_000 }))
    const { bizTransactionID } = only(await posted('Redemption', { ...own, quantity: 5 }))
    const redeemed = { sources: ['Redemption'] }
    const draft = await newRun(service.admin, fund, redeemed)
    const larger = { bizTransactionID, quantity: -150_000_000 }
    assert.equal((await service.admin.put('/BizTransaction', larger)).status, 200)
    const left = await runOf(draft.paymentRunID)
    assert.deepEqual([left.payments, left.exceptions], [nothing, nothing])
    refused(await approver.post('/PaymentRun/Approve', draft), 409, 'nothing_to_pay')
    const next = await newRun(service.admin, fund, redeemed)
    assert.deepEqual(next.payments, nothing)
    assert.deepEqual(next.exceptionList[0].code, 'amount_too_large')
    const smaller = { bizTransactionID, quantity: -6 }
    assert.equal((await service.admin.put('/BizTransaction', smaller)).status, 200)
    assert.deepEqual((await runOf(next.paymentRunID)).exceptions, nothing)
  })

  it('loses what is reversed while a draft, and the distribution stays as history', async () => {
    const { fund, distribution } = await paidFund(service, [100])
    const run = await newRun(service.admin, fund)
    const back = async (fromStatusID: number) => {
      const body = { ...keyOf(distribution), fromStatusID, reason: 'tried' }
      assert.equal((await service.admin.post('/Distribution/Reverse', body)).status, 200)
    }
    await back(3)
    assert.deepEqual((await runOf(run.paymentRunID)).payable, nothing)
    await back(2)
    const { corporateActionID } = distribution
    const path = `/Distribution?ProductID=${fund.productID}&CorporateActionID=${corporateActionID}`
    refused(await service.admin.delete(path), 409, 'has_stages')
  })

  it('refuses a funding account, and pays no payee, that no ABA file can name', async () => {
    const { fund } = await paidFund(service, [100, 200])
    const asked = (more: object) =>
      service.admin.post('/PaymentRun', {
        ...runBody(fund),
        fundingAccount: { ...fundingAccount, ...more },
      })
    for (const flaw of [
      { bsb: '000-000' },
      { accountNumber: 'ABCDEFG' },
      { accountNumber: '000000' },
      { remitterName: '李小龍' },
      { bankCode: 'WB' },
      { userID: '3015001' },
    ]) {
      const [field] = Object.keys(flaw)
      const reply = await asked(flaw)
      refused(reply, 400, 'invalid_value')
      assert.deepEqual(reply.errors[0]!.field, `fundingAccount.${field}`)
      assert.doesNotMatch(reply.message ?? '', /empty/, 'it was given')
    }
    await mend(service, account(fund, 0), "account_name = '李小龍'")
    await mend(service, account(fund, 1), "account_name = 'Zoë Müller'")
    const long = { remitterName: 'A remitter with a long name' }
    const run = only(await asked(long))
    assert.equal(run.exceptionList[0].code, 'invalid_name')
    const approved = await step(approver, 'Approve', run)
    assert.match(approved.files[0].warnings[0], /A remitter with a long name is cut to 16/)
    const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}&Raw=true`
    assert.match((await bytesOf(service.admin, path)).toString(), /ZOE MULLER/)
  })

  it('tells of names that are too long as they are written, not as they were given', async () => {
    const { fund } = await paidFund(service, [100, 200])
    const growing = `Groß ${'a'.repeat(27)}`
    const shrinking = `Zoë ${'b'.repeat(28)}`.normalize('NFD')
    assert.deepEqual([growing.length, shrinking.length], [32, 33])
    await mend(service, account(fund, 0), `account_name = '${growing}'`)
    await mend(service, account(fund, 1), `account_name = '${shrinking}'`)
    const run = only(await service.admin.post('/PaymentRun', runBody(fund)))
    const { warnings } = (await step(approver, 'Approve', run)).files[0]
    const ofPayees = warnings.filter((one: string) => one.endsWith('is cut to 32 characters.'))
    assert.equal(ofPayees.length, 1, warnings)
    assert.match(ofPayees[0], /the name Groß a+ is/)
  })

  it('is not approved by its maker through a request of somebody else either', async () => {
    const { fund } = await paidFund(service, [100])
    const run = await newRun(service.admin, fund)
    const third = await service.userWith({ role: 'Administrator' })
    const operation = 'POST /PaymentRun/Approve'
    const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', { operation }))
    const { paymentRunID } = run
    const asked = await approver.post('/PaymentRun/Approve', { paymentRunID })
    assert.equal(asked.status, 202, asked.text)
    const { approvalID } = asked.data
    refused(await service.admin.post('/Approval/Approve', { approvalID }), 403, 'own_run')
    only(await third.post('/Approval/Approve', { approvalID }))
    assert.equal((await runOf(paymentRunID)).state, 'Approved')
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('keeps the number of the funding account out of the trail', async () => {
    const { fund } = await paidFund(service, [100])
    const { paymentRunID } = await newRun(service.admin, fund)
    const trail = `/Audit?Resource=PaymentRun&ResourceID=${paymentRunID}`
    assert.doesNotMatch((await service.admin.get(trail)).text, /987654/)
  })
})
