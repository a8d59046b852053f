import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readRuns } from '../../src/money/payment-run/sql.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import type { Client } from '../support/client.ts'
import { isSpread, rowsOf } from '../support/database.ts'
import { account, fundOf } from '../support/distribution.ts'
import { eventsAfter, feedEnd } from '../support/events.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { all, assertVerified, only, poster } from '../support/ledger.ts'
import { mend, newRun, paidFund, paymentsOf, payOut, step } from '../support/payment-run.ts'
import { temporaryFolder } from '../support/process.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let approver: Client
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
before(async () => {
  service = await startService(env)
  approver = await service.userWith({ role: 'Administrator' })
  stopWorker = await workFor(service, env)
})
after(async () => {
  await assertVerified(service)
  await stopWorker()
  await service.stop()
})

/** Sets how many days ago the bank details of an account's entity were last changed. */
const changed = (accountID: number, daysAgo: number) =>
  rowsOf(
    service.connection,
    `update payment_detail set updated_date = now() - make_interval(days => $2)
    where biz_entity_id = (select biz_entity_id from account where account_id = $1)`,
    [accountID, daysAgo],
  )

describe('Bank details that were just changed', () => {
  it('are an exception for as many days as the product says, and by default none', async () => {
    const { fund } = await paidFund(service, [10, 20, 30])
    const { productID } = fund
    for (const [i, days] of [0, 2, 3].entries()) await changed(account(fund, i), days)
    const set = async (bankDetailCoolOffDays: number) => {
      const product = only(await service.admin.get(`/Product?ProductID=${productID}`))
      only(await service.admin.put('/Product', { ...product, bankDetailCoolOffDays }))
    }
    const run = async () => {
      const made = await newRun(service.admin, fund)
      await service.admin.delete(`/PaymentRun?PaymentRunID=${made.paymentRunID}`)
      return made.exceptionList.map((one: { accountID: number; code: string }) => [
        fund.accounts.findIndex(({ accountID }) => accountID === one.accountID),
        one.code,
      ])
    }
    assert.deepEqual(await run(), [])
    await set(3)
    assert.deepEqual(await run(), [
      [0, 'recently_changed'],
      [1, 'recently_changed'],
    ])
    await set(1)
    assert.deepEqual(await run(), [[0, 'recently_changed']])
    // A change through the API is a change; a PUT that changes nothing is none.
    const path = `/PaymentDetail?BizEntityID=${fund.accounts[2]!.bizEntityID}`
    const [detail] = (await service.admin.get(path)).data
    only(await service.admin.put('/PaymentDetail', detail))
    assert.equal((await run()).length, 1)
    only(await service.admin.put('/PaymentDetail', { ...detail, accountNumber: '7654321' }))
    assert.equal((await run()).length, 2)
  })
})

describe('The name on a payment', () => {
  it('is that of the account it goes to, never that of one which was there before', async () => {
    const { fund } = await paidFund(service, [10, 20, 30])
    const [named, nameless, gone] = fund.accounts.map(({ bizEntityID }) => bizEntityID)
    const put = async (bizEntityID: number, accountName: string | null) => {
      const [detail] = (await service.admin.get(`/PaymentDetail?BizEntityID=${bizEntityID}`)).data
      const other = { ...detail, accountNumber: '7654321', accountName }
      only(await service.admin.put('/PaymentDetail', other))
    }
    await put(named!, 'Another Name')
    // Without a name of its own it is the investor's, and not "Holder" as it was when it was paid.
    await put(nameless!, null)
    await rowsOf(service.connection, 'delete from payment_detail where biz_entity_id = $1', [gone])
    const paid = await paymentsOf(service.admin, await newRun(service.admin, fund))
    assert.deepEqual(
      paid.map((one: Record<string, string>) => [one.payeeName, one.payeeAccountNumber]),
      [
        ['Another Name', '****321'],
        ['Investor 2', '****321'],
        ['Holder', '*****678'],
      ],
    )
  })
})

describe('The feed', () => {
  it('tells of payments that came back, and of a run that is closed', async () => {
    const { fund } = await paidFund(service, [10, 20])
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b] = await paymentsOf(service.admin, run)
    // Behind all that is told of the run so far, also where the feed is late with it.
    const cursor = await feedEnd(service.admin)
    const payments = [
      { paymentID: a.paymentID, state: 'Paid' },
      { paymentID: b.paymentID, state: 'Returned' },
    ]
    await step(service.admin, 'Result', run, { payments })
    await step(service.admin, 'Unclaimed', run, { days: 0 })
    const { productID } = fund
    const told = await eventsAfter(service.admin, cursor, 4, { ProductID: productID })
    const of = (type: string) => told.filter((one) => one.type === type).map(({ ids }) => ids)
    assert.deepEqual(of('payment.returned'), [[b.paymentID]])
    assert.deepEqual(of('paymentrun.closed'), [[run.paymentRunID]])
  })
})

