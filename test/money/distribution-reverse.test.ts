import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
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
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const reverse = (distribution: Distribution, fromStatusID: number) =>
  service.admin.post('/Distribution/Reverse', {
    ...keyOf(distribution),
    fromStatusID,
    reason: 'Wrong rate',
  })

/** A distribution in which the second account reinvests half, and the third all, at 7. */
async function planned() {
  const fund = await fundOf(service, [100, 200, 300], { investments: [{}, { unitDecimals: 0 }] })
  await choose(service, account(fund, 1), 3, 50)
  await choose(service, account(fund, 2), 2)
  const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 7 }
  const distribution = await configure(service, fund, { distributionAmountTotal: 123.45, ...drp })
  return { fund, distribution, drp }
}

const holdings = async ({ productID }: Fund) =>
  all(await service.admin.get(`/BizEntity/Account/Holdings?ProductID=${productID}`))

/** The transactions of a product that count, and the residuals of reinvested money. */
const ledgerOf = ({ productID }: Fund) =>
  rowsOf(
    service.connection,
    `select (select json_agg(h order by account_id, investment_id) from holding h
        where product_id = $1 and quantity > 0) as held,
      (select json_agg(r order by account_id) from drp_residual r
        where product_id = $1 and amount > 0) as residuals,
      (select count(*) from biz_transaction
        where product_id = $1 and biz_transaction_status_id <> 3) as counted`,
    [productID],
  )

describe('POST /Distribution/Reverse', () => {
  it('takes back stage by stage to where each began, and the stages can be run again', async () => {
    const { fund, distribution } = await planned()
    const pictures: unknown[] = []
    const steps = ['Declare', 'Payment', 'DrpAllotment'] as const
    for (const name of steps) {
      pictures.push([await ledgerOf(fund), await entitled(service.admin, distribution)])
      await stage(service.admin, name, distribution)
    }
    const done = await entitled(service.admin, distribution)
    for (const status of [4, 3, 2]) {
      const back = await takeBack(service.admin, distribution, status)
      assert.equal(back.distributionStatusID, status - 1)
      const now = [await ledgerOf(fund), await entitled(service.admin, distribution)]
      assert.deepEqual(now, pictures[status - 2])
    }
    for (const name of steps) await stage(service.admin, name, distribution)
    assert.deepEqual(await entitled(service.admin, distribution), done)
  })

  it('of an allotment leaves the price and the day that were configured', async () => {
    const fund = await fundOf(service, [100], { investments: [{}, {}] })
    await choose(service, account(fund, 0), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1] }
    const none = { drpPrice: null, drpAllotmentDate: null }
    const configured = { drpPrice: 7, drpAllotmentDate: '2025-07-16' }
    const wrong = { drpPrice: 70, drpAllotmentDate: '2025-07-20' }
    const shown = ({ drpPrice, drpAllotmentDate }: typeof none) => ({ drpPrice, drpAllotmentDate })
    for (const terms of [none, configured]) {
      const given = { distributionAmountTotal: 100, ...drp, ...terms }
      const distribution = await configure(service, fund, given)
      for (const name of ['Declare', 'Payment'] as const)
        await stage(service.admin, name, distribution)
      for (const _ of ['once', 'again']) {
        const done = await stage(service.admin, 'DrpAllotment', distribution, wrong)
        assert.deepEqual(shown(done), wrong)
        assert.deepEqual(shown(await takeBack(service.admin, distribution, 4)), terms)
      }
      const next = await service.admin.post('/Distribution/DrpAllotment', keyOf(distribution))
      if (terms === none) refused(next, 409, 'no_drp_price')
      else assert.deepEqual(shown(only(next)), configured)
    }
  })

  it('called again does not step back twice, and needs a status to come from', async () => {
    const { distribution } = await planned()
    refused(await reverse(distribution, 1), 409, 'wrong_stage')
    await stage(service.admin, 'Declare', distribution)
    await stage(service.admin, 'Payment', distribution)
    assert.equal((await reverse(distribution, 3)).status, 200)
    refused(await reverse(distribution, 3), 409, 'wrong_stage')
    const nothing = { ...keyOf(distribution), reason: 'x' }
    refused(await service.admin.post('/Distribution/Reverse', nothing), 400)
  })

  it('keeps what was declared as history, and what was posted as rolled back', async () => {
    const { fund, distribution } = await planned()
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    await takeBack(service.admin, distribution, 3)
    const paid = all(
      await service.admin.get(
        `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=10`,
      ),
    )
    assert.deepEqual(
      paid.map(({ bizTransactionStatusID: id }: { bizTransactionStatusID: number }) => id),
      [3, 3],
    )
    await takeBack(service.admin, distribution, 2)
    const [{ kept }] = await rowsOf(
      service.connection,
      `select json_agg(gross_amount order by account_id) as kept from entitlement_history
      where product_id = $1`,
      [fund.productID],
    )
    assert.deepEqual(kept, [20.58, 41.15, 61.72])
    // The configuration can be mended now.
    const mended = { ...(await configure(service, fund, { distributionAmountPerUnit: 1 })) }
    assert.equal(mended.distributionStatusID, 1)
  })

  it('and every stage leave a locked period alone', async () => {
    const { fund, distribution } = await planned()
    await stage(service.admin, 'Declare', distribution)
    const lock = (day: string | null) =>
      rowsOf(service.connection, 'update product set locked_date = $2 where product_id = $1', [
        fund.productID,
        day,
      ])
    await lock('2025-07-15')
    refused(
      await service.admin.post('/Distribution/Payment', keyOf(distribution)),
      409,
      'period_locked',
    )
    await lock('2025-07-14')
    await stage(service.admin, 'Payment', distribution)
    await lock('2025-07-15')
    refused(await reverse(distribution, 3), 409, 'period_locked')
    const allotment = await service.admin.post('/Distribution/DrpAllotment', keyOf(distribution))
    refused(allotment, 409, 'period_locked')
    await lock(null)
    await takeBack(service.admin, distribution, 3)
  })

  it('names the accounts whose allotted units are gone', async () => {
    const { fund, distribution } = await planned()
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    const body = { accountID: account(fund, 2), investmentID: fund.investmentIDs[1], quantity: 1 }
    const sold = await poster(() => service.admin)('Redemption', { ...body, investmentPrice: 7 })
    assert.equal(sold.status, 200, sold.text)
    const reply = await reverse(distribution, 4)
    refused(reply, 409, 'units_gone')
    assert.match(reply.message!, new RegExp(fund.accounts[2]!.accountNumber))
    assert.equal((await entitled(service.admin, distribution))[2].isAllotted, true)
  })

  it('refuses where a later allotment has used what was left', async () => {
    const { fund, distribution, drp } = await planned()
    const later = await configure(service, fund, { distributionAmountTotal: 50, ...drp })
    for (const each of [distribution, later])
      for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
        await stage(service.admin, name, each)
    refused(await reverse(distribution, 4), 409, 'residual_used')
    await takeBack(service.admin, later, 4)
    await takeBack(service.admin, distribution, 4)
    assert.deepEqual((await ledgerOf(fund))[0].residuals, null)
  })
})

