import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import type { Reply } from '../support/client.ts'
import { endWaiting, rowsOf, waitingForLocks } from '../support/database.ts'
import {
  account,
  allot,
  choose,
  configure,
  type Distribution,
  entitled,
  fundOf,
  keyOf,
  stage,
  takeBack,
} from '../support/distribution.ts'
import { all, assertVerified, type Fund, only } from '../support/ledger.ts'
import { newRun, paidFund, step } from '../support/payment-run.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { fileOf, order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { stopAfterSpans } from '../support/stages.ts'
import { investor, taxingFund, unquoted } from '../support/withholding.ts'

/** Settings with which stages over more than two accounts are jobs, two accounts at a time. */
const inline = { REGISTRY_STAGE_INLINE: '2', REGISTRY_DATA_DIR: temporaryFolder() }

let service: Service
let whole: Service
let stopWorker: (() => Promise<void>) | undefined
before(async () => {
  service = await startService(inline)
  // The same register with the usual limit: what is done at once must come to the same.
  whole = await startService({}, service.connection)
})
after(async () => {
  await stopWorker?.()
  await assertVerified(service)
  await whole.stop()
  await service.stop()
})

const work = async () => {
  stopWorker ??= await workFor(service, inline)
}
const rest = async () => {
  await stopWorker?.()
  stopWorker = undefined
}

const read = async ({ productID, corporateActionID }: Distribution) =>
  only(
    await service.admin.get(
      `/Distribution?ProductID=${productID}&CorporateActionID=${corporateActionID}`,
    ),
  )
const post = (name: string, distribution: Distribution, more: object = {}) =>
  service.admin.post(`/Distribution/${name}`, {
    ...keyOf(distribution),
    ...(name === 'Declare' && { confirmSecond: true }),
    ...more,
  })
function taken(reply: Reply) {
  assert.equal(reply.status, 202, reply.text)
  assert.equal(typeof reply.data.progressPercent, 'number')
  return reply.data
}
const reached = (distribution: Distribution, statusID: number) =>
  until(`status ${statusID}`, async () => {
    const { distributionStatusID, stageProgress } = await read(distribution)
    return distributionStatusID === statusID && stageProgress === null
  })
const reversal = (fromStatusID: number) => ({ fromStatusID, reason: 'tried' })

const methods = {
  'a total by units': { distributionAmountTotal: 100.01 },
  'a total over a period': {
    distributionAmountTotal: 77.77,
    proRataStartDate: '2025-06-01',
    proRataEndDate: '2025-06-30',
  },
  'an amount per unit': { distributionAmountPerUnit: 0.0333 },
}

async function planned(how: object): Promise<{ fund: Fund; distribution: Distribution }> {
  const fund = await fundOf(service, [100, 233, 300, 47, 1, 1, 1], {
    investments: [{}, { unitDecimals: 2 }],
  })
  await choose(service, account(fund, 1), 3, 50)
  await choose(service, account(fund, 2), 2)
  await choose(service, account(fund, 6), 2)
  const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 1.7 }
  const distribution = await configure(service, fund, {
    ...how,
    ...drp,
    taxComponents: [
      { taxComponentName: 'CapitalGains', percentage: 33.3333 },
      { taxComponentName: 'AustralianFrankedDividends', percentage: 66.6667 },
    ],
  })
  return { fund, distribution }
}

