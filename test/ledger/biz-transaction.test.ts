import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import {
  all,
  assertVerified,
  dayIn,
  type Fund,
  newFund,
  newPrice,
  only,
  poster,
} from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let fund: Fund
let own: { accountID: number; investmentID: number }
before(async () => {
  service = await startService()
  admin = service.admin
  fund = await newFund(service, { accounts: 3, investments: [{}, {}, { unitDecimals: 0 }] })
  own = { accountID: fund.accountID, investmentID: fund.investmentID }
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)
const figures = ({ quantity, amount, investmentPrice }: Record<string, number>) => [
  quantity,
  amount,
  investmentPrice,
]
const held = async (more: object = own) => {
  const query = Object.entries({ ...own, ...more })
    .map(([name, value]) => `${name[0]!.toUpperCase()}${name.slice(1)}=${value}`)
    .join('&')
  return all(await admin.get(`/BizEntity/Account/Holdings?${query}`))[0]?.quantity ?? 0
}
/** A new fund, so that prices and holdings of other tests do not matter. */
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, options)
  return { ...made, own: { accountID: made.accountID, investmentID: made.investmentID } }
}

describe('A posting', () => {
  it('answers with the whole transaction', async () => {
    const { productID, externalProductId, accounts, investmentID } = fund
    const [account] = accounts
    const body = { ...own, amount: 12.5, comment: 'c', externalBizTransactionId: 'whole' }
    const { bizTransactionID, createdDate, ...rest } = only(await post('Deposit', body))
    assert.ok(bizTransactionID > 0)
    assert.match(createdDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const [investment] = all(await admin.get(`/Investment?InvestmentID=${investmentID}`))
    assert.deepEqual(rest, {
      externalBizTransactionId: 'whole',
      bizTransactionTypeID: 1,
      typeName: 'Deposit',
      movementReasonCode: 'DEP',
      parentBizTransactionID: null,
      transactionDate: '2026-01-10T00:00:00Z',
      productID,
      externalProductId,
      accountID: account!.accountID,
      externalAccountId: account!.externalAccountId,
      accountNumber: account!.accountNumber,
      bizEntityName: 'Investor 1',
      investmentID,
      externalInvestmentId: investment.externalInvestmentId,
      securityCode: investment.securityCode,
      investmentName: 'Class',
      investmentPrice: 1,
      comment: 'c',
      corporateActionID: null,
      externalCorporateActionId: null,
      corporateActionName: null,
      amount: 12.5,
      quantity: 12.5,
      entryFeeAmount: 0,
      transactionClosingAmount: null,
      transactionClosingQuantity: null,
      accountClosingAmount: null,
      accountClosingQuantity: null,
      updatedDate: null,
      bizTransactionStatusID: 1,
      statusName: 'Complete',
    })
  })

  it('names product, account and investment natively or externally', async () => {
    const { externalProductId, productID, investmentID, accounts } = fund
    const { externalAccountId } = accounts[0]!
    const [{ externalInvestmentId, securityCode }] = all(
      await admin.get(`/Investment?InvestmentID=${investmentID}`),
    )
    for (const names of [
      { externalProductId, externalAccountId, externalInvestmentId },
      { productID, externalAccountId, securityCode },
      { accountID: fund.accountID, securityCode },
      { ...own, externalAccountId: 'not looked at', securityCode: 'not looked at' },
    ])
      assert.equal(only(await post('Deposit', { ...names, amount: 1 })).accountID, fund.accountID)
    const lost = await post('Deposit', { externalAccountId, externalInvestmentId, amount: 1 })
    refused(lost, 400, 'required')
    assert.deepEqual(fieldsOf(lost), ['productID'])
  })

  it('is refused where the names do not belong together, each unknown one told', async () => {
    const other = await newFund(service)
    const cases: [object, string][] = [
      [{ ...own, accountID: 2_000_000 }, 'accountID'],
      [{ ...own, investmentID: other.investmentID }, 'investmentID'],
      [{ ...own, productID: other.productID }, 'accountID'],
      [{ ...own, productID: 2_000_000 }, 'productID'],
      [
        { productID: fund.productID, externalAccountId: 'no', securityCode: 'no' },
        'externalAccountId',
      ],
    ]
    for (const [body, field] of cases) {
      const reply = await post('Deposit', { ...body, amount: 1 })
      refused(reply, 404, 'not_found')
      assert.deepEqual(fieldsOf(reply), [field])
    }
    refused(await post('Deposit', { accountID: fund.accountID, amount: 1 }), 400, 'required')
  })

  it('needs a date: none, an impossible one and one two days ahead are refused', async () => {
    const on = (transactionDate: string | null) =>
      post('Deposit', { ...own, amount: 1, transactionDate })
    refused(await on(null), 400, 'required')
    refused(await on('2026-02-30'), 400, 'invalid_date')
    refused(await on(dayIn(2)), 400, 'out_of_range')
    only(await on(dayIn(1)))
    assert.equal(only(await on('2026-01-10T23:59:59Z')).transactionDate, '2026-01-10T00:00:00Z')
    refused(await on('1900-01-01'), 400, 'no_price')
    refused(await on('1899-12-31'), 400, 'out_of_range')
  })

  it('has an external id of its own in the product, whatever its kind', async () => {
    const other = await newFund(service)
    const named = { externalBizTransactionId: 'D-1' }
    only(await post('Deposit', { ...own, amount: 5, ...named }))
    for (const [kind, body] of [
      ['Deposit', { ...own, amount: 5 }],
      ['Allotment', { ...own, quantity: 1 }],
      ['Redemption', { ...own, quantity: 1 }],
      ['Adjustment', { ...own, quantity: 1 }],
      ['SetQuantity', { ...own, quantity: 1 }],
    ] as const) {
      const reply = await post(kind, { ...body, ...named })
      refused(reply, 409, 'duplicate')
      assert.deepEqual(fieldsOf(reply), ['externalBizTransactionId'])
    }
    const elsewhere = { accountID: other.accountID, investmentID: other.investmentID }
    only(await post('Deposit', { ...elsewhere, amount: 5, ...named }))
    const long = await post('Deposit', {
      ...own,
      amount: 1,
      externalBizTransactionId: 'x'.repeat(51),
    })
    refused(long, 400, 'too_long')
  })

  it('keeps eighteen digits, as a number and as a text', async () => {
    const { own: exact } = await fresh({ investments: [{ unitDecimals: 8 }] })
    const [quantity, amount] = ['1234567890.12345678', '1234567890123456.78']
    const sent = JSON.stringify({ ...exact, transactionDate: '2026-01-10' })
    const bodies = [
      sent.replace('}', `,"quantity":${quantity},"amount":${amount}}`),
      sent.replace('}', `,"quantity":"${quantity}","amount":"${amount}"}`),
    ]
    for (const body of bodies) {
      const { text } = await admin.post('/BizTransaction/Allotment', body)
      assert.match(text, new RegExp(`"amount":${amount},"quantity":${quantity},`))
    }
    const { text } = await admin.get(`/BizEntity/Account/Holdings?AccountID=${exact.accountID}`)
    assert.match(text, /"quantity":2469135780\.24691356,"costAmount":2469135780246913\.56,/)
  })

  it('adds up ten times 0.1 to 1', async () => {
    const { own: tenth } = await fresh()
    for (let n = 0; n < 10; n++) only(await post('Deposit', { ...tenth, amount: 0.1 }))
    const { text } = await admin.get(`/BizEntity/Account/Holdings?AccountID=${tenth.accountID}`)
    assert.match(text, /"quantity":1,"costAmount":1,/)
  })

  it('is a plain refusal with the largest and smallest numbers, never a fault', async () => {
    const {
      own: huge,
      accounts,
      investmentIDs,
    } = await fresh({
      accounts: 2,
      investments: [{ unitDecimals: 8 }, { unitDecimals: 0 }],
    })
    const [most, least] = ['999999999999999999', '0.000000000000000001']
    const more = { ...huge, externalProductId: null }
    const tries: [string, object, number][] = [
      ['Deposit', { amount: most }, 200],
      ['Deposit', { amount: most, investmentPrice: least }, 400],
      ['Deposit', { amount: least }, 400],
      ['Deposit', { amount: `${most}.${'9'.repeat(18)}`, investmentPrice: most }, 400],
      ['Deposit', { amount: most, investmentPrice: most }, 200],
      ['Deposit', { amount: `${most}9` }, 400],
      ['Deposit', { amount: '1e300' }, 400],
      ['Deposit', { amount: most, entryFeeAmount: most }, 400],
      ['Allotment', { quantity: most, investmentPrice: most }, 400],
      ['Allotment', { quantity: least, amount: 1 }, 400],
      ['Redemption', { quantity: most, investmentPrice: least }, 200],
      ['Adjustment', { quantity: `-${most}` }, 409],
      ['Adjustment', { quantity: most, investmentPrice: most }, 400],
      ['SetQuantity', { quantity: most }, 200],
      ['SetQuantity', { quantity: most, investmentPrice: most }, 200],
      ['SetQuantity', { quantity: 0, investmentPrice: most }, 400],
      [
        'Conversion',
        {
          fromInvestmentID: investmentIDs[0],
          toInvestmentID: investmentIDs[1],
          quantity: 1e9,
          conversionFactor: most,
        },
        400,
      ],
      [
        'Transfer',
        {
          fromAccountID: huge.accountID,
          toAccountID: accounts[1]!.accountID,
          quantity: most,
          investmentPrice: most,
        },
        400,
      ],
    ]
    for (const [kind, body, status] of tries) {
      const reply = await post(kind, { ...more, ...body })
      assert.equal(reply.status, status, `${kind} ${JSON.stringify(body)} ${reply.text}`)
    }
    const holdings = await admin.get(`/BizEntity/Account/Holdings?AccountID=${huge.accountID}`)
    assert.equal(holdings.status, 200)
  })

  it('needs the permission to write, and a token', async () => {
    const reader = await service.userWith({ role: 'ReadOnly' })
    const body = { ...own, amount: 1, transactionDate: '2026-01-10' }
    refused(await reader.post('/BizTransaction/Deposit', body), 403, 'permission_missing')
    refused(await service.anyone.post('/BizTransaction/Deposit', body), 401)
  })
})

describe('The price of a posting', () => {
  it('is the one given, else the latest on or before its day, by direction', async () => {
    const { own: priced, investmentID } = await fresh({ price: null })
    await newPrice(service, investmentID, '2026-01-05', 2, {
      applicationPrice: 2.5,
      redemptionPrice: 1.6,
    })
    await newPrice(service, investmentID, '2026-01-10', 4)
    const on = (day: string, kind: string, body: object) =>
      post(kind, { ...priced, transactionDate: `2026-01-${day}`, ...body })
    const before = await on('04', 'Deposit', { amount: 10 })
    refused(before, 400, 'no_price')
    assert.deepEqual(fieldsOf(before), ['investmentPrice'])
    assert.deepEqual(figures(only(await on('05', 'Deposit', { amount: 10 }))), [4, 10, 2.5])
    assert.deepEqual(figures(only(await on('09', 'Deposit', { amount: 10 }))), [4, 10, 2.5])
    assert.deepEqual(figures(only(await on('10', 'Deposit', { amount: 10 }))), [2.5, 10, 4])
    assert.deepEqual(figures(only(await on('09', 'Redemption', { amount: 8 }))), [-5, -8, 1.6])
    assert.deepEqual(figures(only(await on('09', 'Redemption', { quantity: 1 }))), [-1, -1.6, 1.6])
    const given = { amount: 10, investmentPrice: 5 }
    assert.deepEqual(figures(only(await on('04', 'Deposit', given))), [2, 10, 5])
    const both = { amount: 10, quantity: 3 }
    assert.deepEqual(figures(only(await on('04', 'Deposit', both))), [3, 10, null])
    assert.deepEqual(figures(only(await on('09', 'Adjustment', { quantity: 1 }))), [1, 2.5, 2.5])
    assert.deepEqual(figures(only(await on('09', 'Adjustment', { quantity: -1 }))), [-1, -1.6, 1.6])
    assert.deepEqual(figures(only(await on('04', 'Adjustment', { quantity: 1 }))), [1, 0, null])
  })

  it('gives units and money rounded half away from zero', async () => {
    const decimals = [{ unitDecimals: 0 }, { unitDecimals: 8 }, { currencyID: 8, unitDecimals: 2 }]
    const { accountID, investmentIDs } = await fresh({ investments: decimals, price: 3 })
    const [whole, fine, yen] = investmentIDs.map((investmentID) => ({ accountID, investmentID }))
    const deposit = async (body: object) => figures(only(await post('Deposit', body)))
    assert.deepEqual(await deposit({ ...whole, amount: 10.5 }), [4, 10.5, 3])
    assert.deepEqual(await deposit({ ...whole, amount: 10.49 }), [3, 10.49, 3])
    assert.deepEqual(await deposit({ ...fine, amount: 10 }), [3.33333333, 10, 3])
    assert.deepEqual(await deposit({ ...fine, amount: 20.005 }), [6.67, 20.01, 3])
    assert.deepEqual(await deposit({ ...yen, amount: 100.5 }), [33.67, 101, 3])
    const out = figures(only(await post('Redemption', { ...yen, quantity: '0.5' })))
    assert.deepEqual(out, [-0.5, -2, 3])
    const tiny = await post('Deposit', { ...whole, amount: 1.49 })
    refused(tiny, 400, 'too_small')
    assert.deepEqual(fieldsOf(tiny), ['quantity'])
  })
})

describe('POST /BizTransaction/Deposit', () => {
  it('takes the entry fee off before it buys units', async () => {
    const quantity = async (fees: object) =>
      only(await post('Deposit', { ...own, amount: 200, ...fees })).quantity
    assert.equal(await quantity({}), 200)
    assert.equal(await quantity({ entryFeeAmount: 7.005 }), 192.99)
    assert.equal(await quantity({ entryFeePercentage: 3 }), 194)
    assert.equal(await quantity({ entryFeePercentage: 3, entryFeeDiscountPercentage: 50 }), 197)
    assert.equal(await quantity({ entryFeePercentage: 3, entryFeeDiscountPercentage: 100 }), 200)
    assert.equal(await quantity({ entryFeePercentage: 3, entryFeeOverridePercentage: 1 }), 198)
    assert.equal(await quantity({ entryFeeAmount: 1, entryFeeOverridePercentage: 50 }), 199)
    assert.equal(await quantity({ entryFeePercentage: 3, quantity: 150 }), 150)
  })

  it('refuses a fee above the amount, 100.01 percent, and no positive amount', async () => {
    const deposit = (body: object) => post('Deposit', { ...own, ...body })
    refused(await deposit({ amount: 10, entryFeeAmount: 11 }), 400, 'invalid_value')
    refused(await deposit({ amount: 10, entryFeeAmount: 11, quantity: 1 }), 400, 'invalid_value')
    refused(await deposit({ amount: 10, entryFeeAmount: 10 }), 400, 'too_small')
    refused(await deposit({ amount: 10, entryFeePercentage: 100.01 }), 400, 'invalid_decimal')
    refused(await deposit({ amount: 10, entryFeeAmount: -1 }), 400, 'invalid_decimal')
    refused(await deposit({}), 400, 'required')
    refused(await deposit({ quantity: 1 }), 400, 'required')
    for (const amount of [0, -1, 'x', true, {}])
      refused(await deposit({ amount }), 400, 'invalid_decimal')
  })
})

describe('POST /BizTransaction/Redemption', () => {
  it('takes units out to the last, and names day and shortfall beyond', async () => {
    const { own: few, accounts } = await fresh()
    only(await post('Deposit', { ...few, amount: 10 }))
    only(await post('Redemption', { ...few, quantity: 4, transactionDate: '2026-01-15' }))
    const short = await post('Redemption', { ...few, quantity: 10.5 })
    refused(short, 409, 'insufficient_holding')
    assert.deepEqual(fieldsOf(short), ['quantity'])
    assert.match(
      short.message!,
      new RegExp(`account ${accounts[0]!.accountNumber} .* short by 0.5 units on 2026-01-10`),
    )
    // Enough on the day, but not for what was taken out since.
    const later = await post('Redemption', { ...few, quantity: 6.25 })
    assert.match(later.message!, /short by 0.25 units on 2026-01-15/)
    const early = await post('Redemption', { ...few, quantity: 1, transactionDate: '2026-01-09' })
    assert.match(early.message!, /short by 1 units on 2026-01-09/)
    only(await post('Redemption', { ...few, quantity: 6 }))
    assert.equal(await held(few), 0)
    refused(await post('Redemption', few), 400, 'required')
  })
})

describe('POST /BizTransaction/Adjustment', () => {
  it('moves by a signed quantity, its amount signed alike', async () => {
    const { own: adjusted } = await fresh()
    const adjust = (body: object) => post('Adjustment', { ...adjusted, ...body })
    assert.deepEqual(figures(only(await adjust({ quantity: 5, amount: 7 }))), [5, 7, 1])
    assert.deepEqual(figures(only(await adjust({ quantity: -2, amount: -3 }))), [-2, -3, 1])
    assert.deepEqual(figures(only(await adjust({ quantity: -1, amount: 0 }))), [-1, 0, 1])
    refused(await adjust({ quantity: 0 }), 400, 'invalid_value')
    refused(await adjust({ quantity: -1, amount: 1 }), 400, 'invalid_value')
    refused(await adjust({ quantity: 1, amount: -1 }), 400, 'invalid_value')
    refused(await adjust({}), 400, 'required')
    refused(await adjust({ quantity: -3 }), 409, 'insufficient_holding')
    assert.equal(await held(adjusted), 2)
  })
})

describe('POST /BizTransaction/SetQuantity', () => {
  it('posts the difference at its day, and nothing where there is none', async () => {
    const { own: target } = await fresh()
    const set = (quantity: number, day: string) =>
      post('SetQuantity', { ...target, quantity, transactionDate: `2026-01-${day}` })
    assert.equal(only(await set(10, '05')).quantity, 10)
    const none = await set(10, '07')
    assert.deepEqual([none.status, none.recordCount, none.data], [200, 0, []])
    assert.ok(none.message)
    assert.equal(only(await set(4, '10')).quantity, -6)
    // Set in the past: what came later stays, so the end moves along.
    assert.equal(only(await set(8, '06')).quantity, -2)
    assert.equal(await held(target), 2)
    const short = await set(1, '06')
    refused(short, 409, 'insufficient_holding')
    assert.match(short.message!, /short by 5 units on 2026-01-10/)
    refused(await set(-1, '06'), 400, 'invalid_decimal')
  })
})
