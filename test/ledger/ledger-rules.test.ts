import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { all, assertVerified, dayIn, newFund, newPrice, only, poster } from '../support/ledger.ts'
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
const put = (path: string, body: object) => service.admin.put(path, body)
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, options)
  return { ...made, own: { accountID: made.accountID, investmentID: made.investmentID } }
}
type Fund = Awaited<ReturnType<typeof fresh>>
const holdings = async ({ productID }: Fund, more = '') =>
  all(await service.admin.get(`/BizEntity/Account/Holdings?ProductID=${productID}${more}`))
const figures = (rows: Record<string, number>[]) =>
  rows.map(({ accountID, investmentID, quantity, costAmount, realisedGain }) => [
    accountID,
    investmentID,
    quantity,
    costAmount,
    realisedGain,
  ])
const setProduct = async ({ productID }: Fund, more: object) => {
  const [product] = all(await service.admin.get(`/Product?ProductID=${productID}`))
  only(await put('/Product', { ...product, ...more }))
}
const setStatus = (table: string, column: string, id: number, status: number) =>
  rowsOf(
    service.connection,
    `update ${table} set ${column}_status_id = $2 where ${column}_id = $1`,
    [id, status],
  )
const notice = (kind: string, body: object) =>
  service.admin.post(`/BizEvent/NoticeOf${kind}`, { transactionDate: '2026-01-10', ...body })
const rollBack = (bizTransactionID: number, more: object = {}) =>
  put('/BizTransaction/Rollback', { bizTransactionID, ...more })

describe('The day of a product', () => {
  it('says what may be posted: tomorrow there, not the day after', async () => {
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const fund = await fresh()
      await setProduct(fund, { timeZone })
      const on = (transactionDate: string) =>
        post('Deposit', { ...fund.own, amount: 1, transactionDate })
      refused(await on(dayIn(2, timeZone)), 400, 'out_of_range')
      only(await on(dayIn(1, timeZone)))
      const [shown] = await holdings(fund, `&Date=${dayIn(1, timeZone)}`)
      assert.equal(shown.quantity, 1)
    }
  })

  it('says what holdings without a date are; what is later counts from its day on', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 10 }))
    only(await post('Deposit', { ...fund.own, amount: 5, transactionDate: dayIn(1) }))
    const [now] = await holdings(fund)
    assert.deepEqual([now.quantity, now.date], [10, dayIn()])
    assert.deepEqual(await holdings(fund, `&Date=${dayIn()}`), [now])
    assert.equal((await holdings(fund, `&Date=${dayIn(1)}`))[0].quantity, 15)
    refused(
      await post('Redemption', { ...fund.own, quantity: 11, transactionDate: dayIn() }),
      409,
      'insufficient_holding',
    )
    refused(await notice('Redemption', { ...fund.own, quantity: 11 }), 409, 'insufficient_holding')
    only(await post('Redemption', { ...fund.own, quantity: 11, transactionDate: dayIn(1) }))
  })
})

describe('A period that is locked', () => {
  it('takes no posting, update or rollback, also not by the other leg or an array', async () => {
    const fund = await fresh({ accounts: 2 })
    const old = only(await post('Deposit', { ...fund.own, amount: 10 }))
    const later = only(
      await post('Deposit', { ...fund.own, amount: 10, transactionDate: '2026-02-10' }),
    )
    await setProduct(fund, { lockedDate: '2026-01-31' })
    const inside = await post('Deposit', [
      { ...fund.own, amount: 1, transactionDate: '2026-02-01' },
      { ...fund.own, amount: 1, transactionDate: '2026-01-31' },
    ])
    refused(inside, 409, 'period_locked')
    assert.deepEqual(fieldsOf(inside), ['[1].transactionDate'])
    assert.match(inside.message!, /2026-01-31/)
    const id = { bizTransactionID: later.bizTransactionID }
    const moved = await put('/BizTransaction', { ...id, transactionDate: '2026-01-31' })
    refused(moved, 409, 'period_locked')
    const changed = { bizTransactionID: old.bizTransactionID, comment: 'x' }
    refused(await put('/BizTransaction', changed), 409, 'period_locked')
    refused(await rollBack(old.bizTransactionID), 409, 'period_locked')
    only(await put('/BizTransaction', { ...id, transactionDate: '2026-02-01' }))
    only(await rollBack(later.bizTransactionID))
  })
})

