import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import {
  account,
  choose,
  configure,
  type Distribution,
  entitled,
  fundOf,
  keyOf,
  newPaymentDetail,
  stage,
  takeBack,
} from '../support/distribution.ts'
import { all, assertVerified, type Fund, only, poster } from '../support/ledger.ts'
import { newRun, paymentsOf, step } from '../support/payment-run.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { pagesOf } from '../support/readers.ts'
import { refused } from '../support/refused.ts'
import { fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, taxingFund, unquoted } from '../support/withholding.ts'

/** A setting of the second node, where stages over more than one account are jobs. */
const inline = { REGISTRY_STAGE_INLINE: '1' }

let service: Service
let jobs: Service
let approver: Client
let stopWorker: () => Promise<void>
before(async () => {
  const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
  service = await startService(folder)
  jobs = await startService(inline, service.connection)
  approver = await service.userWith({ role: 'Administrator' })
  stopWorker = await workFor(service, { ...inline, ...folder })
})
after(async () => {
  await stopWorker()
  await assertVerified(service)
  await jobs.stop()
  await service.stop()
})

const send = poster(() => service.admin)
const stages = ['Declare', 'Payment', 'DrpAllotment'] as const
const closed = { account: { accountStatusID: 3 }, entity: { bizEntityStatusID: 4 } }

/** Redeems all that an account holds, after the record date, and closes it or its entity. */
async function leave(accountID: number, by: keyof typeof closed) {
  const held = all(await service.admin.get(`/BizEntity/Account/Holdings?AccountID=${accountID}`))
  const units = held.filter(({ quantity }: { quantity: number }) => quantity > 0)
  const transactionDate = '2025-07-16'
  for (const { investmentID, quantity } of units) {
    const whole = { accountID, investmentID, quantity, transactionDate, investmentPrice: 1 }
    only(await send('Redemption', whole))
  }
  const [{ bizEntityID }] = held
  const entity = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
  const [own] = entity.accounts
  const change = by === 'entity' ? closed.entity : { accounts: [{ ...own, ...closed.account }] }
  const bizEntityParties = [{ person: { firstName: 'Ann', lastName: 'Example' } }]
  only(await service.admin.put('/BizEntity', { ...entity, bizEntityParties, ...change }))
}

/**
 * A class of which the second holder reinvests half and the third all, in whole units at 7. One
 * distribution is completed and leaves residuals of 2 and 6; another of 1 a unit is configured.
 */
async function planned(first: object = {}) {
  const fund = await fundOf(service, [100, 200, 300], { investments: [first, { unitDecimals: 0 }] })
  await choose(service, account(fund, 1), 3, 50)
  await choose(service, account(fund, 2), 2)
  for (const { accountID } of fund.accounts) await newPaymentDetail(service, accountID)
  const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 7 }
  const how = { distributionAmountPerUnit: 1, ...drp }
  const before = await configure(service, fund, how)
  for (const name of stages) await stage(service.admin, name, before)
  return { fund, distribution: await configure(service, fund, how) }
}

type Entitled = { cashAmount: number; drpAmount: number; drpUnits: number | null }
const shares = async (distribution: Distribution) =>
  (await entitled(service.admin, distribution)).map(
    ({ cashAmount, drpAmount, drpUnits }: Entitled) => [cashAmount, drpAmount, drpUnits],
  )

/** The residuals of reinvested money, account by account. */
const residuals = async ({ productID, investmentID }: Fund) =>
  all(
    await service.admin.get(
      `/BizEntity/Account/Holdings?ProductID=${productID}&InvestmentID=${investmentID}`,
    ),
  )
    .map(({ drpResidual }: { drpResidual: number }) => drpResidual)
    .filter((left: number) => left > 0)

type Posted = { accountID: number; amount: number; quantity: number }
const residualsPaid = async (fund: Fund, { corporateActionID }: Distribution) =>
  all(
    await service.admin.get(`/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=13`),
  )
    .filter(
      (one: { corporateActionID: number; bizTransactionStatusID: number }) =>
        one.corporateActionID === corporateActionID && one.bizTransactionStatusID === 1,
    )
    .map(({ accountID, amount, quantity }: Posted) => [accountID, amount, quantity])

const paying = (fund: Fund, { corporateActionID }: Distribution) =>
  newRun(service.admin, fund, {
    sources: ['Distribution', 'Residual'],
    corporateActionIDs: [corporateActionID],
  })

