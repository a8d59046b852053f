import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { skipSpread, waitingForLocks, whileReferredTo } from '../support/database.ts'
import { configure } from '../support/distribution.ts'
import {
  all,
  assertVerified,
  newAccounts,
  newFund,
  newInvestment,
  newProduct,
  only,
  poster,
} from '../support/ledger.ts'
import { until } from '../support/process.ts'
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
const read = async (query: string, client = admin) => all(await client.get(`/Investment?${query}`))
const prices = async (query: string, client = admin) =>
  all(await client.get(`/Investment/Price?${query}`))

describe('POST /Investment', () => {
  it('creates an active investment with four decimals in the currency of its product', async () => {
    const { productID, externalProductId } = await newProduct(service, { currencyID: 2 })
    const reply = await admin.post('/Investment', { externalProductId, name: 'Class A' })
    const { investmentID, createdDate, updatedDate, ...rest } = only(reply)
    assert.ok(investmentID > 0)
    assert.match(createdDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(updatedDate, createdDate)
    assert.deepEqual(rest, {
      externalInvestmentId: null,
      securityCode: null,
      productID,
      externalProductId,
      name: 'Class A',
      description: null,
      isActive: true,
      currencyID: 2,
      unitDecimals: 4,
      issuePrice: null,
      drpResidualOnExit: 'Pay',
      priceTolerancePercent: null,
      maximumPriceAgeDays: null,
    })
    assert.deepEqual(await read(`InvestmentID=${investmentID}`), reply.data)
  })

  it('keeps what it is given, digit for digit', async () => {
    const { productID } = await newProduct(service)
    const issuePrice = '123456789.123456789'
    const given = {
      externalInvestmentId: 'Ext',
      securityCode: 'ABC',
      name: 'n',
      description: 'd',
      isActive: false,
      currencyID: 8,
      unitDecimals: 0,
    }
    const body = JSON.stringify({ productID, ...given }).replace(
      '}',
      `,"issuePrice":${issuePrice}}`,
    )
    const reply = await admin.post('/Investment', body)
    const { externalInvestmentId, securityCode, name, description, isActive } = only(reply)
    const { currencyID, unitDecimals } = only(reply)
    assert.deepEqual(
      { externalInvestmentId, securityCode, name, description, isActive, currencyID, unitDecimals },
      given,
    )
    assert.match(reply.text, new RegExp(`"issuePrice":${issuePrice}[,}]`))
  })

  it('refuses a product that is missing or unknown, and decimals outside 0 to 8', async () => {
    const { productID } = await newProduct(service)
    refused(await admin.post('/Investment', { name: 'x' }), 400, 'required')
    refused(await admin.post('/Investment', { productID: 2_000_000 }), 404, 'not_found')
    refused(await admin.post('/Investment', { productID, unitDecimals: 9 }), 400, 'out_of_range')
    refused(await admin.post('/Investment', { productID, unitDecimals: -1 }), 400, 'out_of_range')
    refused(await admin.post('/Investment', { productID, issuePrice: 0 }), 400, 'invalid_decimal')
    refused(await admin.post('/Investment', { productID, currencyID: 99 }), 400, 'unknown_lookup')
  })

  it('keeps external ids and security codes unique in the product, not beyond it', async () => {
    const { productID } = await newProduct(service)
    const other = await newProduct(service)
    const codes = { externalInvestmentId: 'I', securityCode: 'S' }
    only(await admin.post('/Investment', { productID, ...codes }))
    only(await admin.post('/Investment', { productID: other.productID, ...codes }))
    const external = await admin.post('/Investment', { productID, externalInvestmentId: 'I' })
    refused(external, 409, 'duplicate')
    assert.deepEqual(fieldsOf(external), ['externalInvestmentId'])
    const code = await admin.post('/Investment', { productID, securityCode: 'S' })
    refused(code, 409, 'duplicate')
    assert.deepEqual(fieldsOf(code), ['securityCode'])
  })
})

describe('GET /Investment', () => {
  it('finds by each of three names inside a product, by activity, and pages', async () => {
    const { productID, externalProductId } = await newProduct(service)
    const a = await newInvestment(service, productID)
    const b = await newInvestment(service, productID, { isActive: false })
    assert.deepEqual(await read(`ProductID=${productID}`), [a, b])
    assert.deepEqual(await read(`ExternalProductId=${externalProductId}&IsActive=false`), [b])
    assert.deepEqual(await read(`ProductID=${productID}&IsActive=true`), [a])
    const inProduct = `ProductID=${productID}`
    assert.deepEqual(await read(`${inProduct}&SecurityCode=${a.securityCode}`), [a])
    assert.deepEqual(await read(`${inProduct}&ExternalInvestmentId=${b.externalInvestmentId}`), [b])
    assert.deepEqual(await read(`InvestmentID=${b.investmentID}&SecurityCode=nothing`), [b])
    assert.deepEqual(await read(`${inProduct}&PageSize=1&PageNumber=2`), [b])
    assert.deepEqual(await read(`${inProduct}&PageNumber=3`), [])
    assert.deepEqual(await read('InvestmentID=2000000'), [])
    refused(await admin.get('/Investment?Colour=red'), 400, 'unknown_parameter')
  })
})

describe('PUT /Investment', () => {
  it('waits for postings only to change what they count in', { skip: skipSpread }, async () => {
    const { productID } = await newProduct(service)
    const investment = await newInvestment(service, productID)
    const held = { table: 'investment', id: investment.investmentID } as const
    const put = (more: object) => admin.put('/Investment', { ...investment, ...more })
    const [renamed, measured] = await whileReferredTo(service.connection, held, async () => {
      const reply = await put({ isActive: false })
      const change = put({ unitDecimals: 0 })
      await until(
        'the change of decimals to wait',
        async () => (await waitingForLocks(service.connection)) > 0,
      )
      return [reply, change] as const
    })
    assert.equal(renamed.status, 200, renamed.text)
    only(await measured)
  })

  it('replaces the record: what is left out is cleared or back to its default', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID, {
      issuePrice: 1.5,
      isActive: false,
      currencyID: 3,
    })
    const after = only(await admin.put('/Investment', { investmentID, name: 'New' }))
    assert.deepEqual(
      [after.name, after.securityCode, after.issuePrice, after.isActive, after.currencyID],
      ['New', null, null, true, 1],
    )
    refused(await admin.put('/Investment', { name: 'x' }), 400, 'required')
    refused(await admin.put('/Investment', { investmentID: 2_000_000 }), 404, 'not_found')
  })

  it('does not reread in another measure what the ledger has counted', async () => {
    const { productID, investmentID, accountID } = await newFund(service)
    const units = (unitDecimals: number, currencyID = 1) =>
      admin.put('/Investment', { investmentID, productID, unitDecimals, currencyID })
    only(await units(2))
    only(await units(4))
    only(await post('Deposit', { accountID, investmentID, amount: 1 }))
    refused(await units(2), 409, 'has_transactions')
    refused(await units(4, 8), 409, 'has_transactions')
    only(await units(8))
  })

  it('keeps the currency that a distribution is in, or is reinvested in', async () => {
    const fund = await newFund(service, { investments: [{}, {}, {}] })
    const [from, target, other] = fund.investmentIDs
    const drp = { drpIndicatorID: 2, drpInvestmentID: target }
    await configure(service, fund, { distributionAmountPerUnit: 1, ...drp })
    const change = (investmentID: number) =>
      admin.put('/Investment', { investmentID, currencyID: 8 })
    refused(await change(from!), 409, 'in_use')
    refused(await change(target!), 409, 'in_use')
    only(await change(other!))
    only(await admin.put('/Investment', { investmentID: target, unitDecimals: 0 }))
  })
})

