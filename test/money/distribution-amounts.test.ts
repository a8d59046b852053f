import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import {
  account,
  allot,
  choose,
  configure,
  entitled,
  fingerprint,
  fundOf,
  grossOf,
  keyOf,
  stage,
} from '../support/distribution.ts'
import { assertVerified, newFund, newPrice, only, poster } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const post = poster(() => service.admin)

describe('Per unit, at the record date', () => {
  it('is units times the rate, rounded half away from zero: vector 1', async () => {
    const fund = await fundOf(service, [12_345])
    assert.deepEqual(await grossOf(service, fund, { distributionAmountPerUnit: 0.0325 }), [401.21])
    const half = await fundOf(service, ['1000.5'])
    assert.deepEqual(await grossOf(service, half, { distributionAmountPerUnit: 0.01 }), [10.01])
  })

  it('counts the close of the record date, later transactions not at all', async () => {
    const fund = await fundOf(service, [100, 100, 100])
    await allot(service, fund, [{ accountID: account(fund, 0), quantity: 1 }], '2025-06-30')
    await allot(service, fund, [{ accountID: account(fund, 1), quantity: 1 }], '2025-07-01')
    const redemption = { accountID: account(fund, 2), investmentID: fund.investmentID }
    only(await post('Redemption', { ...redemption, quantity: 100, transactionDate: '2025-06-30' }))
    assert.deepEqual(await grossOf(service, fund, { distributionAmountPerUnit: 1 }), [101, 100])
  })

  it('counts what is back-dated before the declaration, nothing that is rolled back', async () => {
    const fund = await fundOf(service, [100, 100])
    await allot(service, fund, [{ accountID: account(fund, 0), quantity: 7 }], '2025-12-01')
    await allot(service, fund, [{ accountID: account(fund, 0), quantity: 5 }], '2025-06-01')
    const wrong = { accountID: account(fund, 1), quantity: 9 }
    const [{ bizTransactionID }] = await allot(service, fund, [wrong], '2025-05-01')
    only(await service.admin.put('/BizTransaction/Rollback', { bizTransactionID }))
    assert.deepEqual(await grossOf(service, fund, { distributionAmountPerUnit: 1 }), [105, 100])
  })

  it('counts what was back-dated into a long history, of accounts with and without', async () => {
    const fund = await fundOf(service, [100, 100])
    const [long, short] = [account(fund, 0), account(fund, 1)]
    const daily = Array.from({ length: 120 }, (_, n) => ({
      accountID: long,
      quantity: 1,
      transactionDate: new Date(Date.UTC(2025, 1, 1) + n * 86_400_000).toISOString().slice(0, 10),
    }))
    await allot(service, fund, daily, '')
    const later = [long, short].map((accountID) => ({ accountID, quantity: 3 }))
    await allot(service, fund, later, '2025-07-02')
    await allot(service, fund, [{ accountID: long, quantity: 7 }], '2025-01-15')
    const [{ count }] = (await rowsOf(
      service.connection,
      'select count(*)::int as count from closing_mark where account_id = $1',
      [long],
    )) as [{ count: number }]
    assert.ok(count > 0, 'the history is not long enough to be shifted by marks')
    assert.deepEqual(await grossOf(service, fund, { distributionAmountPerUnit: 1 }), [227, 100])
    const days = { proRataStartDate: '2025-06-01', proRataEndDate: '2025-06-30' }
    const perDay = await grossOf(service, fund, { centsPerUnitPerDay: 10, ...days })
    assert.deepEqual(perDay, [681, 300])
  })

  it('wins over a total, whatever else is given; 0 and null are not given', async () => {
    const fund = await fundOf(service, [10, 20])
    const both = { distributionAmountPerUnit: 0.5, distributionAmountTotal: 999 }
    const period = { proRataStartDate: '2025-01-01', proRataEndDate: '2025-01-31' }
    assert.deepEqual(await grossOf(service, fund, { ...both, ...period }), [5, 10])
    const none = { distributionAmountPerUnit: 0, distributionAmountTotal: 3 }
    assert.deepEqual(await grossOf(service, fund, none), [1, 2])
    const zero = { distributionAmountPerUnit: null, distributionAmountTotal: '0.00' }
    const cents = { ...zero, centsPerUnitPerDay: 1, ...period }
    assert.deepEqual(await grossOf(service, fund, cents), [3.1, 6.2])
  })

  it('that comes to nothing for everybody is not declared, nor shown as if', async () => {
    const fund = await fundOf(service, [100, 200])
    const least = await configure(service, fund, { distributionAmountPerUnit: '0.00002' })
    for (const name of ['Preview', 'Declare']) {
      const reply = await service.admin.post(`/Distribution/${name}`, keyOf(least))
      refused(reply, 409, 'nobody_entitled')
      assert.match(reply.message!, /0 after rounding/)
    }
    assert.deepEqual(
      await grossOf(service, fund, { distributionAmountPerUnit: '0.00003' }),
      [0, 0.01],
    )
  })

  it('is exact for figures that no double holds', async () => {
    const fund = await fundOf(service, ['123456789012.3456'])
    const rate = { distributionAmountPerUnit: '0.123456789012345678' }
    const distribution = await configure(service, fund, rate)
    await stage(service.admin, 'Declare', distribution)
    const { text } = await service.admin.get(
      `/Distribution/Account?CorporateActionID=${distribution.corporateActionID}`,
    )
    // 123456789012.3456 × 0.123456789012345678 = 15241578753.238762…
    assert.match(text, /"grossAmount":15241578753\.24,/)
  })

  it('that comes to more than 18 digits is neither declared nor shown', async () => {
    const fund = await fundOf(service, ['900000000000000', 1])
    const rates: [string, string][] = [
      ['distributionAmountPerUnit', '2000'],
      ['centsPerUnitPerDay', '200000'],
    ]
    const period = { proRataStartDate: '2025-06-01', proRataEndDate: '2025-06-30' }
    for (const [field, rate] of rates) {
      const large = await configure(service, fund, { [field]: rate, ...period })
      const before = await fingerprint(service)
      for (const name of ['Preview', 'Declare']) {
        const body = { ...keyOf(large), confirmSecond: true }
        const reply = await service.admin.post(`/Distribution/${name}`, body)
        refused(reply, 400, 'out_of_range')
        assert.deepEqual(fieldsOf(reply), [field])
        assert.match(reply.message!, /more than 18 digits/)
      }
      assert.equal(await fingerprint(service), before)
    }
    const [most] = await grossOf(service, fund, { distributionAmountPerUnit: '1000' })
    assert.equal(most, 900_000_000_000_000_000)
  })

  it('knows a currency without cents', async () => {
    const fund = await fundOf(service, [101], { investments: [{ currencyID: 8 }] })
    assert.deepEqual(await grossOf(service, fund, { distributionAmountPerUnit: 0.5 }), [51])
    const pool = { distributionAmountTotal: 1000 }
    assert.deepEqual(await grossOf(service, fund, pool), [1000])
  })
})