describe('An account that is closed before the payment', () => {
  for (const by of ['account', 'entity'] as const)
    it(`by the ${by}’s status is paid what it would have reinvested, and sent it`, async () => {
      const { fund, distribution } = await planned()
      await leave(account(fund, 2), by)
      const preview = await service.admin.post('/Distribution/Preview', keyOf(distribution))
      assert.deepEqual([preview.data.cashAmount, preview.data.drpAmount], [500, 100])
      assert.deepEqual(preview.data.exceptions, [
        {
          accountID: account(fund, 2),
          accountNumber: fund.accounts[2]!.accountNumber,
          code: 'closed_account',
        },
      ])
      await stage(service.admin, 'Declare', distribution)
      const declared = await shares(distribution)
      const paid = await service.admin.post('/Distribution/Payment', keyOf(distribution))
      assert.match(paid.message!, /^Paid 500 to 3 accounts\./)
      assert.deepEqual((await shares(distribution))[2], [300, 0, null])
      // With it goes what was left of the distribution before.
      assert.deepEqual(await residualsPaid(fund, distribution), [[account(fund, 2), 6, 0]])
      assert.equal((await paying(fund, distribution)).payments.amount, 506)
      await takeBack(service.admin, distribution, 3)
      assert.deepEqual(await shares(distribution), declared)
      assert.deepEqual(await residuals(fund), [2, 6])
      for (const name of stages.slice(1)) await stage(service.admin, name, distribution)
      assert.deepEqual(await shares(distribution), [
        [100, 0, null],
        [100, 100, 14],
        [300, 0, null],
      ])
    })

  it('is paid after tax, and has back what it chose when the payment is taken back', async () => {
    const fund = await taxingFund(service)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.targetID, drpPrice: 7 }
    const { accountID } = await investor(service, fund, [unquoted], {
      units: 1000,
      account: { drpTypeID: 2 },
    })
    await investor(service, fund, [unquoted], { units: 100, account: { drpTypeID: 2 } })
    const how = {
      distributionAmountPerUnit: 1,
      taxComponents: [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }],
      ...drp,
    }
    const distribution = await configure(service, fund, how)
    await leave(accountID, 'account')
    await stage(service.admin, 'Declare', distribution)
    const declared = await shares(distribution)
    await stage(service.admin, 'Payment', distribution)
    assert.deepEqual(await shares(distribution), [
      [530, 0, null],
      [0, 53, null],
    ])
    await takeBack(service.admin, distribution, 3)
    assert.deepEqual(await shares(distribution), declared)
  })
})

describe('A payment that was taken back', () => {
  it('is known as it was, also of who reinvested all and is paid in cash since', async () => {
    const { fund, distribution } = await planned()
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    const knownAt = new Date().toISOString()
    const report = { reportTypeID: 4, format: 'csv', ...keyOf(distribution), knownAt }
    const first = String(await fileOf(service.admin, report))
    await takeBack(service.admin, distribution, 3)
    await leave(account(fund, 2), 'account')
    await stage(service.admin, 'Payment', distribution)
    assert.deepEqual((await shares(distribution))[2], [300, 0, null])
    assert.equal(String(await fileOf(service.admin, report)), first)
  })
})