describe('An inactive investment', () => {
  it('takes no notices, deposits or allotments; redemption and transfer still work', async () => {
    const { productID, investmentIDs, accounts } = await newFund(service, {
      accounts: 2,
      investments: [{}, {}],
    })
    const [a, b] = accounts.map(({ accountID }) => accountID)
    const [open, closed] = investmentIDs
    const own = { accountID: a, investmentID: closed }
    only(await post('Deposit', { ...own, amount: 100 }))
    only(await post('Deposit', { accountID: a, investmentID: open, amount: 100 }))
    only(await admin.put('/Investment', { investmentID: closed, productID, isActive: false }))
    const when = { transactionDate: '2026-01-10' }
    const inactive = 'investment_inactive'
    refused(await post('Deposit', { ...own, amount: 1 }), 409, inactive)
    refused(await post('Allotment', { ...own, quantity: 1 }), 409, inactive)
    const ends = { fromInvestmentID: open, toInvestmentID: closed }
    refused(await post('Conversion', { accountID: a, ...ends, quantity: 1 }), 409, inactive)
    const notices: [string, object][] = [
      ['Deposit', { ...own, amount: 1 }],
      ['Redemption', { ...own, quantity: 1 }],
      ['Conversion', { accountID: a, ...ends, quantity: 1 }],
    ]
    for (const [kind, body] of notices)
      refused(await admin.post(`/BizEvent/NoticeOf${kind}`, { ...body, ...when }), 409, inactive)
    only(await post('Redemption', { ...own, quantity: 1 }))
    const transfer = { investmentID: closed, fromAccountID: a, toAccountID: b, quantity: 1 }
    assert.equal(all(await post('Transfer', transfer)).length, 2)
    only(await admin.put('/Investment', { investmentID: closed, productID, isActive: true }))
    only(await post('Deposit', { ...own, amount: 1 }))
  })
})