describe('A total', () => {
  it('is shared to the last cent, the lowest account first among equals: vector 2', async () => {
    const equal = await fundOf(service, [7, 7, 7])
    const thousand = { distributionAmountTotal: 1000 }
    assert.deepEqual(await grossOf(service, equal, thousand), [333.34, 333.33, 333.33])
    const four = await fundOf(service, [123_456, 65_432, 1111, 1])
    assert.deepEqual(
      await grossOf(service, four, { distributionAmountTotal: 5000 }),
      [3248.84, 1721.89, 29.24, 0.03],
    )
  })

  it('is shared by unit-days where it has a period: vector 5', async () => {
    const fund = await fundOf(service, [200, 300, 60], { from: '2024-12-01' })
    // Gina holds 60 for 11 days; then they are Silver's for 20. The day of transfer is the buyer's.
    const [silver, gina] = [account(fund, 1), account(fund, 2)]
    const move = { investmentID: fund.investmentID, fromAccountID: gina, toAccountID: silver }
    await post('Transfer', { ...move, quantity: 60, transactionDate: '2025-01-12' })
    const pool = {
      distributionAmountTotal: 2200,
      proRataStartDate: '2025-01-01',
      proRataEndDate: '2025-01-31',
      recordDate: '2025-01-31',
    }
    assert.deepEqual(await grossOf(service, fund, pool), [785.71, 1330.65, 83.64])
  })

  it('loses what was worked out elsewhere first, and still adds up', async () => {
    const fund = await fundOf(service, [1, 1, 1, 0])
    const lists = {
      preCalculatedAccounts: [
        { accountID: account(fund, 1), amount: 10.005 },
        { accountID: account(fund, 3), amount: 5 },
      ],
    }
    // 10.005 is money, so it is 10.01.
    const shares = await grossOf(service, fund, { distributionAmountTotal: 100 }, lists)
    assert.deepEqual(shares, [42.5, 10.01, 42.49, 5])
  })

  it('of days on which nobody held units is told so, though somebody does by now', async () => {
    const fund = await fundOf(service, [100])
    const leap = { proRataStartDate: '2020-02-28', proRataEndDate: '2020-03-01' }
    const early = await configure(service, fund, { centsPerUnitPerDay: 1, ...leap })
    const reply = await service.admin.post('/Distribution/Declare', keyOf(early))
    refused(reply, 409, 'nobody_entitled')
    assert.match(reply.message!, /held units from 2020-02-28 to 2020-03-01/)
  })

  it('with more digits than money has is rounded once, and shared so', async () => {
    const fund = await fundOf(service, [1, 1])
    assert.deepEqual(await grossOf(service, fund, { distributionAmountTotal: 1.005 }), [0.51, 0.5])
    const nothing = await configure(service, fund, { distributionAmountTotal: 0.004 })
    const reply = await service.admin.post('/Distribution/Preview', keyOf(nothing))
    refused(reply, 409, 'nobody_entitled')
  })
})

