import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { all, assertVerified, newFund, newPrice, only, poster } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
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
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, options)
  const ids = made.accounts.map(({ accountID }) => accountID)
  return { ...made, ids, own: { accountID: made.accountID, investmentID: made.investmentID } }
}
const positions = async ({ productID }: { productID: number }, more = '') =>
  all(await admin.get(`/BizEntity/Account/Holdings?ProductID=${productID}${more}`)).map(
    ({ accountID, investmentID, quantity }: Record<string, number>) => [
      accountID,
      investmentID,
      quantity,
    ],
  )

describe('An array of postings', () => {
  it('is posted in the order sent and answered in that order', async () => {
    const fund = await fresh({ accounts: 3 })
    const [a, b, c] = fund.ids
    const amounts = [3, 1, 2]
    const bodies = [c, a, b].map((accountID, i) => ({
      accountID,
      investmentID: fund.investmentID,
      amount: amounts[i],
      transactionDate: `2026-01-1${3 - i}`,
    }))
    const made = all(await post('Deposit', bodies))
    assert.deepEqual(
      made.map(({ accountID, amount }: Record<string, number>) => [accountID, amount]),
      [
        [c, 3],
        [a, 1],
        [b, 2],
      ],
    )
    const ids = made.map(({ bizTransactionID }: Record<string, number>) => bizTransactionID)
    assert.deepEqual(
      ids,
      ids.toSorted((x: number, y: number) => x - y),
    )
  })

  it('counts several of one holding in the order of their days, then of the array', async () => {
    const fund = await fresh()
    const at = (day: string, quantity: number) => ({
      ...fund.own,
      quantity,
      transactionDate: `2026-01-${day}`,
    })
    all(await post('Adjustment', [at('12', -1), at('10', 5), at('12', 4), at('11', -4)]))
    const short = await post('Adjustment', [at('14', -3), at('13', -2)])
    refused(short, 409, 'insufficient_holding')
    assert.match(short.message!, /short by 1 units on 2026-01-14/)
  })

  it('is all or nothing: every problem is told by its place, and nothing is written', async () => {
    const fund = await fresh({ accounts: 2 })
    const good = { ...fund.own, amount: 1 }
    const shapes = await post('Deposit', [
      good,
      { ...good, amount: 0 },
      good,
      { ...good, transactionDate: '2026-02-30' },
    ])
    refused(shapes, 400, 'invalid_decimal', 'invalid_date')
    assert.deepEqual(fieldsOf(shapes).sort(), ['[1].amount', '[3].transactionDate'])
    const lookups = await post('Deposit', [
      { ...good, accountID: 2e6 },
      good,
      { ...good, investmentID: 2e6 },
    ])
    refused(lookups, 404, 'not_found')
    assert.deepEqual(fieldsOf(lookups).sort(), ['[0].accountID', '[2].investmentID'])
    const rules = await post('Deposit', [
      good,
      { ...fund.own },
      { ...good, transactionDate: '2999-01-01' },
    ])
    refused(rules, 400, 'required', 'out_of_range')
    assert.deepEqual(fieldsOf(rules).sort(), ['[1].amount', '[2].transactionDate'])
    const other = { ...fund.own, accountID: fund.ids[1] }
    only(await post('Deposit', { ...fund.own, amount: 5 }))
    const short = await post('Redemption', [
      { ...fund.own, quantity: 1 },
      { ...other, quantity: 2 },
      { ...fund.own, quantity: 9 },
    ])
    refused(short, 409, 'insufficient_holding')
    assert.deepEqual(fieldsOf(short).sort(), ['[1].quantity', '[2].quantity'])
    assert.match(short.message!, /short by 2 units.*short by 5 units|short by 5 units.*short by 2/)
    assert.deepEqual(await positions(fund), [[fund.accountID, fund.investmentID, 5]])
  })

  it('of one item is told by its place too', async () => {
    const fund = await fresh()
    assert.deepEqual(fieldsOf(await post('Deposit', [fund.own])), ['[0].amount'])
    assert.deepEqual(fieldsOf(await post('Deposit', fund.own)), ['amount'])
  })

  it('over several products is all or nothing as well', async () => {
    const [one, two] = [await fresh(), await fresh()]
    all(
      await post('Deposit', [
        { ...one.own, amount: 5 },
        { ...two.own, amount: 5 },
      ]),
    )
    const bodies = [
      { ...one.own, quantity: 5 },
      { ...two.own, quantity: 6 },
    ]
    refused(await post('Redemption', bodies), 409, 'insufficient_holding')
    refused(await post('Redemption', bodies.toReversed()), 409, 'insufficient_holding')
    assert.deepEqual(await positions(one), [[one.accountID, one.investmentID, 5]])
    assert.deepEqual(await positions(two), [[two.accountID, two.investmentID, 5]])
  })

  it('has no external id twice, its own included', async () => {
    const fund = await fresh()
    const named = (externalBizTransactionId: string) => ({
      ...fund.own,
      amount: 1,
      externalBizTransactionId,
    })
    const twice = await post('Deposit', [named('a'), named('b'), named('a')])
    refused(twice, 409, 'duplicate')
    assert.deepEqual(fieldsOf(twice), ['[2].externalBizTransactionId'])
    only(await post('Deposit', named('b')))
    const again = await post('Deposit', [named('c'), named('b')])
    refused(again, 409, 'duplicate')
    assert.deepEqual(fieldsOf(again), ['[1].externalBizTransactionId'])
    only(await post('Deposit', named('c')))
  })

  it('takes a thousand, not one more, and not none', async () => {
    const fund = await fresh({ accounts: 10 })
    const bodies = Array.from({ length: 1000 }, (_, i) => ({
      accountID: fund.ids[i % 10],
      investmentID: fund.investmentID,
      amount: 1,
      transactionDate: `2026-01-${10 + (i % 7)}`,
    }))
    assert.equal(all(await post('Deposit', bodies)).length, 1000)
    assert.deepEqual(
      (await positions(fund)).map(([, , quantity]: number[]) => quantity),
      fund.ids.map(() => 100),
    )
    refused(await post('Deposit', [...bodies, bodies[0]!]), 400, 'too_many')
    refused(await post('Deposit', []), 400, 'required')
    refused(await post('Transfer', [{}]), 400)
  })
})

