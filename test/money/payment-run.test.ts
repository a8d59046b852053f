import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import {
  account,
  choose,
  configure,
  fundOf,
  keyOf,
  newPaymentDetail,
  stage,
} from '../support/distribution.ts'
import { getBytes } from '../support/files.ts'
import { all, assertVerified, only, poster } from '../support/ledger.ts'
import {
  fundingAccount,
  mend,
  newRun,
  paidFund,
  paymentsOf,
  payOut,
  runBody,
  step,
} from '../support/payment-run.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let second: Service
let approver: Client
before(async () => {
  service = await startService()
  second = await startService({}, service.connection)
  approver = await service.userWith({ role: 'Administrator' })
})
after(async () => {
  await assertVerified(service)
  await second.stop()
  await service.stop()
})

const bytesOf = async (client: Client, path: string) => (await getBytes(client, path)).bytes

const sum = (rows: { amount: number }[]) =>
  rows.reduce((total, { amount }) => total + Math.round(amount * 100), 0) / 100

describe('POST /PaymentRun', () => {
  it('pays each payee once, and tells why the others cannot be paid, to the cent', async () => {
    const { fund } = await paidFund(service, [100, 200, 300, 400, 500, 0.5])
    await mend(service, account(fund, 1), "bsb = '999999'")
    await mend(service, account(fund, 2), "account_number = '1234567890'")
    await rowsOf(
      service.connection,
      'update account set account_status_id = 2 where account_id = $1',
      [account(fund, 3)],
    )
    await rowsOf(service.connection, `delete from payment_detail where biz_entity_id = $1`, [
      fund.accounts[4]!.bizEntityID,
    ])
    await rowsOf(
      service.connection,
      'update entitlement set payee_bsb = null where account_id = $1',
      [account(fund, 4)],
    )
    const run = await newRun(service.admin, fund, { minimumAmount: 1 })
    assert.equal(run.state, 'Draft')
    assert.deepEqual(run.payments, { count: 1, amount: 100 })
    assert.deepEqual(run.exceptions, { count: 5, amount: 1400.5 })
    assert.deepEqual(run.payable, { count: 6, amount: 1500.5 })
    assert.deepEqual(
      run.exceptionList.map(({ code }: { code: string }) => code),
      ['invalid_bsb', 'invalid_account', 'account_suspended', 'no_bank_details', 'below_minimum'],
    )
    const [payment] = await paymentsOf(service.admin, run)
    assert.equal(payment.payeeAccountNumber, '*****678')
    assert.equal(payment.state, 'Pending')
    // Mended records go into the next run with their present details.
    await mend(service, account(fund, 1), "bsb = '062-001'")
    const next = await newRun(service.admin, fund, { minimumAmount: 1 })
    assert.deepEqual(next.payments, { count: 1, amount: 200 })
    assert.equal(next.exceptions.count, 4)
  })

  it('takes redemptions from their day on, and one distribution where one is named', async () => {
    const { fund, distribution } = await paidFund(service, [100, 200])
    const later = await payOut(service, fund, 0.1)
    await mend(service, account(fund, 0), 'is_for_redemption = true')
    const post = poster(() => service.admin)
    const body = { accountID: account(fund, 0), investmentID: fund.investmentID, quantity: 10 }
    only(await post('Redemption', body))
    const ids = { corporateActionIDs: [later.corporateActionID] }
    const named = await newRun(service.admin, fund, ids)
    assert.deepEqual(named.payments, { count: 2, amount: 30 })
    const rest = await newRun(service.admin, fund, {})
    assert.deepEqual(rest.payments, { count: 3, amount: 310 })
    refused(await service.admin.post('/PaymentRun', runBody(fund)), 409, 'nothing_to_pay')
    assert.ok(distribution)
  })

  it('from many nodes at once puts nothing into two runs', async () => {
    const { fund } = await paidFund(service, Array(30).fill(7))
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? service : second).admin.post('/PaymentRun', runBody(fund)),
      ),
    )
    const made = replies.filter(({ status }) => status === 200).map(({ data }) => data[0])
    for (const reply of replies.filter(({ status }) => status !== 200))
      refused(reply, 409, 'nothing_to_pay')
    const payments = (await Promise.all(made.map((run) => paymentsOf(service.admin, run)))).flat()
    assert.equal(payments.length, 30)
    assert.equal(sum(payments), 210)
    assert.equal(new Set(payments.map(({ accountID }) => accountID)).size, 30)
  })

  it('needs what the format needs of the funding account', async () => {
    const { fund } = await paidFund(service, [1])
    const { bsb: _bsb, ...without } = fundingAccount
    const body = runBody(fund, { fundingAccount: without })
    const reply = await service.admin.post('/PaymentRun', body)
    refused(reply, 400, 'required')
    assert.equal(reply.errors![0]!.field, 'fundingAccount.bsb')
    refused(await service.admin.post('/PaymentRun', runBody(fund, { currencyID: 2 })), 400)
  })
})

