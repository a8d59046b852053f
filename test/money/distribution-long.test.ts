import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { configure, entitled, stage, takeBack } from '../support/distribution.ts'
import { all, assertVerified, only, poster } from '../support/ledger.ts'
import { shortAsLong } from '../support/ledger-histories.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, quoted, type TaxingFund, taxingFund, unquoted } from '../support/withholding.ts'

let service: Service
before(async () => {
  const connection = await freshDatabase()
  await shortAsLong(connection, 2)
  service = await startService({}, connection)
})
after(() => service.stop())

const send = poster(() => service.admin)

/** Two holders of 1000 units, one of whom is taxed; both bought and sold a lot in October. */
async function traders() {
  const fund = await taxingFund(service)
  const { investmentID } = fund
  for (const parties of [[quoted], [unquoted]]) {
    const { accountID } = await investor(service, fund, parties, {
      account: { drpTypeID: 3, drpValue: 50 },
    })
    const own = { accountID, investmentID, transactionDate: '2025-10-01', investmentPrice: 1 }
    for (let i = 0; i < 3; i++) {
      only(await send('Deposit', { ...own, amount: 100 }))
      only(await send('Redemption', { ...own, quantity: 40, investmentPrice: 2 }))
    }
  }
  return fund
}

/** Pays a distribution with a record date before October, only now. */
async function pay(fund: TaxingFund, dates: object = {}) {
  const taxComponents = [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }]
  const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID, drpPrice: 1 }
  const how = { distributionAmountPerUnit: 0.1, taxComponents, ...drp, ...dates }
  const distribution = await configure(service, fund, how)
  for (const name of ['Declare', 'Payment'] as const) await stage(service.admin, name, distribution)
  return distribution
}

const held = async ({ productID, investmentID }: TaxingFund, date: string) => {
  const query = `ProductID=${productID}&InvestmentID=${investmentID}&Date=${date}`
  return all(await service.admin.get(`/BizEntity/Account/Holdings?${query}`)).map(
    ({ quantity, costAmount }: Record<string, number>) => [quantity, costAmount],
  )
}

const whole = [
  [1000, 1000],
  [1000, 1000],
]

describe('What a distribution pays back into a long history', () => {
  it('closes as what was before it: units are held, and entitle, on the days after', async () => {
    const fund = await traders()
    const now = await held(fund, '2025-12-31')
    const first = await pay(fund)
    for (const date of ['2025-07-14', '2025-07-15', '2025-09-30'])
      assert.deepEqual(await held(fund, date), whole, date)
    assert.deepEqual(await held(fund, '2025-12-31'), now)
    const second = await pay(fund, { recordDate: '2025-08-31', paymentDate: '2025-09-15' })
    const units = (await entitled(service.admin, second)).map((one: { units: number }) => one.units)
    assert.deepEqual(units, [1000, 1000])
    await stage(service.admin, 'DrpAllotment', second)
    await assertVerified(service)
    await takeBack(service.admin, second, 4)
    await takeBack(service.admin, second, 3)
    await takeBack(service.admin, first, 3)
    for (const date of ['2025-07-15', '2025-09-30']) assert.deepEqual(await held(fund, date), whole)
    assert.deepEqual(await held(fund, '2025-12-31'), now)
    await assertVerified(service)
  })

  it('leaves the units of an account that has gone on with another class alone', async () => {
    const fund = await taxingFund(service)
    const { accountID } = await investor(service, fund, [unquoted])
    const { investmentID, targetID } = fund
    const own = { accountID, transactionDate: '2025-07-15', amount: 10, investmentPrice: 1 }
    for (let i = 0; i < 4; i++) only(await send('Deposit', { ...own, investmentID }))
    const later = { investmentID: targetID, transactionDate: '2025-08-01' }
    only(await send('Deposit', { ...own, ...later }))
    await pay(fund)
    assert.deepEqual(await held(fund, '2025-12-31'), [[1040, 1040]])
    const after = { ...own, investmentID, transactionDate: '2025-09-01' }
    only(await send('Redemption', { ...after, amount: undefined, quantity: 1040 }))
    assert.deepEqual(await held(fund, '2025-12-31'), [])
    await assertVerified(service)
  })

  it('leaves what is posted before its day right when it is taken back', async () => {
    const fund = await taxingFund(service)
    const { accountID } = await investor(service, fund, [unquoted])
    const { investmentID, targetID } = fund
    const deposit = (more: object) =>
      send('Deposit', { accountID, investmentID, amount: 10, investmentPrice: 1, ...more })
    for (let i = 0; i < 4; i++) only(await deposit({ transactionDate: '2025-07-20' }))
    const other = { investmentID: targetID, transactionDate: '2025-07-20' }
    const { bizTransactionID } = only(await deposit(other))
    const dates = { recordDate: '2025-08-31', paymentDate: '2025-09-15' }
    const distribution = await pay(fund, dates)
    only(await deposit({ transactionDate: '2025-07-17' }))
    await takeBack(service.admin, distribution, 3)
    only(await service.admin.put('/BizTransaction/Rollback', { bizTransactionID }))
    only(await deposit({ transactionDate: '2025-08-10' }))
    for (const date of ['2025-08-31', '2025-09-30'])
      assert.deepEqual(await held(fund, date), [[1060, 1060]], date)
    await assertVerified(service)
  })

  it('is closed by the upgrade where it was paid before', async () => {
    const fund = await traders()
    await pay(fund)
    const late = await pay(fund, { recordDate: '2025-07-20', paymentDate: '2025-07-20' })
    await rowsOf(
      service.connection,
      `update biz_transaction set closing_quantity = null, closing_amount = null,
        closing_cost = null, closing_gain = null
      where product_id = $1 and biz_transaction_type_id in (10, 12)`,
      [fund.productID],
    )
    // Totals that had gone by it, and what was posted on top of them.
    await rowsOf(
      service.connection,
      `update holding set quantity = 0, invested_amount = 0, cost_amount = 0, realised_gain = 0
      where product_id = $1 and investment_id = $2`,
      [fund.productID, fund.investmentID],
    )
    const [one] = (await entitled(service.admin, late)) as { accountID: number }[]
    const { accountID } = one!
    const { investmentID } = fund
    const deposit = { accountID, investmentID, transactionDate: '2025-11-01', amount: 7 }
    only(await send('Deposit', { ...deposit, investmentPrice: 1 }))
    assert.deepEqual(await held(fund, '2025-07-31'), [])
    await rowsOf(
      service.connection,
      readFileSync('migrations/0071-closings-of-late-payments.sql', 'utf8'),
    )
    assert.deepEqual(await held(fund, '2025-07-31'), whole)
    const units = (await held(fund, '2025-12-31')).map(([quantity]: number[]) => quantity)
    assert.deepEqual(units, [1187, 1180])
    await assertVerified(service)
  })
})