describe('A status', () => {
  it('suspended lets nothing out of an account, closed lets nothing happen', async () => {
    const fund = await fresh({ accounts: 2, investments: [{}, {}] })
    const [, other] = fund.accounts
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    const { accountID, investmentID } = fund.own
    const ways: [string, object][] = [
      ['Redemption', { ...fund.own, quantity: 1 }],
      [
        'Transfer',
        { investmentID, fromAccountID: accountID, toAccountID: other!.accountID, quantity: 1 },
      ],
      ['Conversion', { accountID, fromInvestmentID, toInvestmentID, quantity: 1 }],
    ]
    const entity = fund.accounts[0]!.bizEntityID
    for (const [table, column, id, suspended, closed] of [
      ['account', 'account', accountID, 2, 3],
      ['biz_entity', 'biz_entity', entity, 3, 4],
    ] as const) {
      await setStatus(table, column, id, suspended)
      for (const [kind, body] of ways) refused(await post(kind, body), 409, 'account_suspended')
      refused(await notice('Redemption', { ...fund.own, quantity: 1 }), 409, 'account_suspended')
      only(await post('Deposit', { ...fund.own, amount: 1 }))
      await setStatus(table, column, id, closed)
      for (const [kind, body] of ways) refused(await post(kind, body), 409, 'account_closed')
      refused(await post('Deposit', { ...fund.own, amount: 1 }), 409, 'account_closed')
      refused(await notice('Deposit', { ...fund.own, amount: 1 }), 409, 'account_closed')
      const into = { fromAccountID: other!.accountID, toAccountID: accountID }
      refused(await post('Transfer', { investmentID, ...into, quantity: 1 }), 409, 'account_closed')
      await setStatus(table, column, id, 1)
    }
    for (const [kind, body] of ways) all(await post(kind, body))
  })

  it('suspended lets a correction take no more out of an account, and less', async () => {
    const fund = await fresh({ accounts: 2, investments: [{}, {}] })
    const [, other] = fund.accounts
    const { accountID, investmentID } = fund.own
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    const ends = { fromAccountID: accountID, toAccountID: other!.accountID }
    const legs = [
      ...all(await post('Redemption', { ...fund.own, quantity: 10 })),
      ...all(await post('Transfer', { investmentID, ...ends, quantity: 10 })),
      ...all(
        await post('Conversion', { accountID, fromInvestmentID, toInvestmentID, quantity: 10 }),
      ),
    ]
    await setStatus('account', 'account', accountID, 2)
    for (const { bizTransactionID, quantity } of legs) {
      const correct = (to: number) => put('/BizTransaction', { bizTransactionID, quantity: to })
      refused(await correct(quantity * 2), 409, 'account_suspended')
      all(await correct(quantity / 2))
      all(await put('/BizTransaction', { bizTransactionID, comment: 'Seen' }))
    }
  })

  it('of a product or an investment closes it to money, and leaves the way out open', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    await setProduct(fund, { isActive: false })
    refused(await post('Deposit', { ...fund.own, amount: 1 }), 409, 'product_inactive')
    refused(await post('Allotment', { ...fund.own, quantity: 1 }), 409, 'product_inactive')
    refused(await notice('Deposit', { ...fund.own, amount: 1 }), 409, 'product_inactive')
    only(await notice('Redemption', { ...fund.own, quantity: 1 }))
    only(await post('Redemption', { ...fund.own, quantity: 1 }))
    await setProduct(fund, { isActive: true })
    const [investment] = all(
      await service.admin.get(`/Investment?InvestmentID=${fund.investmentID}`),
    )
    only(await put('/Investment', { ...investment, isActive: false }))
    refused(await post('Adjustment', { ...fund.own, quantity: 1 }), 409, 'investment_inactive')
    refused(await post('SetQuantity', { ...fund.own, quantity: 100 }), 409, 'investment_inactive')
    only(await post('Adjustment', { ...fund.own, quantity: -1 }))
    only(await post('SetQuantity', { ...fund.own, quantity: 90 }))
  })
})

describe('Closings of an account', () => {
  it('add up money of one currency only', async () => {
    const fund = await fresh({ investments: [{ currencyID: 1 }, { currencyID: 8 }, {}] })
    const { accountID, investmentIDs } = fund
    for (const [i, amount] of [100, 100_000, 7].entries())
      only(await post('Deposit', { accountID, investmentID: investmentIDs[i], amount }))
    const rows = all(
      await service.admin.get(`/BizTransaction?ShowClosing=true&AccountID=${accountID}`),
    )
    assert.deepEqual(
      rows.map((row: Record<string, number>) => row.accountClosingAmount),
      [100, 100_000, 107],
    )
  })
})