describe('A payment run', () => {
  it('is approved by somebody else, and its bytes never change after', async () => {
    const { fund } = await paidFund(service, [100, 200])
    const run = await newRun(service.admin, fund, { balanced: true })
    const file = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}`
    refused(await service.admin.get(file), 409, 'wrong_state')
    const key = { paymentRunID: run.paymentRunID }
    refused(await service.admin.post('/PaymentRun/Approve', key), 403, 'own_run')
    const operator = await service.userWith({ role: 'Operator' })
    refused(await operator.post('/PaymentRun/Approve', key), 403)
    refused(await service.admin.post('/PaymentRun/Sent', key), 409, 'wrong_state')
    const approved = await step(approver, 'Approve', run)
    assert.equal(approved.state, 'Approved')
    refused(await approver.post('/PaymentRun/Approve', key), 409, 'wrong_state')
    const bytes = await bytesOf(service.admin, `${file}&Raw=true`)
    const lines = bytes.toString('latin1').split('\r\n')
    assert.equal(lines.length, 6)
    assert.ok(lines.slice(0, 5).every((line) => line.length === 120))
    assert.equal(lines[4]!.slice(20, 50), '000000000000000300000000030000')
    assert.equal(lines[1]!.slice(20, 30), '0000010000')
    const [kept] = approved.files
    assert.equal(createHash('sha256').update(bytes).digest('hex'), kept.sha256)
    await mend(service, account(fund, 0), "account_number = '999'")
    assert.deepEqual(await bytesOf(service.admin, `${file}&Raw=true`), bytes)
    refused(await service.admin.delete(`/PaymentRun?PaymentRunID=${run.paymentRunID}`), 409)
    const reader = await service.userWith({ permissions: ['PaymentRun.Read'] })
    refused(await reader.get(file), 403)
    const audit = all(
      await service.admin.get(`/Audit?Resource=PaymentRun&ResourceID=${run.paymentRunID}`),
    )
    const downloads = audit.filter(
      ({ operation }: { operation: string }) => operation === 'GET /PaymentRun/File',
    )
    assert.equal(downloads.length, 2)
    const { changes } = audit.find(
      ({ operation }: { operation: string }) => operation === 'POST /PaymentRun/Approve',
    )
    const { fileName, sha256 } = kept
    const files = [{ fileName, sha256, payments: 2, amount: '300.00' }]
    assert.deepEqual(changes, { currency: 'AUD', files })
  })

  it('goes through results, returns, reissue and unclaimed until it is closed', async () => {
    const { fund } = await paidFund(service, [10, 20, 30, 40])
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b, c, d] = await paymentsOf(service.admin, run)
    const key = { paymentRunID: run.paymentRunID }
    const result = (payments: object[]) =>
      service.admin.post('/PaymentRun/Result', { ...key, payments })
    refused(await result([{ reference: 'nothing', state: 'Paid' }]), 404)
    const returned = { state: 'Returned', reason: 'Account closed', date: '2025-07-16' }
    const told = await result([
      { paymentID: a.paymentID, state: 'Paid' },
      { reference: b.reference, ...returned },
      { paymentID: c.paymentID, ...returned },
      { paymentID: d.paymentID, ...returned },
    ])
    assert.equal(told.status, 200, told.text)
    refused(await result([{ paymentID: a.paymentID, state: 'Paid' }]), 409, 'wrong_state')
    await mend(service, account(fund, 1), "account_number = '222'")
    await mend(service, account(fund, 2), "bsb = '000000'")
    const again = only(
      await service.admin.post('/PaymentRun/Reissue', {
        ...key,
        paymentIDs: [b.paymentID, c.paymentID],
      }),
    )
    assert.deepEqual(
      [again.payments, again.exceptions],
      [
        { count: 1, amount: 20 },
        { count: 1, amount: 30 },
      ],
    )
    const states = async () =>
      (await paymentsOf(service.admin, run)).map(({ state }: { state: string }) => state)
    assert.deepEqual(await states(), ['Paid', 'Reissued', 'Returned', 'Returned'])
    // A draft that is deleted leaves everything as it was.
    const path = `/PaymentRun?PaymentRunID=${again.paymentRunID}`
    assert.equal((await service.admin.delete(path)).status, 200)
    assert.deepEqual(await states(), ['Paid', 'Returned', 'Returned', 'Returned'])
    await assertVerified(service)
    await mend(service, account(fund, 2), "bsb = '062000'")
    // To the present payee: the copy of one that came back is not paid again.
    const details = 'update payment_detail set is_for_distribution = $2 where account_number = $1'
    await rowsOf(service.connection, details, ['222', false])
    const none = only(await service.admin.post('/PaymentRun/Reissue', key))
    assert.ok(none.exceptionList.some(({ code }: { code: string }) => code === 'no_bank_details'))
    await service.admin.delete(`/PaymentRun?PaymentRunID=${none.paymentRunID}`)
    await rowsOf(service.connection, details, ['222', true])
    const stateOfFirst = async () =>
      only(await service.admin.get(`/PaymentRun?PaymentRunID=${run.paymentRunID}`)).state
    const dropped = only(await service.admin.post('/PaymentRun/Reissue', key))
    assert.equal(await stateOfFirst(), 'Closed')
    await service.admin.delete(`/PaymentRun?PaymentRunID=${dropped.paymentRunID}`)
    assert.equal(await stateOfFirst(), 'Sent')
    await assertVerified(service)
    const whole = only(await service.admin.post('/PaymentRun/Reissue', key))
    assert.deepEqual(whole.payments, { count: 3, amount: 90 })
    await step(approver, 'Approve', whole)
    await step(service.admin, 'Sent', whole)
    const three = await paymentsOf(service.admin, whole)
    await step(service.admin, 'Result', whole, {
      payments: three.map(({ paymentID }: { paymentID: number }) => ({ paymentID, ...returned })),
    })
    refused(
      await service.admin.post('/PaymentRun/Unclaimed', {
        paymentRunID: whole.paymentRunID,
        days: 30_000,
      }),
      409,
      'nothing_returned',
    )
    const closed = await step(service.admin, 'Unclaimed', whole, { days: 0 })
    assert.equal(closed.state, 'Closed')
    assert.equal(await stateOfFirst(), 'Closed')
  })

  it('keeps the payment of a distribution from being reversed once it is approved', async () => {
    const { fund, distribution } = await paidFund(service, [100])
    const reverse = () =>
      service.admin.post('/Distribution/Reverse', {
        ...keyOf(distribution),
        ...{ fromStatusID: 3, reason: 'tried' },
      })
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    refused(await reverse(), 409, 'in_payment_run')
  })

  it('as pain.001.001.03 adds up at every level', async () => {
    const { fund } = await paidFund(service, [100.25, 200.5])
    await mend(service, account(fund, 1), "iban = 'de89 3704-0044.0532 013000', swift = 'COBADEFF'")
    // Which XML cannot hold, and a bank's computer would refuse all of the file for.
    const bizEntityID = fund.accounts[1]!.bizEntityID
    const [detail] = (await service.admin.get(`/PaymentDetail?BizEntityID=${bizEntityID}`)).data
    const accountName = 'A &\uffffB <Co>'
    only(await service.admin.put('/PaymentDetail', { ...detail, accountName }))
    const run = await newRun(service.admin, fund, { format: 'pain.001' })
    await step(approver, 'Approve', run)
    const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}&Raw=true`
    const tree = parse((await bytesOf(service.admin, path)).toString())
    const initiation = at(tree, 'Document', 'CstmrCdtTrfInitn')
    const [group, payment] = [at(initiation, 'GrpHdr'), at(initiation, 'PmtInf')]
    const transfers = payment.children.filter(({ name }) => name === 'CdtTrfTxInf')
    for (const level of [group, payment]) {
      assert.equal(at(level, 'NbOfTxs').text, '2')
      assert.equal(at(level, 'CtrlSum').text, '300.75')
    }
    assert.deepEqual(
      transfers.map((one) => at(one, 'Amt', 'InstdAmt').text),
      ['100.25', '200.50'],
    )
    assert.equal(at(transfers[1]!, 'Cdtr', 'Nm').text, 'A & B <Co>')
    assert.equal(at(transfers[1]!, 'CdtrAcct', 'Id', 'IBAN').text, 'DE89370400440532013000')
    assert.equal(at(transfers[1]!, 'CdtrAgt', 'FinInstnId', 'BIC').text, 'COBADEFF')
    const member = at(transfers[0]!, 'CdtrAgt', 'FinInstnId', 'ClrSysMmbId', 'MmbId')
    assert.equal(member.text, '062000')
  })

  it('as pain.001.001.03 names banks as the currency is cleared', async () => {
    const fund = await fundOf(service, [100], { investments: [{ currencyID: 2 }] })
    await newPaymentDetail(service, account(fund, 0))
    await payOut(service, fund)
    await mend(service, account(fund, 0), "bsb = '010902', account_number = '0068389-00'")
    const run = await newRun(service.admin, fund, { currencyID: 2, format: 'pain.001' })
    await step(approver, 'Approve', run)
    const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}&Raw=true`
    const file = (await bytesOf(service.admin, path)).toString()
    assert.match(file, /Ccy="NZD"/)
    const banks = [...file.matchAll(/<Cd>NZNCC<\/Cd><\/ClrSysId><MmbId>(\d+)</g)]
    assert.equal(banks.map(([, bank]) => bank).join(), '033088,010902')
  })

  it('above 99,999,999.99 becomes several files that add up', async () => {
    const { fund } = await paidFund(service, [60_000_000, 50_000_000, 39_000_000])
    const run = await newRun(service.admin, fund)
    const approved = await step(approver, 'Approve', run)
    assert.deepEqual(
      approved.files.map(({ amount }: { amount: number }) => amount),
      [60_000_000, 89_000_000],
    )
    const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}`
    const bytes = await bytesOf(service.admin, `${path}&FileNumber=2&Raw=true`)
    assert.equal(bytes.toString('latin1').split('\r\n')[3]!.slice(20, 40), '89000000008900000000')
    refused(await service.admin.get(`${path}&FileNumber=3`), 404)
  })

  it('as a cheque list needs no bank account', async () => {
    const { fund } = await paidFund(service, [100])
    await mend(service, account(fund, 0), "bsb = null, account_number = null, account_name = '=A'")
    const run = await newRun(service.admin, fund, { format: 'cheque list' })
    await step(approver, 'Approve', run)
    const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}&Raw=true`
    assert.match((await bytesOf(service.admin, path)).toString(), /Amount\r\nPAY \d+,'=A,100/)
  })

  it('is not there for a user of other products', async () => {
    const { fund } = await paidFund(service, [1])
    const other = await paidFund(service, [1])
    const run = await newRun(service.admin, fund)
    const stranger = await service.userWith({
      role: 'Administrator',
      productIDs: [other.fund.productID],
    })
    assert.deepEqual(all(await stranger.get(`/PaymentRun?PaymentRunID=${run.paymentRunID}`)), [])
    const key = { paymentRunID: run.paymentRunID }
    refused(await stranger.post('/PaymentRun/Approve', key), 404)
    refused(await stranger.post('/PaymentRun', runBody(fund)), 404)
  })
})

type Element = { name: string; text: string; children: Element[] }

const at = (element: Element, ...path: string[]): Element => {
  const [name, ...rest] = path
  if (name === undefined) return element
  const found = element.children.filter((child) => child.name === name)
  assert.equal(found.length, 1, `${name} once`)
  return at(found[0]!, ...rest)
}

/** A reader of plain XML: elements and text, every tag closed in its place. */
function parse(xml: string): Element {
  const root: Element = { name: '', text: '', children: [] }
  const open = [root]
  for (const [, close, name, text] of xml
    .replace(/^<\?xml[^>]*\?>\s*/, '')
    .matchAll(/<(\/?)([A-Za-z]+)[^>]*>|([^<]+)/g)) {
    const top = open.at(-1)!
    if (text !== undefined)
      top.text += text
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&')
    else if (close) assert.equal(open.pop()!.name, name)
    else {
      const child = { name: name!, text: '', children: [] }
      top.children.push(child)
      open.push(child)
    }
  }
  assert.equal(open.length, 1)
  return root
}

describe('Money of a DRP', () => {
  it('that was left and paid out is payable too', async () => {
    const { fund } = await paidFund(service, [100])
    await choose(service, account(fund, 0), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID, drpPrice: 7 }
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 0.1, ...drp })
    await rowsOf(
      service.connection,
      'update investment set unit_decimals = 0 where investment_id = $1',
      [fund.investmentID],
    )
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    await choose(service, account(fund, 0), 1)
    const body = { investmentID: fund.investmentID, date: '2025-08-01' }
    only(await service.admin.post('/Distribution/PayResiduals', body))
    const processingDate = '2025-08-01'
    const run = await newRun(service.admin, fund, { sources: ['Residual'], processingDate })
    assert.deepEqual(run.payments, { count: 1, amount: 3 })
  })
})