describe('An array of set quantities', () => {
  it('of one holding leaves each target at the end of its day, of one day the last', async () => {
    const fund = await fresh()
    const set = (quantity: number, day: string) => ({
      ...fund.own,
      quantity,
      transactionDate: `2026-01-${day}`,
    })
    const posted = async (...bodies: object[]) =>
      all(await post('SetQuantity', bodies)).map(({ quantity }: Record<string, number>) => quantity)
    assert.deepEqual(await posted(set(10, '10'), set(15, '10')), [10, 5])
    assert.deepEqual(await posted(set(7, '20'), set(20, '12'), set(20, '13')), [-13, 5])
    const end = async (day: string) => (await positions(fund, `&Date=2026-01-${day}`))[0][2]
    assert.deepEqual(
      [await end('11'), await end('12'), await end('13'), await end('20')],
      [15, 20, 20, 7],
    )
    const nothing = await post('SetQuantity', [set(7, '20'), set(7, '20')])
    assert.deepEqual([nothing.status, nothing.data], [200, []])
  })
})

describe('POST /BizTransaction/Transfer', () => {
  it('moves units by two linked legs at the price of the day', async () => {
    const fund = await fresh({ accounts: 2, price: 2 })
    const [from, to] = fund.accounts
    only(await post('Deposit', { ...fund.own, amount: 20 }))
    const legs = all(
      await post('Transfer', {
        productID: fund.productID,
        investmentID: fund.investmentID,
        fromExternalAccountId: from!.externalAccountId,
        toExternalAccountId: to!.externalAccountId,
        quantity: 4,
        externalBizTransactionId: 'T',
        comment: 'gift',
      }),
    )
    const seen = legs.map((leg: Record<string, unknown>) => [
      leg.typeName,
      leg.movementReasonCode,
      leg.accountID,
      leg.quantity,
      leg.amount,
      leg.investmentPrice,
      leg.externalBizTransactionId,
      leg.parentBizTransactionID,
      leg.comment,
    ])
    const [{ bizTransactionID: first }] = legs
    assert.deepEqual(seen, [
      ['Transfer out', 'TRO', from!.accountID, -4, -8, 2, 'T', null, 'gift'],
      ['Transfer in', 'TRI', to!.accountID, 4, 8, 2, null, first, 'gift'],
    ])
  })

  it('is refused to itself, to another product, without units, or beyond them', async () => {
    const fund = await fresh({ accounts: 2 })
    const foreign = await fresh()
    const [from, to] = fund.ids
    only(await post('Deposit', { ...fund.own, amount: 20 }))
    const transfer = (body: object) =>
      post('Transfer', {
        investmentID: fund.investmentID,
        fromAccountID: from,
        toAccountID: to,
        quantity: 1,
        ...body,
      })
    refused(await transfer({ toAccountID: from }), 400, 'same_account')
    refused(await transfer({ toAccountID: foreign.accountID }), 400, 'other_product')
    refused(await transfer({ investmentID: foreign.investmentID }), 404, 'not_found')
    refused(await transfer({ quantity: 0 }), 400, 'invalid_decimal')
    refused(await transfer({ quantity: null }), 400, 'required')
    refused(await transfer({ toAccountID: null }), 400, 'required')
    refused(await transfer({ quantity: '0.00001' }), 400, 'too_small')
    const short = await transfer({ quantity: 21 })
    refused(short, 409, 'insufficient_holding')
    assert.match(short.message!, /short by 1 units/)
    assert.deepEqual(await positions(fund), [[from, fund.investmentID, 20]])
  })

  it('may come first for one account and into the midst of the other', async () => {
    const fund = await fresh({ accounts: 2 })
    const [from, to] = fund.ids
    const { investmentID } = fund
    only(await post('Deposit', { ...fund.own, amount: 20, transactionDate: '2026-01-01' }))
    const later = { accountID: to, investmentID, amount: 5, transactionDate: '2026-01-20' }
    only(await post('Deposit', later))
    const there = { investmentID, fromAccountID: from, toAccountID: to }
    all(await post('Transfer', { ...there, quantity: 3 }))
    const back = { investmentID, fromAccountID: to, toAccountID: from }
    all(await post('Transfer', { ...back, quantity: 1, transactionDate: '2026-01-15' }))
    refused(await post('Transfer', { ...back, quantity: 4 }), 409, 'insufficient_holding')
    assert.deepEqual(await positions(fund), [
      [from, investmentID, 18],
      [to, investmentID, 7],
    ])
    assert.deepEqual(await positions(fund, '&Date=2026-01-14'), [
      [from, investmentID, 17],
      [to, investmentID, 3],
    ])
  })
})