describe('Cost', () => {
  it('goes along with a transfer that carries it, also when what is earlier changes', async () => {
    const fund = await fresh({ accounts: 3, price: 2 })
    const [a, b, c] = fund.accounts.map(({ accountID }) => accountID)
    const { investmentID } = fund
    const deposit = { accountID: a, investmentID, investmentPrice: 1 }
    only(await post('Deposit', { ...deposit, amount: 100 }))
    const move = (from: number, to: number, quantity: number, transactionDate: string) =>
      post('Transfer', {
        investmentID,
        fromAccountID: from,
        toAccountID: to,
        quantity,
        transactionDate,
        costBasis: 'Carry',
      })
    all(await move(a!, b!, 40, '2026-01-12'))
    all(await move(b!, c!, 20, '2026-01-14'))
    assert.deepEqual(figures(await holdings(fund)), [
      [a, investmentID, 60, 60, 0],
      [b, investmentID, 20, 20, 0],
      [c, investmentID, 20, 20, 0],
    ])
    // Before all of it: an average cost of 2 instead of 1.
    const early = { ...deposit, investmentPrice: 3, amount: 300, transactionDate: '2026-01-02' }
    only(await post('Deposit', early))
    assert.deepEqual(figures(await holdings(fund)), [
      [a, investmentID, 160, 320, 0],
      [b, investmentID, 20, 40, 0],
      [c, investmentID, 20, 40, 0],
    ])
    const market = { investmentID, fromAccountID: a, toAccountID: b, quantity: 10 }
    all(await post('Transfer', { ...market, transactionDate: '2026-01-15' }))
    const [first] = await holdings(fund)
    assert.deepEqual([first.costAmount, first.realisedGain], [300, 0])
  })

  it('goes along with a conversion by factor, without a price; by price it is sold', async () => {
    const fund = await fresh({ investments: [{}, {}, {}], price: null })
    const { accountID, investmentIDs, investmentID } = fund
    only(await post('Deposit', { ...fund.own, amount: 100, quantity: 50 }))
    const [, second, third] = investmentIDs
    const factor = { accountID, fromInvestmentID: investmentID, quantity: 20, conversionFactor: 3 }
    const legs = all(await post('Conversion', { ...factor, toInvestmentID: second }))
    assert.deepEqual(
      legs.map((leg: Record<string, number>) => [leg.quantity, leg.investmentPrice]),
      [
        [-20, null],
        [60, null],
      ],
    )
    const prices = { fromInvestmentPrice: 3, toInvestmentPrice: 1.5 }
    const byPrice = { accountID, fromInvestmentID: investmentID, quantity: 10, ...prices }
    all(await post('Conversion', { ...byPrice, toInvestmentID: third }))
    assert.deepEqual(figures(await holdings(fund)), [
      [accountID, investmentID, 20, 40, 10],
      [accountID, second, 60, 40, 0],
      [accountID, third, 20, 30, 0],
    ])
  })

  it('leaves with an adjustment without money, and comes at the price of the day', async () => {
    const fund = await fresh({ price: 2 })
    const { accountID, investmentID } = fund
    only(await post('Deposit', { ...fund.own, amount: 100, investmentPrice: 1 }))
    only(await post('Adjustment', { ...fund.own, quantity: -10 }))
    only(await post('Adjustment', { ...fund.own, quantity: -10, amount: -30 }))
    only(await post('SetQuantity', { ...fund.own, quantity: 60 }))
    assert.deepEqual(figures(await holdings(fund)), [[accountID, investmentID, 60, 60, 20]])
    only(await post('Adjustment', { ...fund.own, quantity: 10 }))
    assert.deepEqual(figures(await holdings(fund)), [[accountID, investmentID, 70, 80, 20]])
  })
})

describe('An amount given with a set quantity', () => {
  it('is what the change costs or brings, and not the price of the day', async () => {
    const fund = await fresh({ price: 2 })
    const { accountID, investmentID } = fund
    const set = (quantity: number, amount?: number) =>
      post('SetQuantity', { ...fund.own, quantity, amount })
    const first = await set(60, 1000)
    assert.deepEqual([only(first).amount, first.message], [1000, null])
    assert.deepEqual(figures(await holdings(fund)), [[accountID, investmentID, 60, 1000, 0]])
    // Out with money is sold, as by an adjustment; out without takes its cost along.
    assert.equal(only(await set(30, 700.005)).amount, -700.01)
    assert.deepEqual(figures(await holdings(fund)), [[accountID, investmentID, 30, 500, 200.01]])
    only(await set(15))
    assert.deepEqual(figures(await holdings(fund)), [[accountID, investmentID, 15, 250, 200.01]])
    assert.equal(only(await set(20, 0)).amount, 0)
    assert.deepEqual(figures(await holdings(fund)), [[accountID, investmentID, 20, 250, 200.01]])
    assert.deepEqual(all(await set(20, 5)), [])
    refused(await set(21, -1), 400)
  })
})