describe('A payment run', () => {
  const noTriggers = { skip: isSpread && 'triggers are not allowed' }
  it('has more time than other requests: there may be a million payments', noTriggers, async () => {
    const run = (text: string) => rowsOf(service.connection, text)
    await run('create table patience (allowed text)')
    await run('grant insert on patience to registry_service')
    await run(`create function note_patience() returns trigger language plpgsql as $$ begin
      insert into patience values (current_setting('statement_timeout')); return null; end $$`)
    await run(`create trigger noted after insert or update or delete on payment
      for each statement execute function note_patience()`)
    try {
      const { fund } = await paidFund(service, [10, 20])
      const { paymentRunID } = await newRun(service.admin, fund)
      const gone = await service.admin.delete(`/PaymentRun?PaymentRunID=${paymentRunID}`)
      assert.equal(gone.status, 200)
      const again = await newRun(service.admin, fund)
      await step(approver, 'Approve', again)
      await step(service.admin, 'Sent', again)
      const payments = (await paymentsOf(service.admin, again)).map(
        ({ paymentID }: { paymentID: number }) => ({ paymentID, state: 'Returned' }),
      )
      await step(service.admin, 'Result', again, { payments })
      const [{ paymentID }] = payments
      await step(service.admin, 'Unclaimed', again, { days: 0, paymentIDs: [paymentID] })
      await step(service.admin, 'Reissue', again)
      assert.deepEqual(await run('select distinct allowed from patience'), [{ allowed: '10min' }])
    } finally {
      await run('drop trigger noted on payment')
    }
  })
})

describe('A list of payment runs', () => {
  const oneServer = { skip: isSpread && 'plans are apart' }
  it('adds up the payments of drafts, the others’ are in their files', oneServer, async () => {
    const { fund } = await paidFund(service, [10, 20, 30])
    const run = await newRun(service.admin, fund)
    const query = { ProductID: fund.productID }
    const database = openAsService(service.connection)
    const listed = async () => {
      const [shown] = all(await service.admin.get(`/PaymentRun?ProductID=${fund.productID}`))
      const readings = await readingsOf(database, (tx) => readRuns(tx, operator, query))
      const read = readings.filter(({ table }) => table === 'payment')
      return [shown.payments, read.reduce((sum, { rows }) => sum + rows, 0) > 0]
    }
    try {
      assert.deepEqual(await listed(), [{ count: 3, amount: 60 }, true])
      await step(approver, 'Approve', run)
      assert.deepEqual(await listed(), [{ count: 3, amount: 60 }, false])
    } finally {
      await database.close()
    }
  })
})

describe('The report Payment reconciliation', () => {
  it('has every figure of distributions and runs beside the one it must equal', async () => {
    const { fund, distribution } = await paidFund(service, [10, 20, 30, 40])
    await rowsOf(
      service.connection,
      `update payment_detail set bsb = '000000' where biz_entity_id = $1`,
      [fund.accounts[3]!.bizEntityID],
    )
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b] = await paymentsOf(service.admin, run)
    const payments = [
      { paymentID: a.paymentID, state: 'Paid' },
      { paymentID: b.paymentID, state: 'Returned' },
    ]
    await step(service.admin, 'Result', run, { payments })
    const { productID } = fund
    const body = { reportTypeID: 10, productID, format: 'json' }
    const { rows } = JSON.parse((await fileOf(service.admin, body)).toString())
    const shown = rows.map((row: Record<string, unknown>) => [
      row.of,
      row.item,
      row.count,
      row.amount,
      row.difference,
    ])
    assert.deepEqual(shown, [
      ['Distribution', 'Declared', 4, 100, 0],
      ['Distribution', 'Gross', 4, 100, 0],
      ['Distribution', 'Tax withheld', 0, 0, 0],
      ['Distribution', 'Reinvested', 0, 0, null],
      ['Distribution', 'Cash', 4, 100, 0],
      ['Distribution', 'In payment runs', 3, 60, null],
      ['Distribution', 'Exceptions', 1, 40, null],
      ['Distribution', 'Not yet in a run', 0, 0, null],
      ['Payment run', 'Payments', 3, 60, 0],
      ['Payment run', 'Exceptions', 1, 40, null],
      ['Payment run', 'Bank file', 3, 60, 0],
      ['Payment run', 'Paid', 1, 10, null],
      ['Payment run', 'Returned', 1, 20, null],
      ['Payment run', 'Reissued', 0, 0, null],
      ['Payment run', 'Unclaimed', 0, 0, null],
      ['Payment run', 'Awaiting a result', 1, 30, null],
      ['Payment run', 'Results', 3, 60, 0],
    ])
    const { corporateActionID } = distribution
    const one = { ...body, corporateActionID, format: 'csv' }
    assert.equal((await fileOf(service.admin, one)).toString().split('\r\n').length, 17 + 2)
  })

  it('shows each line in the decimals of its currency, and names that', async () => {
    const fund = await fundOf(service, [70], { investments: [{ currencyID: 8 }] })
    const { corporateActionID } = await payOut(service, fund)
    await newRun(service.admin, fund, { currencyID: 8, format: 'cheque list' })
    const { productID } = fund
    const body = { reportTypeID: 10, productID, corporateActionID, format: 'csv' }
    const lines = (await fileOf(service.admin, body)).toString().split('\r\n')
    assert.equal(lines[1], `Distribution,${corporateActionID},,2025-07-15,Declared,1,70,70,0,JPY`)
    assert.match(lines[9]!, /^Payment run,.*,Payments,1,70,70,0,JPY$/)
  })
})