describe('The payee of a payment', () => {
  it('is copied when it is made, and stays when the bank account is deleted', async () => {
    const fund = await fundOf(service, [100])
    const paymentDetailID = await newPaymentDetail(service, account(fund, 0))
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    await stage(service.admin, 'Declare', distribution)
    await stage(service.admin, 'Payment', distribution)
    const path = `/PaymentDetail?PaymentDetailID=${paymentDetailID}`
    assert.equal((await service.admin.delete(path)).status, 200)
    const [paid] = await entitled(service.admin, distribution)
    const { payeeName, payeeBsb, payeeAccountNumber, payeeIban } = paid
    assert.deepEqual(
      [payeeName, payeeBsb, payeeAccountNumber, payeeIban],
      ['Holder', '062000', '12345678', null],
    )
    const reader = await service.userWith({ permissions: ['Distribution.Read'] })
    const [masked] = await entitled(reader, distribution)
    assert.equal(masked.payeeAccountNumber, '*****678')
  })
})

describe('What is left of reinvested money', () => {
  /** A fund where one account has 4.72 left of a DRP. */
  async function withResidual(more: object = {}) {
    const { fund, distribution, drp } = await planned()
    if (Object.keys(more).length > 0)
      await rowsOf(
        service.connection,
        `update investment set drp_residual_on_exit = 'Carry' where investment_id = $1`,
        [fund.investmentID],
      )
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    const [, , third] = await entitled(service.admin, distribution)
    return { fund, drp, left: third.drpResidual as number, accountID: account(fund, 2) }
  }
  const next = async (fund: Fund, drp: object) => {
    const distribution = await configure(service, fund, {
      distributionAmountPerUnit: 0.1,
      recordDate: '2025-09-30',
      paymentDate: '2025-10-15',
      ...drp,
    })
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    return distribution
  }
  const residualsPaid = async (fund: Fund) =>
    all(
      await service.admin.get(
        `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=13`,
      ),
    ).filter((row: { bizTransactionStatusID: number }) => row.bizTransactionStatusID !== 3)

  it('goes out with the next payment to one who left the DRP, and comes back with it', async () => {
    const { fund, drp, left, accountID } = await withResidual()
    await choose(service, accountID, 1)
    const distribution = await next(fund, drp)
    const [paid, ...others] = await residualsPaid(fund)
    assert.deepEqual([others.length, paid.accountID, paid.amount], [0, accountID, left])
    await takeBack(service.admin, distribution, 3)
    assert.deepEqual(await residualsPaid(fund), [])
    await stage(service.admin, 'Payment', distribution)
    assert.equal((await residualsPaid(fund))[0].amount, left)
  })

  it('goes out by PayResiduals to one without units, who shows it until then', async () => {
    const { fund, left, accountID } = await withResidual()
    const sold = await poster(() => service.admin)('Redemption', {
      ...{ accountID, investmentID: fund.investmentID, quantity: 300 },
    })
    assert.equal(sold.status, 200, sold.text)
    const own = async () =>
      (await holdings(fund)).filter(
        (row: { accountID: number; investmentID: number }) =>
          row.accountID === accountID && row.investmentID === fund.investmentID,
      )
    const [position] = await own()
    assert.deepEqual([position.quantity, position.drpResidual], [0, left])
    const body = { investmentID: fund.investmentID, date: '2026-02-01' }
    const early = { ...body, date: '2024-01-15' } // before there was any of it
    assert.equal((await service.admin.post('/Distribution/PayResiduals', early)).recordCount, 0)
    const paid = only(await service.admin.post('/Distribution/PayResiduals', body))
    assert.deepEqual([paid.accountID, paid.amount], [accountID, left])
    assert.deepEqual(await own(), [])
    assert.equal((await service.admin.post('/Distribution/PayResiduals', body)).recordCount, 0)
    const far = { ...body, date: '2090-01-01' }
    refused(await service.admin.post('/Distribution/PayResiduals', far), 409, 'too_early')
  })

  it('stays where the investment carries it', async () => {
    const { fund, drp, accountID } = await withResidual({ carry: true })
    await choose(service, accountID, 1)
    await next(fund, drp)
    assert.deepEqual(await residualsPaid(fund), [])
    const body = { investmentID: fund.investmentID, date: '2026-02-01' }
    refused(await service.admin.post('/Distribution/PayResiduals', body), 409, 'residual_carried')
    const investment = only(
      await service.admin.get(`/Investment?InvestmentID=${fund.investmentID}`),
    )
    assert.equal(investment.drpResidualOnExit, 'Carry')
    const { drpResidualOnExit: _left, ...rest } = investment
    const kept = only(await service.admin.put('/Investment', rest))
    assert.equal(kept.drpResidualOnExit, 'Carry')
  })
})