describe('A stage over many accounts', () => {
  for (const [name, how] of Object.entries(methods))
    it(`of ${name} comes to the same as one that is done at once, through all stages`, async () => {
      await work()
      const { fund, distribution } = await planned(how)
      const lists = { preCalculatedAccounts: [{ accountID: account(fund, 3), amount: 5.5 }] }
      taken(await post('Declare', distribution, lists))
      await reached(distribution, 2)
      taken(await post('Payment', distribution))
      await reached(distribution, 3)
      taken(await post('DrpAllotment', distribution))
      await reached(distribution, 4)
      const inRanges = await entitled(service.admin, distribution)
      for (const status of [4, 3, 2]) {
        taken(await post('Reverse', distribution, reversal(status)))
        await reached(distribution, status - 1)
      }
      assert.deepEqual(await entitled(service.admin, distribution), [])
      await stage(whole.admin, 'Declare', distribution, lists)
      await stage(whole.admin, 'Payment', distribution)
      await stage(whole.admin, 'DrpAllotment', distribution)
      assert.deepEqual(await entitled(service.admin, distribution), inRanges)
      await takeBack(whole.admin, distribution, 4)
    })

  it('leaves an audit record when it is taken on and one when it is done', async () => {
    await work()
    const { distribution } = await planned(methods['an amount per unit'])
    await post('Declare', distribution)
    await reached(distribution, 2)
    const path = `/Audit?Resource=Distribution&ResourceID=${distribution.corporateActionID}`
    const operations = all(await service.admin.get(path)).map(
      ({ operation, username }: Record<string, string>) => `${operation} by ${username}`,
    )
    assert.deepEqual(operations, [
      'POST /Distribution by admin',
      'POST /Distribution/Declare by admin',
      'POST /Distribution/Declare by admin',
    ])
  })

  it('that does not get on keeps its status and refuses every other stage', async () => {
    await rest()
    const { distribution } = await planned(methods['an amount per unit'])
    const { distributionStatusID, stageProgress } = taken(await post('Declare', distribution))
    assert.equal(distributionStatusID, 1)
    assert.deepEqual([stageProgress.stage, stageProgress.progressPercent], ['Declare', 0])
    const shown = await read(distribution)
    assert.equal(shown.stageProgress.accountCount, 7)
    refused(await post('Declare', distribution), 409, 'in_progress')
    refused(await post('Payment', distribution), 409, 'in_progress')
    refused(await service.admin.put('/Distribution', shown), 409, 'in_progress')
    await work()
    await reached(distribution, 2)
  })

  it('whose connection is ended on the way goes on by itself', async () => {
    await rest()
    const { distribution } = await planned(methods['an amount per unit'])
    taken(await post('Declare', distribution))
    const holder = new pg.Client(service.connection)
    await holder.connect()
    await holder.query('begin; lock table entitlement in access exclusive mode')
    await work()
    await until('it to wait', () => endWaiting(service.connection))
    await holder.end()
    await reached(distribution, 2)
  })

  it('can be taken back half way: the accounts that were paid are not any more', async () => {
    await work()
    const { distribution } = await planned(methods['a total by units'])
    await post('Declare', distribution)
    await reached(distribution, 2)
    const declared = await entitled(service.admin, distribution)
    await rest()
    taken(await post('Payment', distribution))
    await stopAfterSpans(service, distribution, 2)
    const paid = await entitled(service.admin, distribution)
    assert.equal(paid.filter(({ isPaid }: { isPaid: boolean }) => isPaid).length, 3)
    await assertVerified(service)
    taken(await post('Reverse', distribution, reversal(3)))
    // Of those who reinvest all, and so have no payment, only who was reached is taken back.
    const { corporateActionID } = distribution
    const trail = `/Audit?Resource=Distribution&ResourceID=${corporateActionID}&Order=desc`
    const [{ changes }] = all(await service.admin.get(trail))
    const gross = paid.slice(0, 4).map(({ grossAmount }: { grossAmount: number }) => grossAmount)
    const together = gross.reduce((sum: number, amount: number) => sum + amount, 0)
    assert.equal(Number(changes.total).toFixed(2), together.toFixed(2))
    await work()
    await reached(distribution, 2)
    refused(await post('Reverse', distribution, reversal(3)), 409, 'wrong_stage')
    assert.deepEqual(await entitled(service.admin, distribution), declared)
  })

  it('that takes units back stops where money was used meanwhile, and goes on after', async () => {
    await rest()
    const fund = await fundOf(service, [300, 300, 300], { investments: [{}, { unitDecimals: 0 }] })
    for (const i of [0, 1, 2]) await choose(service, account(fund, i), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 7 }
    const made = () => configure(service, fund, { distributionAmountPerUnit: 1, ...drp })
    const [first, next] = [await made(), await made()]
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(whole.admin, name, first)
    for (const name of ['Declare', 'Payment'] as const) await stage(whole.admin, name, next)
    taken(await post('Reverse', first, reversal(4)))
    await choose(service, account(fund, 0), 1)
    const { productID, investmentID } = fund
    const payout = { productID, investmentID, date: '2025-08-01' }
    assert.deepEqual(all(await whole.admin.post('/Distribution/PayResiduals', payout)), [])
    // Of each 300, 294 bought units: the 6 that were left are used here, and would be given back.
    await stage(whole.admin, 'DrpAllotment', next)
    await work()
    const stopped = await until(
      'stopped',
      async () => (await read(first)).stageProgress.errorMessage,
    )
    assert.match(stopped, /was allotted by distribution \d+: reverse that allotment first/)
    await assertVerified(service)
    await takeBack(whole.admin, next, 4)
    await takeBack(whole.admin, first, 4)
    for (const one of [next, first]) await stage(whole.admin, 'DrpAllotment', one)
  })

  it('of an allotment leaves nothing that is paid out before the day it was told', async () => {
    await rest()
    const fund = await fundOf(service, [300, 300, 300], { investments: [{}, { unitDecimals: 0 }] })
    for (const i of [0, 1, 2]) await choose(service, account(fund, i), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 7 }
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1, ...drp })
    for (const name of ['Declare', 'Payment'] as const) await stage(whole.admin, name, distribution)
    taken(await post('DrpAllotment', distribution, { drpAllotmentDate: '2025-09-01' }))
    await stopAfterSpans(service, distribution, 1)
    await choose(service, account(fund, 0), 1)
    const { productID, investmentID } = fund
    const payOut = (date: string) =>
      whole.admin.post('/Distribution/PayResiduals', { productID, investmentID, date })
    assert.deepEqual(all(await payOut('2025-08-31')), [])
    assert.equal(only(await payOut('2025-09-01')).amount, 6)
    await work()
    await reached(distribution, 4)
  })

  it('of a declaration misses nobody in silence who comes to where it has been', async () => {
    await rest()
    const fund = await fundOf(service, [0, 0, 300, 400])
    const late = [0, 1].map((i) => ({ accountID: account(fund, i), quantity: 5 }))
    await allot(service, fund, late, '2025-07-20')
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    taken(await post('Declare', distribution))
    await stopAfterSpans(service, distribution, 1)
    await allot(service, fund, late.slice(1), '2025-06-30')
    await work()
    await reached(distribution, 2)
    const { productID, corporateActionID } = distribution
    const found = only(
      await service.admin.get(
        `/Distribution/Exceptions?ProductID=${productID}&CorporateActionID=${corporateActionID}`,
      ),
    )
    assert.deepEqual([found.accountID, found.heldUnits], [account(fund, 1), 5])
  })

  it('that takes payments back keeps a run from being approved that would send them', async () => {
    await rest()
    const { fund, distribution } = await paidFund(whole, [100, 200, 300])
    const run = await newRun(service.admin, fund)
    taken(await post('Reverse', distribution, reversal(3)))
    const approver = await service.userWith({ role: 'Administrator' })
    const approve = () => approver.post('/PaymentRun/Approve', { paymentRunID: run.paymentRunID })
    refused(await approve(), 409, 'in_progress')
    await work()
    await reached(distribution, 2)
    refused(await approve(), 409, 'nothing_to_pay')
  })

  it('that takes payments back sees a run that is approved while it waits', async () => {
    const { fund, distribution } = await paidFund(whole, [100])
    const run = await newRun(service.admin, fund)
    const approver = await service.userWith({ role: 'Administrator' })
    const holder = new pg.Client(service.connection)
    await holder.connect()
    await holder.query('begin')
    const { productID } = fund
    await holder.query('select from ledger_account where product_id = $1 for update', [productID])
    const waiting = (count: number) =>
      until(`${count} wait`, async () => (await waitingForLocks(service.connection)) === count)
    const approving = step(approver, 'Approve', run)
    await waiting(1)
    const reversing = post('Reverse', distribution, reversal(3))
    await waiting(2)
    await holder.query('rollback')
    await holder.end()
    await approving
    refused(await reversing, 409, 'in_payment_run')
  })
})