describe('DELETE /Investment', () => {
  it('takes InvestmentID alone or in a product, ExternalInvestmentId in a product', async () => {
    const { productID, externalProductId } = await newProduct(service)
    const keys = [
      ({ investmentID }: Made) => `InvestmentID=${investmentID}`,
      ({ investmentID }: Made) => `ProductID=${productID}&InvestmentID=${investmentID}`,
      ({ externalInvestmentId: x }: Made) => `ProductID=${productID}&ExternalInvestmentId=${x}`,
      ({ externalInvestmentId: x }: Made) =>
        `ExternalProductId=${externalProductId}&ExternalInvestmentId=${x}`,
    ]
    for (const key of keys) {
      const made = await newInvestment(service, productID)
      const reply = await admin.delete(`/Investment?${key(made)}`)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual([reply.result, reply.recordCount, reply.data], [true, 0, null])
      assert.deepEqual(await read(`InvestmentID=${made.investmentID}`), [])
    }
  })

  it('refuses every other combination', async () => {
    const { productID, externalProductId } = await newProduct(service)
    const { investmentID, externalInvestmentId } = await newInvestment(service, productID)
    const message = 'Either InvestmentID or ExternalInvestmentId must be provided!'
    for (const key of ['', `ProductID=${productID}`, `ExternalProductId=${externalProductId}`]) {
      const reply = await admin.delete(`/Investment?${key}`)
      refused(reply, 400, 'required')
      assert.equal(reply.message, message)
    }
    refused(await admin.delete(`/Investment?ExternalInvestmentId=${externalInvestmentId}`), 400)
    const crossed = `ExternalProductId=${externalProductId}&InvestmentID=${investmentID}`
    refused(await admin.delete(`/Investment?${crossed}`), 400, 'combination')
    const code = await admin.delete(`/Investment?InvestmentID=${investmentID}&SecurityCode=x`)
    refused(code, 400, 'unknown_parameter')
    assert.equal((await read(`InvestmentID=${investmentID}`)).length, 1)
  })

  it('validates the product in every case', async () => {
    const { productID } = await newProduct(service)
    const other = await newProduct(service)
    const { investmentID, externalInvestmentId } = await newInvestment(service, productID)
    for (const key of [
      `ProductID=${other.productID}&InvestmentID=${investmentID}`,
      `ProductID=${other.productID}&ExternalInvestmentId=${externalInvestmentId}`,
      `ExternalProductId=${other.externalProductId}&ExternalInvestmentId=${externalInvestmentId}`,
    ])
      refused(await admin.delete(`/Investment?${key}`), 404, 'not_found')
    assert.equal((await read(`InvestmentID=${investmentID}`)).length, 1)
  })

  it('refuses one with prices, transactions or notices', async () => {
    const { investmentID } = await newFund(service)
    const key = `/Investment?InvestmentID=${investmentID}`
    const priced = await admin.delete(key)
    refused(priced, 409, 'in_use')
    assert.match(priced.message!, /price/)
    const traded = await newFund(service, { price: null })
    const own = { accountID: traded.accountID, investmentID: traded.investmentID }
    only(await post('Allotment', { ...own, quantity: 1, amount: 1 }))
    const used = await admin.delete(`/Investment?InvestmentID=${traded.investmentID}`)
    refused(used, 409, 'in_use')
    assert.match(used.message!, /transactions/)
    const noted = await newFund(service, { price: null })
    only(
      await admin.post('/BizEvent/NoticeOfDeposit', {
        accountID: noted.accountID,
        investmentID: noted.investmentID,
        amount: 1,
        transactionDate: '2026-01-10',
      }),
    )
    refused(await admin.delete(`/Investment?InvestmentID=${noted.investmentID}`), 409, 'in_use')
  })
})