describe('POST /PaymentRun/Reissue and Unclaimed', () => {
  it('refuse payments that are not of the run or did not come back, by place', async () => {
    const { fund } = await paidFund(service, [10, 20])
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b] = await paymentsOf(service.admin, run)
    const payments = [{ paymentID: a.paymentID, state: 'Returned' }]
    await step(service.admin, 'Result', run, { payments })
    const { paymentRunID } = run
    for (const more of [{ path: 'Reissue' }, { path: 'Unclaimed', days: 0 }]) {
      const ask = (paymentIDs: number[]) =>
        service.admin.post(`/PaymentRun/${more.path}`, { ...more, paymentRunID, paymentIDs })
      const lost = await ask([a.paymentID, 2 ** 40])
      refused(lost, 404, 'not_found')
      assert.deepEqual(fieldsOf(lost), ['paymentIDs[1]'])
      const sent = await ask([b.paymentID, a.paymentID])
      refused(sent, 409, 'wrong_state')
      assert.equal(sent.message, 'paymentIDs[0] is Sent, not Returned.')
    }
    const states = (await paymentsOf(service.admin, run)).map((one: { state: string }) => one.state)
    assert.deepEqual(states, ['Returned', 'Sent'])
  })

  it('mark as unclaimed what came back long enough ago, and refuse more', async () => {
    const { fund } = await paidFund(service, [10, 20])
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b] = await paymentsOf(service.admin, run)
    const back = { state: 'Returned', reason: 'Closed' }
    const payments = [
      { ...back, paymentID: a.paymentID, date: '2025-07-20' },
      { ...back, paymentID: b.paymentID },
    ]
    await step(service.admin, 'Result', run, { payments })
    const { paymentRunID } = run
    const paymentIDs = [a.paymentID, b.paymentID]
    const ask = (more: object) =>
      service.admin.post('/PaymentRun/Unclaimed', { paymentRunID, days: 30, ...more })
    const both = await ask({ paymentIDs })
    refused(both, 409, 'nothing_returned')
    assert.deepEqual(fieldsOf(both), ['paymentIDs[1]'])
    only(await ask({}))
    const states = (await paymentsOf(service.admin, run)).map((one: { state: string }) => one.state)
    assert.deepEqual(states, ['Unclaimed', 'Returned'])
  })

  it('are told in the trail payment by payment, as results are', async () => {
    const { fund } = await paidFund(service, [10, 20, 30])
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b, c] = (await paymentsOf(service.admin, run)).map(
      ({ paymentID }: { paymentID: number }) => paymentID,
    )
    const date = '2025-07-16'
    const paid = { state: 'Paid', date }
    const back = { state: 'Returned', date, reason: 'Account closed' }
    const payments = [
      { ...paid, paymentID: c },
      { ...back, paymentID: b },
      { ...paid, reference: `PAY ${a}` },
    ]
    await step(service.admin, 'Result', run, { payments })
    await step(service.admin, 'Unclaimed', run, { days: 0 })
    const trail = `/Audit?Resource=PaymentRun&ResourceID=${run.paymentRunID}&Order=desc`
    const [unclaimed, results] = all(await service.admin.get(trail))
    assert.deepEqual(results.changes.results, [
      { ...paid, paymentIDs: [c, a] },
      { ...back, paymentIDs: [b] },
    ])
    assert.deepEqual(unclaimed.changes, { days: 0, payments: 1, paymentIDs: [b] })
  })

  it('sends each of several payments to one account again by itself', async () => {
    const { fund } = await paidFund(service, [50])
    await mend(service, account(fund, 0), 'is_for_redemption = true')
    const body = { accountID: account(fund, 0), investmentID: fund.investmentID, quantity: 5 }
    const redeem = { ...body, transactionDate: '2025-07-01' }
    only(await poster(() => service.admin)('Redemption', redeem))
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const two = await paymentsOf(service.admin, run)
    const back = two.map(({ paymentID }: { paymentID: number }) => ({
      paymentID,
      state: 'Returned',
    }))
    await step(service.admin, 'Result', run, { payments: back })
    const again = await step(service.admin, 'Reissue', run)
    const sent = await paymentsOf(service.admin, again)
    const pair = (
      rows: { amount: number; reissueOf: number; paymentID: number }[],
      key: 'reissueOf' | 'paymentID',
    ) => rows.map((row) => [row.amount, row[key]])
    assert.deepEqual(pair(sent, 'reissueOf'), pair(two, 'paymentID'))
    await assertVerified(service)
    await service.admin.delete(`/PaymentRun?PaymentRunID=${again.paymentRunID}`)
    await assertVerified(service)
    const states = (await paymentsOf(service.admin, run)).map((one: { state: string }) => one.state)
    assert.deepEqual(states, ['Returned', 'Returned'])
  })
})