describe('Cents per unit per day', () => {
  const quarter = { proRataStartDate: '2025-01-01', proRataEndDate: '2025-03-31' }

  it('adds up over each day, first and last included: vector 3', async () => {
    const fund = await fundOf(service, [10_000])
    const gross = await grossOf(service, fund, { centsPerUnitPerDay: 0.02, ...quarter })
    assert.deepEqual(gross, [180])
  })

  it('takes each day’s closing units, also of those who hold none at the record date', async () => {
    const fund = await fundOf(service, [100, 0, 100, 100])
    // The second holds 50 for the last 10 days; the third leaves after 30; the last changes twice.
    await allot(service, fund, [{ accountID: account(fund, 1), quantity: 50 }], '2025-03-22')
    const of = (i: number) => ({ accountID: account(fund, i), investmentID: fund.investmentID })
    only(await post('Redemption', { ...of(2), quantity: 100, transactionDate: '2025-01-31' }))
    only(await post('Redemption', { ...of(3), quantity: 40, transactionDate: '2025-01-01' }))
    only(await post('Deposit', { ...of(3), amount: 5, transactionDate: '2025-03-31' }))
    await post('Deposit', { ...of(3), amount: 1000, transactionDate: '2025-04-01' })
    const gross = await grossOf(service, fund, { centsPerUnitPerDay: 1, ...quarter })
    assert.deepEqual(gross, [90, 5, 30, 54.05])
  })
})

describe('Percent per annum', () => {
  const rate = { proRataPercentPerAnnum: 8, unitValuationMethod: 'Fixed' }
  const in2025 = { proRataStartDate: '2025-01-01', proRataEndDate: '2025-03-31' }
  const fixed = { investments: [{ issuePrice: 1 }] }

  it('is by the day, both ends included: vector 4, 90 days of 2025', async () => {
    const fund = await fundOf(service, [10_000], fixed)
    assert.deepEqual(await grossOf(service, fund, { ...rate, ...in2025 }), [197.26])
  })

  it('divides by 365 in a leap year too, as decided, where vector 4 has 366', async () => {
    const fund = await fundOf(service, [10_000], { ...fixed, from: '2023-01-01' })
    const in2024 = { proRataStartDate: '2024-01-01', proRataEndDate: '2024-03-31' }
    assert.deepEqual(await grossOf(service, fund, { ...rate, ...in2024 }), [199.45])
  })

  it('goes by the latest price on or before the record date, by default too', async () => {
    const fund = await fundOf(service, [10_000])
    await newPrice(service, fund.investmentID, '2025-06-30', 1.5)
    await newPrice(service, fund.investmentID, '2025-07-01', 9)
    const closing = { proRataPercentPerAnnum: 8, ...in2025 }
    assert.deepEqual(await grossOf(service, fund, closing), [295.89])
    const named = { ...closing, unitValuationMethod: 'ClosingPrice' }
    assert.deepEqual(await grossOf(service, fund, named), [295.89])
  })

  it('goes by what deposits and allotments of the period cost, else the price', async () => {
    const fund = await fundOf(service, [10_000, 0, 0])
    await newPrice(service, fund.investmentID, '2025-06-30', 1.5)
    const vwap = { ...rate, unitValuationMethod: 'VWAP', ...in2025 }
    assert.deepEqual(await grossOf(service, fund, vwap), [295.89])
    const of = (i: number) => ({ accountID: account(fund, i), investmentID: fund.investmentID })
    const day = { transactionDate: '2025-03-31' }
    only(await post('Deposit', { ...of(1), amount: 200, investmentPrice: 2, ...day }))
    const bought = { quantity: 300, amount: 900, transactionDate: '2025-01-01' }
    only(await post('Allotment', { ...of(2), ...bought }))
    await post('Deposit', {
      ...of(1),
      amount: 5,
      investmentPrice: 5,
      transactionDate: '2025-04-01',
    })
    await post('Redemption', { ...of(2), quantity: 1, amount: 50, ...day })
    // (200 + 900) ÷ (100 + 300) = 2.75; 10,000 × 90 × 2.75 × 8 ÷ 36500 = 542.4657…
    const [first] = await grossOf(service, fund, vwap)
    assert.equal(first, 542.47)
  })

  it('is refused where there is nothing to go by', async () => {
    const fund = await newFund(service, { accounts: 1, price: null })
    const declare = async (more: object) => {
      const { productID, corporateActionID } = await configure(service, fund, {
        ...rate,
        ...in2025,
        ...more,
      })
      return service.admin.post('/Distribution/Declare', { productID, corporateActionID })
    }
    for (const unitValuationMethod of ['Fixed', 'ClosingPrice', 'VWAP']) {
      const reply = await declare({ unitValuationMethod })
      assert.equal(reply.status, 409)
      assert.equal(reply.errors[0]!.code, 'no_unit_value')
    }
  })
})