describe('POST /BizTransaction/Conversion', () => {
  const two = async (prices: [object, object] = [{}, {}]) => {
    const fund = await fresh({ investments: [{}, { unitDecimals: 2 }], price: null })
    const [from, to] = fund.investmentIDs as [number, number]
    await newPrice(service, from, '2026-01-01', 2, prices[0])
    await newPrice(service, to, '2026-01-01', 3, prices[1])
    only(await post('Deposit', { ...fund.own, amount: 1000, quantity: 500 }))
    const convert = (body: object) =>
      post('Conversion', {
        accountID: fund.accountID,
        fromInvestmentID: from,
        toInvestmentID: to,
        ...body,
      })
    return { fund, from, to, convert }
  }
  const figures = (legs: Record<string, number>[]) =>
    legs.map(({ quantity, amount, investmentPrice }) => [quantity, amount, investmentPrice])

  it('by a factor gives source units times the factor, by price what the money buys', async () => {
    const { convert } = await two([{ redemptionPrice: 1.9 }, { applicationPrice: 3.1 }])
    const factor = { conversionMethod: 'Factor', conversionFactor: '1.23456' }
    assert.deepEqual(figures(all(await convert({ ...factor, quantity: 10 }))), [
      [-10, -19, 1.9],
      [12.35, 19, 3.1],
    ])
    assert.deepEqual(figures(all(await convert({ conversionMethod: 'Price', quantity: 10 }))), [
      [-10, -19, 1.9],
      [6.13, 19, 3.1],
    ])
    assert.deepEqual(figures(all(await convert({ amount: 31 }))), [
      [-16.3158, -31, 1.9],
      [10, 31, 3.1],
    ])
    const prices = { fromInvestmentPrice: 2, toInvestmentPrice: 4 }
    assert.deepEqual(figures(all(await convert({ quantity: 2, ...prices }))), [
      [-2, -4, 2],
      [1, 4, 4],
    ])
  })

  it('links its legs and names each by its own external id', async () => {
    const { convert } = await two()
    const names = { fromExternalBizTransactionId: 'f', toExternalBizTransactionId: 't' }
    const legs = all(await convert({ quantity: 1, ...names }))
    assert.deepEqual(
      legs.map((leg: Record<string, unknown>) => [
        leg.movementReasonCode,
        leg.externalBizTransactionId,
        leg.parentBizTransactionID,
      ]),
      [
        ['CNO', 'f', null],
        ['CNI', 't', legs[0].bizTransactionID],
      ],
    )
    const again = await convert({ quantity: 1, toExternalBizTransactionId: 'f' })
    refused(again, 409, 'duplicate')
    assert.deepEqual(fieldsOf(again), ['toExternalBizTransactionId'])
    const both = { fromExternalBizTransactionId: 'z', toExternalBizTransactionId: 'z' }
    refused(await convert({ quantity: 1, ...both }), 409, 'duplicate')
  })

  it('is refused without figure, factor, units, two investments, or one currency', async () => {
    const { fund, from, convert } = await two()
    refused(await convert({}), 400, 'required')
    refused(await convert({ quantity: 1, conversionMethod: 'Factor' }), 400, 'required')
    refused(await convert({ quantity: 1, conversionMethod: 'Magic' }), 400, 'invalid_value')
    refused(await convert({ quantity: 1, conversionFactor: 0 }), 400, 'invalid_decimal')
    refused(await convert({ quantity: 1, toInvestmentID: from }), 400, 'same_investment')
    refused(await convert({ quantity: 1, conversionFactor: '0.001' }), 400, 'too_small')
    refused(await convert({ quantity: 501 }), 409, 'insufficient_holding')
    const yen = only(await admin.post('/Investment', { productID: fund.productID, currencyID: 8 }))
    const toYen = { quantity: 1, toInvestmentID: yen.investmentID, conversionFactor: 2 }
    refused(await convert(toYen), 400, 'other_currency')
    assert.deepEqual(await positions(fund), [[fund.accountID, from, 500]])
  })
})