describe('The period of a stage that goes on as a job', () => {
  const lock = async ({ productID }: Distribution, lockedDate: string | null) => {
    const product = only(await service.admin.get(`/Product?ProductID=${productID}`))
    return service.admin.put('/Product', { ...product, lockedDate })
  }
  const declared = async () => {
    const { distribution } = await planned(methods['an amount per unit'])
    await stage(whole.admin, 'Declare', distribution)
    return distribution
  }

  it('is not locked before the stage has ended; what comes before its day is', async () => {
    await rest()
    const distribution = await declared()
    taken(await post('Payment', distribution))
    refused(await lock(distribution, '2025-07-15'), 409, 'in_progress')
    only(await lock(distribution, '2025-07-14'))
    await stopAfterSpans(service, distribution, 1)
    refused(await lock(distribution, '2025-12-31'), 409, 'in_progress')
    only(await lock(distribution, null))
    await work()
    await reached(distribution, 3)
    only(await lock(distribution, '2025-07-15'))
    refused(await post('Reverse', distribution, reversal(3)), 409, 'period_locked')
    // A day that was locked before is none that is going to be.
    await rest()
    taken(await post('DrpAllotment', distribution, { drpAllotmentDate: '2025-09-01' }))
    only(await lock(distribution, '2025-08-31'))
    await work()
    await reached(distribution, 4)
  })

  it('is that of the day an allotment was told, also while it is taken back half way', async () => {
    await rest()
    const distribution = await declared()
    await stage(whole.admin, 'Payment', distribution)
    taken(await post('DrpAllotment', distribution, { drpAllotmentDate: '2025-08-20' }))
    await stopAfterSpans(service, distribution, 1)
    refused(await lock(distribution, '2025-08-20'), 409, 'in_progress')
    only(await lock(distribution, '2025-08-19'))
    taken(await post('Reverse', distribution, reversal(4)))
    refused(await lock(distribution, '2025-08-20'), 409, 'in_progress')
    await work()
    await reached(distribution, 3)
    only(await lock(distribution, '2025-08-20'))
  })
})