describe('Tax components', () => {
  it('add up to each account’s amount, cents left going to the largest remainders', async () => {
    const fund = await fundOf(service, [1, 100, 12_345])
    const distribution = await configure(service, fund, {
      distributionAmountPerUnit: 0.01,
      taxComponents: [
        { taxComponentName: 'AustralianFrankedDividends', percentage: '33.3333' },
        { taxComponentName: 'AustralianUnfrankedDividends', percentage: '33.3333' },
        { taxComponentName: 'CapitalGains', percentage: '33.3334' },
      ],
    })
    await stage(service.admin, 'Declare', distribution)
    const rows = await entitled(service.admin, distribution)
    const parts = rows.map(({ taxComponents }: { taxComponents: { amount: number }[] }) =>
      taxComponents.map(({ amount }) => amount),
    )
    assert.deepEqual(parts, [
      [0, 0, 0.01],
      [0.33, 0.33, 0.34],
      [41.15, 41.15, 41.15],
    ])
    assert.deepEqual(rows[1].taxComponents[2], {
      taxComponentName: 'CapitalGains',
      percentage: 33.3334,
      amount: 0.34,
    })
  })
})

describe('Reinvestment', () => {
  /** Runs distributions of these amounts, in turn, for one account that reinvests everything. */
  const runs = async (amounts: number[], drpPrice: number, unitDecimals: number) => {
    const fund = await fundOf(service, [1], { investments: [{}, { unitDecimals }] })
    await choose(service, account(fund, 0), 2)
    const seen = []
    for (const distributionAmountTotal of amounts) {
      const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice }
      const distribution = await configure(service, fund, { distributionAmountTotal, ...drp })
      for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
        await stage(service.admin, name, distribution)
      const [row] = await entitled(service.admin, distribution)
      seen.push([row.drpUnits, row.drpResidual])
    }
    return seen
  }

  it('buys as many units as there is money for and carries the rest: vectors a and b', async () => {
    assert.deepEqual(await runs([500], 40, 0), [[12, 20]])
    assert.deepEqual(await runs([123.45, 118.9, 121.1], 2.37, 0), [
      [52, 0.21],
      [50, 0.61],
      [51, 0.84],
    ])
  })

  it('that would buy units of more than 18 digits is refused, and leaves nothing', async () => {
    const fund = await fundOf(service, [1], { investments: [{}, {}] })
    await choose(service, account(fund, 0), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1] }
    const distribution = await configure(service, fund, { distributionAmountTotal: 100, ...drp })
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    const before = await fingerprint(service)
    const cheap = { ...keyOf(distribution), drpPrice: '0.0000000000000001' }
    const reply = await service.admin.post('/Distribution/DrpAllotment', cheap)
    refused(reply, 400, 'out_of_range')
    assert.deepEqual(fieldsOf(reply), ['drpPrice'])
    assert.equal(await fingerprint(service), before)
    await stage(service.admin, 'DrpAllotment', distribution, { drpPrice: '0.000000000000001' })
  })

  it('posts cost and residual in cents, units rounded down: vector c', async () => {
    assert.deepEqual(await runs([401.21], 1.2345, 0), [[324, 1.23]])
    assert.deepEqual(await runs([401.21], 1.2345, 4), [[324.9979, 0]])
  })

  it('takes any price to the last digit, such as a VWAP less its discount: vector d', async () => {
    assert.deepEqual(await runs([100], 2.374125, 4), [[42.1207, 0]])
    assert.deepEqual(await runs([100], 2.3741, 0), [[42, 0.29]])
  })

  it('of some units is their share; of more than are held it is all: vector e', async () => {
    const fund = await fundOf(service, [1000, 1000, 1000, 1000, 1000])
    await choose(service, account(fund, 0), 4, 400)
    await choose(service, account(fund, 1), 4, 1500)
    await choose(service, account(fund, 2), 3, '12.345')
    await choose(service, account(fund, 3), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID }
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 0.1, ...drp })
    await stage(service.admin, 'Declare', distribution)
    const rows = await entitled(service.admin, distribution)
    assert.deepEqual(
      rows.map(({ drpAmount, cashAmount }: Record<string, number>) => [drpAmount, cashAmount]),
      [
        [40, 60],
        [100, 0],
        [12.35, 87.65],
        [100, 0],
        [0, 100],
      ],
    )
  })
})