describe('An account that is closed between payment and DRP allotment', () => {
  it('gets its money and no units, in a job as well, and the stage can be taken back', async () => {
    for (const node of [service, jobs]) {
      const { fund, distribution } = await planned()
      for (const name of ['Declare', 'Payment'] as const)
        await stage(service.admin, name, distribution)
      await leave(account(fund, 1), 'entity')
      const allotting = await node.admin.post('/Distribution/DrpAllotment', keyOf(distribution))
      assert.equal(allotting.status, node === jobs ? 202 : 200, allotting.text)
      const { productID, corporateActionID } = distribution
      const query = `ProductID=${productID}&CorporateActionID=${corporateActionID}`
      await until('the allotment', async () => {
        const now = only(await service.admin.get(`/Distribution?${query}`))
        return now.distributionStatusID === 4 && now.stageProgress === null
      })
      assert.deepEqual(await shares(distribution), [
        [100, 0, null],
        [100, 100, 0],
        [0, 300, 43],
      ])
      assert.deepEqual(await residualsPaid(fund, distribution), [[account(fund, 1), 102, 0]])
      assert.deepEqual(await residuals(fund), [5])
      const draft = await paying(fund, distribution)
      assert.equal(draft.payments.amount, 302)
      await takeBack(service.admin, distribution, 4)
      assert.deepEqual(await residuals(fund), [2, 6])
      const left = only(await service.admin.get(`/PaymentRun?PaymentRunID=${draft.paymentRunID}`))
      assert.equal(left.payments.amount, 200)
      await stage(service.admin, 'DrpAllotment', distribution)
      await step(approver, 'Approve', await paying(fund, distribution))
      const back = { ...keyOf(distribution), fromStatusID: 4, reason: 'tried' }
      refused(await service.admin.post('/Distribution/Reverse', back), 409, 'in_payment_run')
    }
  })

  it('leaves what was left before where the class carries it', async () => {
    const { fund, distribution } = await planned({ drpResidualOnExit: 'Carry' })
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    await leave(account(fund, 1), 'account')
    const reply = await service.admin.post('/Distribution/DrpAllotment', keyOf(distribution))
    assert.equal(reply.status, 200, reply.text)
    assert.match(reply.text, /100 is paid to 1 account closed since\./)
    const trail = `/Audit?Resource=Distribution&ResourceID=${distribution.corporateActionID}`
    const { changes } = all(await service.admin.get(trail)).at(-1)
    assert.deepEqual([changes.total, changes.residualAmount], ['301', '100'])
    assert.deepEqual(await residualsPaid(fund, distribution), [[account(fund, 1), 100, 0]])
    assert.deepEqual(await residuals(fund), [2, 5])
    const ordered = { reportTypeID: 4, format: 'json', ...keyOf(distribution) }
    const { rows } = JSON.parse(String(await fileOf(service.admin, ordered)))
    const told = rows.map(({ drp, residual, residualPaid }: Record<string, string>) =>
      [drp, residual, residualPaid].map(Number),
    )
    assert.deepEqual(told, [
      [0, 0, 0],
      [100, 2, 100],
      [300, 5, 0],
    ])
  })

  it('is in the annual statement, beside what was left for who has left the plan', async () => {
    const { fund, distribution } = await planned()
    await choose(service, account(fund, 1), 1)
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    await leave(account(fund, 2), 'account')
    await stage(service.admin, 'DrpAllotment', distribution)
    assert.deepEqual(await residuals(fund), [])
    const { rows, totals } = JSON.parse(
      String(
        await fileOf(service.admin, { reportTypeID: 4, format: 'json', ...keyOf(distribution) }),
      ),
    )
    const told = ({ cash, residual, residualPaid }: Record<string, number>) => [
      cash,
      residual,
      residualPaid,
    ]
    assert.deepEqual(rows.map(told), [
      [100, 0, 0],
      [200, 0, 2],
      [0, 0, 306],
    ])
    assert.deepEqual(told(totals), [300, 0, 308])
    // What the statements of the year tell that accounts were paid is what a run pays them.
    const run = await newRun(service.admin, fund, { sources: ['Distribution', 'Residual'] })
    const paid = await paymentsOf(service.admin, run)
    assert.deepEqual(
      paid.map(({ amount }: { amount: number }) => amount),
      [200, 302, 306],
    )
    const statement = async (place: number, more: object = {}) => {
      const of = { reportTypeID: 9, productID: fund.productID, accountID: account(fund, place) }
      const file = await fileOf(service.admin, { ...of, date: '2025-09-30', ...more })
      return (await pagesOf(file)).join(' ')
    }
    assert.match(await statement(1), /Paid out of reinvestments\W+AUD 300\.00 300\.00 2\.00/)
    const closer = await statement(2)
    assert.match(closer, /Paid out of reinvestments\W+AUD 0\.00 0\.00 306\.00/)
    assert.doesNotMatch(await statement(0), /Paid out of reinvestments/)
    assert.equal(await statement(2, { investmentID: fund.investmentID }).then(hasPaidOut), true)
    await takeBack(service.admin, distribution, 4)
    assert.equal(hasPaidOut(await statement(2)), false)
    assert.equal(hasPaidOut(await statement(1)), true)
  })

  it('has a line in report 4 where it was left for who has no entitlement any more', async () => {
    const { fund } = await planned()
    await leave(account(fund, 2), 'account')
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 7 }
    const dates = { recordDate: '2025-07-31', paymentDate: '2025-08-15' }
    const how = { distributionAmountPerUnit: 1, ...drp, ...dates }
    const distribution = await configure(service, fund, how)
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    assert.equal((await entitled(service.admin, distribution)).length, 2)
    assert.deepEqual(await residualsPaid(fund, distribution), [[account(fund, 2), 6, 0]])
    const { investmentID } = fund
    const ordered = { reportTypeID: 4, format: 'json', investmentID, ...keyOf(distribution) }
    const made = async () => JSON.parse(String(await fileOf(service.admin, ordered)))
    const { rows, totals } = await made()
    const told = ({ units, gross, component1, tax, drp: held, residualPaid, cash }: Line) =>
      [units, gross, component1, tax, held, residualPaid, cash].map(Number)
    assert.deepEqual(rows.map(told), [
      [100, 100, 100, 0, 0, 0, 100],
      [200, 200, 200, 0, 100, 0, 100],
      [0, 0, 0, 0, 0, 6, 0],
    ])
    assert.deepEqual(told(totals), [300, 300, 300, 0, 100, 6, 200])
    assert.equal(rows[2].paidTo, '062000 *****678')
    const paper = await pagesOf(await fileOf(service.admin, { ...ordered, format: 'pdf' }))
    assert.equal(paper.join(' ').match(/Class S-/g)?.length, 1)
    await takeBack(service.admin, distribution, 3)
    assert.equal((await made()).rows.length, 2)
  })
})

type Line = Record<string, string>

const hasPaidOut = (statement: string) => statement.includes('Paid out of reinvestments')