describe('A price that is too old', () => {
  it('is used only by who confirms it or needs none', async () => {
    const fund = await fresh({ price: null })
    await newPrice(service, fund.investmentID, '2026-01-01', 1)
    await rowsOf(
      service.connection,
      'update investment set maximum_price_age_days = 9 where investment_id = $1',
      [fund.investmentID],
    )
    const deposit = { ...fund.own, amount: 10, transactionDate: '2026-01-11' }
    const old = await post('Deposit', deposit)
    refused(old, 409, 'price_too_old')
    assert.match(old.message!, /2026-01-01/)
    only(await post('Deposit', { ...deposit, confirm: true }))
    only(await post('Deposit', { ...deposit, quantity: 10 }))
    only(await post('Deposit', { ...deposit, investmentPrice: 2 }))
    only(await post('Deposit', { ...deposit, transactionDate: '2026-01-10' }))
    const set = { ...fund.own, transactionDate: '2026-01-11' }
    refused(await post('SetQuantity', { ...set, quantity: 100 }), 409, 'price_too_old')
    only(await post('SetQuantity', { ...set, quantity: 100, amount: 60 }))
    only(await post('SetQuantity', { ...set, quantity: 5 }))
  })
})

describe('A conversion that is refused', () => {
  it('names the fields of a conversion: what lacks a price, and what takes no money', async () => {
    const fund = await fresh({ price: null, investments: [{}, {}] })
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs as [number, number]
    only(await post('Deposit', { ...fund.own, amount: 10, quantity: 10 }))
    const convert = (more: object) =>
      post('Conversion', { ...fund.own, fromInvestmentID, toInvestmentID, quantity: 1, ...more })
    const [from, to] = ['fromInvestmentPrice', 'toInvestmentPrice']
    const neither = await convert({})
    refused(neither, 400, 'no_price')
    assert.deepEqual(fieldsOf(neither), [from, to])
    for (const more of [{ fromInvestmentPrice: 2 }, { amount: 2 }]) {
      const one = await convert(more)
      refused(one, 400, 'no_price')
      assert.deepEqual(fieldsOf(one), [to])
      assert.match(one.message!, /give toInvestmentPrice\.$/)
    }
    const byFactor = await convert({ quantity: undefined, amount: 2, conversionFactor: 2 })
    assert.deepEqual(fieldsOf(byFactor), [from])
    await newPrice(service, toInvestmentID, '2026-01-01', 1)
    const set = 'update investment set maximum_price_age_days = 3 where investment_id = $1'
    await rowsOf(service.connection, set, [toInvestmentID])
    const old = await convert({ fromInvestmentPrice: 2 })
    refused(old, 409, 'price_too_old')
    assert.deepEqual(fieldsOf(old), [to])
    assert.match(old.message!, /give toInvestmentPrice/)
    const shut = 'update investment set is_active = false where investment_id = $1'
    await rowsOf(service.connection, shut, [toInvestmentID])
    const closed = await convert({ conversionFactor: 2 })
    refused(closed, 409, 'investment_inactive')
    assert.deepEqual(fieldsOf(closed), ['toInvestmentID'])
  })
})

describe('The first posting of an investment', () => {
  it('is in the decimals that the investment has, also when both are sent at once', async () => {
    for (let round = 0; round < 6; round++) {
      const fund = await fresh()
      const [investment] = all(
        await service.admin.get(`/Investment?InvestmentID=${fund.investmentID}`),
      )
      const [changed, posted] = await Promise.all([
        put('/Investment', { ...investment, unitDecimals: 0 }),
        post('Deposit', { ...fund.own, amount: 3.51, investmentPrice: 1 }),
      ])
      assert.equal(posted.status, 200, posted.text)
      assert.ok([200, 409].includes(changed.status), changed.text)
      assert.equal(posted.data[0].quantity, changed.status === 200 ? 4 : 3.51)
    }
  })
})
