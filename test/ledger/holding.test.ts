import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { all, assertVerified, dayIn, newFund, newPrice, only, poster } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
before(async () => {
  service = await startService()
  admin = service.admin
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)
const read = async (query: string, client = admin) =>
  all(await client.get(`/BizEntity/Account/Holdings?${query}`))
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, options)
  return { ...made, own: { accountID: made.accountID, investmentID: made.investmentID } }
}

describe('GET /BizEntity/Account/Holdings', () => {
  it('shows a position with all its names and figures', async () => {
    const fund = await fresh({ price: 2 })
    await newPrice(service, fund.investmentID, '2026-01-15', 3)
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    only(await post('Redemption', { ...fund.own, quantity: 20, transactionDate: '2026-01-20' }))
    const [account] = fund.accounts
    const [investment] = all(await admin.get(`/Investment?InvestmentID=${fund.investmentID}`))
    const [position, ...rest] = await read(`ProductID=${fund.productID}`)
    assert.deepEqual(rest, [])
    const { externalBizEntityId, ...shown } = position
    assert.match(externalBizEntityId, /^E-/)
    assert.deepEqual(shown, {
      bizEntityID: account!.bizEntityID,
      bizEntityName: 'Investor 1',
      accountID: account!.accountID,
      externalAccountId: account!.externalAccountId,
      accountNumber: account!.accountNumber,
      productID: fund.productID,
      externalProductId: fund.externalProductId,
      investmentID: fund.investmentID,
      externalInvestmentId: investment.externalInvestmentId,
      securityCode: investment.securityCode,
      investmentName: 'Class',
      date: dayIn(),
      quantity: 30,
      availableQuantity: 30,
      costAmount: 60,
      averageCost: 2,
      price: 3,
      priceDate: '2026-01-15',
      marketValue: 90,
      unrealisedGain: 30,
      unrealisedGainPercent: 50,
      realisedGain: 20,
      distributionEntitlement: 0,
      distributionsPaid: 0,
      drpResidual: 0,
    })
  })

  it('gives the position at the end of any day, with the price of that day', async () => {
    const fund = await fresh({ price: null })
    const price = (day: string, value: number) =>
      newPrice(service, fund.investmentID, `2026-01-${day}`, value)
    await price('05', 1)
    await price('12', 2)
    const on = (day: string) => ({ ...fund.own, transactionDate: `2026-01-${day}` })
    only(await post('Deposit', { ...on('10'), amount: 100 }))
    only(await post('Redemption', { ...on('14'), quantity: 100 }))
    only(await post('Deposit', { ...on('16'), amount: 10 }))
    only(await post('Deposit', { ...on('10'), amount: 5 }))
    const asAt = async (day: string) =>
      (await read(`AccountID=${fund.accountID}&Date=2026-01-${day}`)).map(
        (row: Record<string, unknown>) => [row.date, row.quantity, row.costAmount, row.marketValue],
      )
    assert.deepEqual(await asAt('09'), [])
    assert.deepEqual(await asAt('10'), [['2026-01-10', 105, 105, 105]])
    assert.deepEqual(await asAt('11'), [['2026-01-11', 105, 105, 105]])
    assert.deepEqual(await asAt('12'), [['2026-01-12', 105, 105, 210]])
    assert.deepEqual(await asAt('14'), [['2026-01-14', 5, 5, 10]])
    assert.deepEqual(await asAt('16'), [['2026-01-16', 10, 15, 20]])
    refused(await admin.get('/BizEntity/Account/Holdings?Date=2026-02-30'), 400, 'invalid_date')
  })

  it('counts cost by average, and all of it goes with the last unit', async () => {
    const fund = await fresh({ investments: [{ unitDecimals: 0 }], price: null })
    const on = (day: string) => ({ ...fund.own, transactionDate: `2026-01-${day}` })
    only(await post('Deposit', { ...on('01'), amount: 100, quantity: 3 }))
    only(await post('Deposit', { ...on('02'), amount: 50, quantity: 4 }))
    only(await post('Redemption', { ...on('03'), quantity: 2, amount: 60 }))
    const figures = async (day: string) =>
      (await read(`AccountID=${fund.accountID}&Date=2026-01-${day}`)).map(
        (row: Record<string, number>) => [
          row.quantity,
          row.costAmount,
          row.averageCost,
          row.realisedGain,
        ],
      )
    // 150 for 7 units: two of them cost 42.857…, and were sold for 60.
    assert.deepEqual(await figures('03'), [[5, 107.14, 21.428, 17.14]])
    only(await post('Redemption', { ...on('04'), quantity: 5, amount: 100 }))
    assert.deepEqual(await figures('04'), [])
    only(await post('Deposit', { ...on('05'), amount: 10, quantity: 1 }))
    assert.deepEqual(await figures('05'), [[1, 10, 10, 10]])
  })

  it('without a price shows no gain, and the net invested amount as value', async () => {
    const fund = await fresh({ price: null })
    only(await post('Allotment', { ...fund.own, quantity: 10, amount: 50 }))
    only(await post('Redemption', { ...fund.own, quantity: 4, amount: 30 }))
    const [row] = await read(`AccountID=${fund.accountID}`)
    assert.deepEqual(
      [row.price, row.priceDate, row.marketValue, row.costAmount, row.unrealisedGain],
      [null, null, 20, 30, null],
    )
    assert.deepEqual([row.unrealisedGainPercent, row.realisedGain], [null, 10])
  })

  it('without units is worth nothing, whatever was gained and though it has no price', async () => {
    const fund = await fresh({ price: null })
    only(await post('Allotment', { ...fund.own, quantity: 10, amount: 50 }))
    only(await post('Redemption', { ...fund.own, quantity: 10, amount: 80 }))
    const path = `/BizEntity?AccountID=${fund.accountID}`
    const [account] = all(await admin.get(path))[0].accounts
    assert.deepEqual([account.balance, account.balances], [0, [{ currencyID: 1, amount: 0 }]])
  })

  it('shows no percentage of a cost of nothing', async () => {
    const fund = await fresh()
    only(await post('Adjustment', { ...fund.own, quantity: 10, amount: 0 }))
    const [row] = await read(`AccountID=${fund.accountID}`)
    assert.deepEqual(
      [row.costAmount, row.averageCost, row.unrealisedGain, row.unrealisedGainPercent],
      [0, 0, 10, null],
    )
  })

  it('leaves out positions of no units, now and then', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 10 }))
    only(await post('Redemption', { ...fund.own, quantity: 10, transactionDate: '2026-01-12' }))
    const gone = only(
      await post('Deposit', { ...fund.own, amount: 7, transactionDate: '2026-01-14' }),
    )
    only(await admin.put('/BizTransaction/Rollback', { bizTransactionID: gone.bizTransactionID }))
    assert.deepEqual(await read(`AccountID=${fund.accountID}`), [])
    assert.equal((await read(`AccountID=${fund.accountID}&Date=2026-01-11`)).length, 1)
    for (const day of ['12', '14'])
      assert.deepEqual(await read(`AccountID=${fund.accountID}&Date=2026-01-${day}`), [])
  })

  it('rounds a value in yen to whole yen', async () => {
    const fund = await fresh({ investments: [{ currencyID: 8, unitDecimals: 3 }], price: '101.5' })
    only(await post('Allotment', { ...fund.own, quantity: '1.001' }))
    const [row] = await read(`AccountID=${fund.accountID}`)
    assert.deepEqual([row.quantity, row.costAmount, row.marketValue], [1.001, 102, 102])
  })

  it('filters by product, account and investment, by every name, and pages', async () => {
    const fund = await fresh({ accounts: 2, investments: [{}, {}] })
    const [a, b] = fund.accounts
    const [one, two] = fund.investmentIDs
    const bodies = [a, b].flatMap((account) =>
      [one, two].map((investmentID) => ({
        accountID: account!.accountID,
        investmentID,
        amount: 1,
      })),
    )
    all(await post('Deposit', bodies))
    const investment = async (id: number | undefined) =>
      all(await admin.get(`/Investment?InvestmentID=${id}`))[0]
    const { externalInvestmentId, securityCode } = await investment(two)
    const places = async (query: string, client = admin) =>
      (await read(query, client)).map(({ accountID, investmentID }: Record<string, number>) =>
        [accountID === a!.accountID ? 'a' : 'b', investmentID === one ? 1 : 2].join(''),
      )
    const inFund = `ProductID=${fund.productID}`
    assert.deepEqual(await places(inFund), ['a1', 'a2', 'b1', 'b2'])
    assert.deepEqual(await places(`ExternalProductId=${fund.externalProductId}`), [
      'a1',
      'a2',
      'b1',
      'b2',
    ])
    assert.deepEqual(await places(`AccountID=${b!.accountID}`), ['b1', 'b2'])
    assert.deepEqual(await places(`${inFund}&AccountID.notEqual=${b!.accountID}`), ['a1', 'a2'])
    assert.deepEqual(await places(`ExternalAccountId=${a!.externalAccountId}`), ['a1', 'a2'])
    assert.deepEqual(await places(`AccountNumber=${b!.accountNumber}`), ['b1', 'b2'])
    assert.deepEqual(await places(`InvestmentID.in=${two}`), ['a2', 'b2'])
    assert.deepEqual(await places(`ExternalInvestmentId=${externalInvestmentId}`), ['a2', 'b2'])
    assert.deepEqual(await places(`SecurityCode.contains=${securityCode.toLowerCase()}`), [
      'a2',
      'b2',
    ])
    const date = '&Date=2026-01-10'
    assert.deepEqual(await places(`InvestmentID=${two}&AccountID=${a!.accountID}${date}`), ['a2'])
    assert.deepEqual(await places(`${inFund}&PageSize=3`), ['a1', 'a2', 'b1'])
    assert.deepEqual(await places(`${inFund}&PageSize=3&PageNumber=2${date}`), ['b2'])
    assert.deepEqual(await places(`${inFund}&PageNumber=${2 ** 53 - 1}`), [])
    refused(await admin.get('/BizEntity/Account/Holdings?Colour=red'), 400, 'unknown_parameter')

    const user = await service.userWith({ role: 'ReadOnly', productIDs: [fund.productID] })
    assert.deepEqual(await places('', user), ['a1', 'a2', 'b1', 'b2'])
    const elsewhere = await fresh()
    const stranger = await service.userWith({ role: 'ReadOnly', productIDs: [elsewhere.productID] })
    for (const query of ['', inFund, `AccountID=${a!.accountID}`, `InvestmentID=${one}${date}`])
      assert.deepEqual(await read(query, stranger), [])
  })
})