describe('GET /Distribution/Account', () => {
  it('says why: the method, the units, the unit-days and the rate', async () => {
    const fund = await fundOf(service, [100, 300], { investments: [{ issuePrice: 2 }] })
    const period = { proRataStartDate: '2025-06-01', proRataEndDate: '2025-06-30' }
    const reasons = async (more: object, lists: object = {}) => {
      const distribution = await configure(service, fund, more)
      const preview = await service.admin.post('/Distribution/Preview', {
        ...keyOf(distribution),
        ...lists,
      })
      await stage(service.admin, 'Declare', distribution, lists)
      const rows = await entitled(service.admin, distribution)
      const why = (row: Record<string, unknown>) => [
        row.method,
        row.units,
        row.unitDays,
        row.rate,
        row.unitValue,
      ]
      assert.deepEqual(preview.data.accounts.map(why), rows.map(why))
      return rows.map(why)
    }
    assert.deepEqual((await reasons({ distributionAmountPerUnit: 0.5 }))[0], [
      'PerUnit',
      100,
      null,
      0.5,
      null,
    ])
    assert.deepEqual((await reasons({ distributionAmountTotal: 100 }))[1], [
      'Total',
      300,
      null,
      0.25,
      null,
    ])
    assert.deepEqual((await reasons({ centsPerUnitPerDay: 0.02, ...period }))[1], [
      'CentsPerUnitPerDay',
      300,
      9000,
      0.02,
      null,
    ])
    const yearly = { proRataPercentPerAnnum: 8, unitValuationMethod: 'Fixed', ...period }
    assert.deepEqual((await reasons(yearly))[0], ['PercentPerAnnum', 100, 3000, 8, 2])
    const listed = { preCalculatedAccounts: [{ accountID: account(fund, 0), amount: 9 }] }
    assert.deepEqual((await reasons({ distributionAmountPerUnit: 1 }, listed))[0], [
      'PreCalculated',
      100,
      null,
      null,
      null,
    ])
  })
})

describe('GET /Distribution', () => {
  it('filters by status', async () => {
    const fund = await fundOf(service, [100])
    const one = await configure(service, fund, { distributionAmountPerUnit: 1 })
    await configure(service, fund, { distributionAmountPerUnit: 1 })
    await stage(service.admin, 'Declare', one)
    const path = `/Distribution?ProductID=${fund.productID}&DistributionStatusID=2`
    assert.equal(only(await service.admin.get(path)).corporateActionID, one.corporateActionID)
  })
})