type Made = { investmentID: number; externalInvestmentId: string }

describe('A user whose scope is one product', () => {
  it('neither sees nor touches investments and prices of another, by any name', async () => {
    const mine = await newFund(service)
    const foreign = await newFund(service)
    const user = await service.userWith({ role: 'Operator', productIDs: [mine.productID] })
    const [theirs] = await read(`InvestmentID=${foreign.investmentID}`)
    const [price] = await prices(`InvestmentID=${foreign.investmentID}`)
    assert.deepEqual(
      (await read('', user)).map(({ investmentID }: Made) => investmentID),
      [mine.investmentID],
    )
    assert.deepEqual(await read(`InvestmentID=${foreign.investmentID}`, user), [])
    assert.deepEqual(await read(`ExternalProductId=${foreign.externalProductId}`, user), [])
    assert.equal((await prices('', user)).length, 1)
    assert.deepEqual(await prices(`InvestmentPriceID=${price.investmentPriceID}`, user), [])
    const { productID, externalProductId, investmentID } = foreign
    const { externalInvestmentId } = theirs
    const priceDate = '2000-01-01'
    for (const reply of [
      await user.post('/Investment', { productID }),
      await user.post('/Investment', { externalProductId }),
      await user.put('/Investment', { investmentID }),
      await user.put('/Investment', { externalProductId, externalInvestmentId }),
      await user.delete(`/Investment?InvestmentID=${investmentID}`),
      await user.post('/Investment/Price', { investmentID, priceDate: '2026-01-01', price: 1 }),
      await user.put('/Investment/Price', { investmentID, priceDate, price: 9 }),
      await user.put('/Investment/Price', { investmentPriceID: price.investmentPriceID, price: 9 }),
      await user.delete(`/Investment/Price?InvestmentPriceID=${price.investmentPriceID}`),
      await user.delete(`/Investment/Price?InvestmentID=${investmentID}&PriceDate=${priceDate}`),
    ])
      refused(reply, 404, 'not_found')
    assert.deepEqual(await read(`InvestmentID=${investmentID}`), [theirs])
    assert.deepEqual(await prices(`InvestmentID=${investmentID}`), [price])
    await newAccounts(service, mine.productID, 1)
    only(await user.post('/Investment', { productID: mine.productID }))
  })
})