describe('A user whose scope is one product', () => {
  it('posts there, and to nothing of another product by any name', async () => {
    const [mine, foreign] = [await fresh({ accounts: 2 }), await fresh({ accounts: 2 })]
    const user = await service.userWith({ role: 'Operator', productIDs: [mine.productID] })
    const asUser = poster(() => user)
    only(await post('Deposit', { ...foreign.own, amount: 10 }))
    only(await asUser('Deposit', { ...mine.own, amount: 10 }))
    const { externalAccountId } = foreign.accounts[0]!
    for (const [kind, body] of [
      ['Deposit', { ...foreign.own, amount: 1 }],
      ['Deposit', { productID: foreign.productID, ...foreign.own, amount: 1 }],
      [
        'Deposit',
        {
          externalProductId: foreign.externalProductId,
          externalAccountId,
          investmentID: foreign.investmentID,
          amount: 1,
        },
      ],
      ['Redemption', { ...foreign.own, quantity: 1 }],
      ['Adjustment', { ...foreign.own, quantity: 1 }],
      ['SetQuantity', { ...foreign.own, quantity: 1 }],
      [
        'Transfer',
        {
          investmentID: mine.investmentID,
          fromAccountID: mine.accountID,
          toAccountID: foreign.accountID,
          quantity: 1,
        },
      ],
      ['Deposit', { ...mine.own, investmentID: foreign.investmentID, amount: 1 }],
    ] as const)
      refused(await asUser(kind, body), 404, 'not_found')
    const mixed = [
      { ...mine.own, amount: 1 },
      { ...foreign.own, amount: 1 },
    ]
    refused(await asUser('Deposit', mixed), 404, 'not_found')
    assert.deepEqual(await positions(mine), [[mine.accountID, mine.investmentID, 10]])
    assert.deepEqual(await positions(foreign), [[foreign.accountID, foreign.investmentID, 10]])
  })
})