describe('Reports while a stage goes on as a job', () => {
  /** Stops a stage where it is, with an error message, or lets it go on (null). */
  const halt = ({ productID }: Distribution, words: string | null) =>
    rowsOf(
      service.connection,
      'update distribution_stage set error_message = $2 where product_id = $1',
      [productID, words],
    )

  it('tell of no distribution that some accounts are paid of and others not', async () => {
    const taxComponents = [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }]
    const fund = await taxingFund(service)
    const { accountID } = await investor(service, fund, [unquoted])
    for (let i = 0; i < 3; i++) await investor(service, fund, [unquoted])
    const distribution = await configure(service, fund, {
      distributionAmountPerUnit: 1,
      taxComponents,
    })
    await stage(whole.admin, 'Declare', distribution)
    const { productID } = fund
    const year = { reportTypeID: 9, productID, accountID, date: '2025-09-30' }
    const tax = { reportTypeID: 12, productID, format: 'json', toDate: '2025-12-31' }
    const taxed = async () => JSON.parse(String(await fileOf(service.admin, tax))).totals?.tax
    const halfWay = async (name: 'Payment' | 'Reverse', more: object = {}) => {
      const words = name === 'Payment' ? /The stage Payment of/ : /The stage ReversePayment of/
      await rest()
      taken(await post(name, distribution, more))
      await stopAfterSpans(service, distribution, 1)
      await halt(distribution, 'halted')
      await work()
      for (const reportTypeID of [4, 8]) {
        const told = await order(service.admin, { reportTypeID, ...keyOf(distribution) })
        assert.equal(told.reportStatusID, 4)
        assert.match(told.errorMessage, words)
      }
      const none = await order(service.admin, year)
      assert.match(none.errorMessage, /No account has anything/)
      assert.equal(await taxed(), undefined)
      await halt(distribution, null)
      await reached(distribution, name === 'Payment' ? 3 : 2)
    }
    await halfWay('Payment')
    assert.equal(await taxed(), 1880)
    assert.equal((await order(service.admin, year)).reportStatusID, 3)
    await halfWay('Reverse', reversal(3))
    await stage(whole.admin, 'Payment', distribution)
    assert.equal(await taxed(), 1880)
  })
})
