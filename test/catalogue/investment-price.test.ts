import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import type { Client } from '../support/client.ts'
import { skipSpread, waitingForLocks } from '../support/database.ts'
import { all, newAccounts, newInvestment, newPrice, newProduct, only } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
before(async () => {
  service = await startService()
  admin = service.admin
})
after(() => service.stop())
const prices = async (query: string) => all(await admin.get(`/Investment/Price?${query}`))

describe('Prices', () => {
  it('are one per investment and day; application and redemption price default to it', async () => {
    const { productID, externalProductId } = await newProduct(service)
    const investment = await newInvestment(service, productID)
    const { investmentID, externalInvestmentId, securityCode } = investment
    const names = { investmentID, externalInvestmentId, securityCode, productID, externalProductId }
    const { investmentPriceID, ...rest } = await newPrice(service, investmentID, '2026-01-01', 1.25)
    assert.deepEqual(rest, {
      ...names,
      priceDate: '2026-01-01',
      price: 1.25,
      applicationPrice: 1.25,
      redemptionPrice: 1.25,
    })
    const again = { investmentID, priceDate: '2026-01-01', price: 2 }
    refused(await admin.post('/Investment/Price', again), 409, 'duplicate')
    const spread = { applicationPrice: '1.30', redemptionPrice: 1.2 }
    const other = await newPrice(service, investmentID, '2026-01-02', 1.25, spread)
    assert.deepEqual([other.applicationPrice, other.redemptionPrice], [1.3, 1.2])
    assert.equal((await prices(`InvestmentPriceID=${investmentPriceID}`)).length, 1)
  })

  for (const [moment, hold] of [
    ['before they are written', () => 'lock table product in access exclusive mode'],
    [
      'while they are written',
      (id: number) => `delete from investment where investment_id = ${id}`,
    ],
  ] as const)
    it(`of an investment that goes ${moment} find none`, { skip: skipSpread }, async () => {
      const { productID } = await newProduct(service)
      const { investmentID } = await newInvestment(service, productID)
      const holder = new pg.Client(service.connection)
      await holder.connect()
      await holder.query(`begin; ${hold(investmentID)}`)
      const price = { investmentID, priceDate: '2026-01-01', price: 1 }
      const writing = admin.post('/Investment/Price', price)
      const isWaiting = async () => (await waitingForLocks(service.connection)) === 1
      await until('the price to wait', isWaiting)
      await holder.query('delete from investment where investment_id = $1', [investmentID])
      await holder.query('commit')
      await holder.end()
      refused(await writing, 404, 'not_found')
    })

  it('are refused by every day of a list that is taken, or is in the list before', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    await newPrice(service, investmentID, '2026-01-02', 1)
    await newPrice(service, investmentID, '2026-01-04', 1)
    const days = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-03T10:00:00Z', '2026-01-04']
    const list = days.map((priceDate) => ({ investmentID, priceDate, price: 1 }))
    const reply = await admin.post('/Investment/Price', list)
    refused(reply, 409, 'duplicate')
    assert.deepEqual(fieldsOf(reply), ['[1].priceDate', '[3].priceDate', '[4].priceDate'])
    assert.equal((await prices(`InvestmentID=${investmentID}`)).length, 2)
  })

  it('are posted in arrays, all or nothing', async () => {
    const { productID } = await newProduct(service)
    const { investmentID, securityCode } = await newInvestment(service, productID)
    const list = ['2026-01-01', '2026-01-02', '2026-01-03'].map((priceDate, i) => ({
      productID,
      securityCode,
      priceDate,
      price: i + 1,
    }))
    const made = all(await admin.post('/Investment/Price', list))
    assert.deepEqual(
      made.map(({ price }: { price: number }) => price),
      [1, 2, 3],
    )
    const bad = await admin.post('/Investment/Price', [
      { investmentID, priceDate: '2026-02-01', price: 1 },
      { investmentID, priceDate: '2026-02-30', price: 0 },
      { securityCode, priceDate: '2026-02-02', price: 1 },
    ])
    refused(bad, 400, 'invalid_date', 'invalid_decimal')
    assert.deepEqual(fieldsOf(bad).sort(), ['[1].price', '[1].priceDate'])
    const unknown = await admin.post('/Investment/Price', [
      { investmentID: 2_000_000, priceDate: '2026-02-01', price: 1 },
    ])
    refused(unknown, 404, 'not_found')
    assert.deepEqual(fieldsOf(unknown), ['[0].investmentID'])
    assert.equal((await prices(`InvestmentID=${investmentID}`)).length, 3)
  })

  it('are filtered by day and paged', async () => {
    const { productID } = await newProduct(service)
    const { investmentID, externalInvestmentId } = await newInvestment(service, productID)
    for (const day of ['01', '02', '03', '04'])
      await newPrice(service, investmentID, `2026-01-${day}`, 1)
    const days = async (query: string) =>
      (await prices(`InvestmentID=${investmentID}&${query}`)).map(
        ({ priceDate }: { priceDate: string }) => priceDate.slice(8),
      )
    assert.deepEqual(await days('PriceDate=2026-01-02'), ['02'])
    assert.deepEqual(await days('PriceDate.greaterThan=2026-01-02'), ['03', '04'])
    assert.deepEqual(
      await days('PriceDate.greaterThanOrEqual=2026-01-02&PriceDate.lessThan=2026-01-04'),
      ['02', '03'],
    )
    assert.deepEqual(await days('PriceDate.in=2026-01-01,2026-01-04'), ['01', '04'])
    assert.deepEqual(await days('PageSize=3&PageNumber=2'), ['04'])
    const external = `ProductID=${productID}&ExternalInvestmentId=${externalInvestmentId}`
    assert.equal((await prices(external)).length, 4)
    refused(await admin.get('/Investment/Price?PriceDate=2026-02-30'), 400, 'invalid_date')
  })

  it('are changed and deleted by their id, or by investment and day', async () => {
    const { productID } = await newProduct(service)
    const { investmentID, externalInvestmentId } = await newInvestment(service, productID)
    const { investmentPriceID } = await newPrice(service, investmentID, '2026-01-01', 1, {
      applicationPrice: 2,
    })
    const byID = { investmentPriceID, price: '1.111111111111111111', applicationPrice: null }
    const reply = await admin.put('/Investment/Price', byID)
    assert.match(
      reply.text,
      /"price":1\.111111111111111111,"applicationPrice":1\.111111111111111111/,
    )
    const byDay = { productID, externalInvestmentId, priceDate: '2026-01-01', price: 3 }
    assert.equal(only(await admin.put('/Investment/Price', byDay)).price, 3)
    const moved = { investmentPriceID, priceDate: '2026-01-05', price: 3 }
    assert.equal(only(await admin.put('/Investment/Price', moved)).priceDate, '2026-01-05')
    await newPrice(service, investmentID, '2026-01-06', 1)
    const onto = await admin.put('/Investment/Price', { ...moved, priceDate: '2026-01-06' })
    refused(onto, 409, 'duplicate')
    refused(await admin.put('/Investment/Price', { investmentID, price: 1 }), 400, 'required')
    refused(await admin.put('/Investment/Price', { investmentPriceID: 2e6, price: 1 }), 404)
    const none = await admin.delete(
      `/Investment/Price?InvestmentID=${investmentID}&PriceDate=2020-01-01`,
    )
    refused(none, 404, 'not_found')
    const gone = await admin.delete(`/Investment/Price?InvestmentPriceID=${investmentPriceID}`)
    assert.deepEqual([gone.status, gone.recordCount, gone.data], [200, 0, null])
    const day = `ProductID=${productID}&ExternalInvestmentId=${externalInvestmentId}`
    assert.equal((await admin.delete(`/Investment/Price?${day}&PriceDate=2026-01-06`)).status, 200)
    assert.deepEqual(await prices(`InvestmentID=${investmentID}`), [])
    assert.equal((await admin.delete(`/Investment?InvestmentID=${investmentID}`)).status, 200)
  })

  it('are not those of another investment or product that is named beside the id', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const price = await newPrice(service, investmentID, '2026-01-01', 1)
    const { investmentPriceID } = price
    const other = (await newProduct(service)).productID
    const beside = (await newInvestment(service, productID)).investmentID
    for (const [named, parameter] of [
      [{ investmentID: beside }, `InvestmentID=${beside}`],
      [{ productID: other }, `ProductID=${other}`],
      [{ externalProductId: 'NONE' }, 'ExternalProductId=NONE'],
      [{ securityCode: 'NONE' }, 'SecurityCode=NONE'],
    ] as const) {
      const changed = { investmentPriceID, ...named, price: 5 }
      refused(await admin.put('/Investment/Price', changed), 404, 'not_found')
      const path = `?InvestmentPriceID=${investmentPriceID}&${parameter}`
      refused(await admin.delete(`/Investment/Price${path}`), 404, 'not_found')
      refused(await admin.get(`/Investment/Price/Affected${path}`), 404, 'not_found')
    }
    assert.deepEqual(await prices(`InvestmentID=${investmentID}`), [price])
    assert.equal(only(await admin.put('/Investment/Price', { ...price, price: 5 })).price, 5)
  })
})

describe('Prices of a locked period', () => {
  it('are not added, changed or deleted; later ones are', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const old = await newPrice(service, investmentID, '2026-06-30', 1)
    const { data } = await admin.get(`/Product?ProductID=${productID}`)
    only(await admin.put('/Product', { ...data[0], lockedDate: '2026-06-30' }))
    const list = ['2026-07-01', '2026-06-30', '2026-06-29'].map((priceDate) => ({
      investmentID,
      priceDate,
      price: 1,
    }))
    const added = await admin.post('/Investment/Price', list)
    refused(added, 409, 'period_locked')
    assert.deepEqual(fieldsOf(added), ['[1].priceDate', '[2].priceDate'])
    assert.match(String(added.message), /2026-06-30/)
    const { investmentPriceID } = old
    refused(await admin.put('/Investment/Price', { investmentPriceID, price: 2 }), 409)
    refused(await admin.delete(`/Investment/Price?InvestmentPriceID=${investmentPriceID}`), 409)
    const later = await newPrice(service, investmentID, '2026-07-01', 1)
    const moved = { investmentPriceID: later.investmentPriceID, priceDate: '2026-06-01', price: 1 }
    refused(await admin.put('/Investment/Price', moved), 409, 'period_locked')
    assert.equal((await prices(`InvestmentID=${investmentID}`)).length, 2)
  })
})

describe('The tolerance of an investment', () => {
  it('refuses a price that moves by more, unless it says confirm', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID, { priceTolerancePercent: 10 })
    const price = (priceDate: string, amount: number, more = {}) => ({
      investmentID,
      priceDate,
      price: amount,
      ...more,
    })
    const list = [price('2026-01-01', 1), price('2026-01-02', 1.1), price('2026-01-03', 1.3)]
    const far = await admin.post('/Investment/Price', list)
    refused(far, 409, 'price_tolerance')
    assert.deepEqual(fieldsOf(far), ['[2].price'])
    list[2] = price('2026-01-03', 1.3, { confirm: true })
    const made = all(await admin.post('/Investment/Price', list))
    const { investmentPriceID } = made[1]
    const put = (more: object) => admin.put('/Investment/Price', { investmentPriceID, ...more })
    refused(await put({ price: 1.2 }), 409, 'price_tolerance')
    assert.equal(only(await put({ price: 1.2, confirm: true })).price, 1.2)
    const apart = await admin.post('/Investment/Price', [
      price('2026-01-04', 1.3, { applicationPrice: 9, redemptionPrice: 1.2 }),
    ])
    refused(apart, 409, 'price_tolerance')
    assert.deepEqual(fieldsOf(apart), ['[0].applicationPrice'])
    const first = { investmentPriceID: made[0].investmentPriceID, price: 2 }
    refused(await admin.put('/Investment/Price', first), 409, 'price_tolerance')
  })
})

describe('A price that was read and sent back with another figure', () => {
  it('takes along what followed it, and not what was given apart', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const plain = await newPrice(service, investmentID, '2026-01-01', 1)
    assert.deepEqual([plain.applicationPrice, plain.redemptionPrice], [1, 1])
    const moved = only(await admin.put('/Investment/Price', { ...plain, price: 2 }))
    assert.deepEqual([moved.applicationPrice, moved.redemptionPrice], [2, 2])
    const apart = await newPrice(service, investmentID, '2026-01-02', 1, { redemptionPrice: 0.9 })
    const other = only(await admin.put('/Investment/Price', { ...apart, price: '2.0' }))
    assert.deepEqual([other.applicationPrice, other.redemptionPrice], [2, 0.9])
    const given = only(await admin.put('/Investment/Price', { ...other, applicationPrice: 1.5 }))
    assert.deepEqual([given.price, given.applicationPrice], [2, 1.5])
  })
})

describe('A price that is dated back', () => {
  it('is compared with the next price, too; of two in a list the later is told of', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID, { priceTolerancePercent: 10 })
    const send = (...prices: [day: string, price: number, more?: object][]) =>
      admin.post(
        '/Investment/Price',
        prices.map(([day, price, more]) => ({
          ...{ investmentID, priceDate: `2026-01-${day}`, price, ...more },
        })),
      )
    all(await send(['10', 1]))
    const far = await send(['05', 5])
    refused(far, 409, 'price_tolerance')
    assert.match(far.message!, /5 is more than 10 percent from 1, the price after it/)
    refused(await send(['05', 0.9]), 409, 'price_tolerance')
    const issued = await send(['05', 1, { applicationPrice: 1.2 }])
    assert.deepEqual(fieldsOf(issued), ['[0].applicationPrice'])
    const two = await send(['01', 3], ['02', 1])
    refused(two, 409, 'price_tolerance')
    assert.deepEqual(fieldsOf(two), ['[1].price'])
    all(await send(['05', 5, { confirm: true }]))
    all(await send(['11', 1.05]))
  })
})

describe('A corrected price', () => {
  it('leaves prices that were given apart alone; null lets them follow it again', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const apart = { applicationPrice: 1.1, redemptionPrice: 0.9 }
    const { investmentPriceID } = await newPrice(service, investmentID, '2026-01-01', 1, apart)
    const put = async (more: object) =>
      only(await admin.put('/Investment/Price', { investmentPriceID, ...more }))
    const changed = await put({ price: 2 })
    assert.deepEqual([changed.applicationPrice, changed.redemptionPrice], [1.1, 0.9])
    const followed = await put({ price: 2, applicationPrice: null })
    assert.deepEqual([followed.applicationPrice, followed.redemptionPrice], [2, 0.9])
  })

  it('lists the transactions that used it, and no others', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const [account] = await newAccounts(service, productID, 1)
    const { accountID } = account!
    const { investmentPriceID } = await newPrice(service, investmentID, '2026-01-01', 1)
    await newPrice(service, investmentID, '2026-02-01', 1)
    const deposit = async (transactionDate: string, more = {}) =>
      only(
        await admin.post('/BizTransaction/Deposit', {
          accountID,
          investmentID,
          transactionDate,
          amount: 100,
          ...more,
        }),
      ).bizTransactionID
    const used = await deposit('2026-01-15')
    await deposit('2026-01-16', { investmentPrice: 5 })
    await deposit('2026-02-01')
    const path = `/Investment/Price/Affected?InvestmentPriceID=${investmentPriceID}`
    const ids = async () =>
      all(await admin.get(path)).map((one: { bizTransactionID: number }) => one.bizTransactionID)
    assert.deepEqual(await ids(), [used])
    const corrected = await admin.put('/Investment/Price', { investmentPriceID, price: 1.25 })
    assert.match(String(corrected.message), /1 transaction used this price/)
    const [affected] = all(await admin.get(path))
    assert.deepEqual([affected.investmentPrice, affected.currentPrice], [1, 1.25])
    assert.deepEqual(await ids(), [used])
    const unnamed = `/Investment/Price/Affected?InvestmentID=${investmentID}`
    refused(await admin.get(unnamed), 400, 'required')
  })

  it('lists transactions that were posted before another price between was entered', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const [account] = await newAccounts(service, productID, 1)
    const { accountID } = account!
    const { investmentPriceID } = await newPrice(service, investmentID, '2026-01-01', 1)
    const deposit = async (transactionDate: string) => {
      const body = { accountID, investmentID, transactionDate, amount: 100 }
      return only(await admin.post('/BizTransaction/Deposit', body)).bizTransactionID
    }
    const used = await deposit('2026-01-15')
    const late = await newPrice(service, investmentID, '2026-01-10', 1.1)
    const usedLate = await deposit('2026-01-15')
    const idsOf = async (id: number) => {
      const path = `/Investment/Price/Affected?InvestmentPriceID=${id}`
      return all(await admin.get(path)).map(
        (one: { bizTransactionID: number }) => one.bizTransactionID,
      )
    }
    assert.deepEqual(await idsOf(investmentPriceID), [used])
    const corrected = await admin.put('/Investment/Price', { investmentPriceID, price: 1.25 })
    assert.match(String(corrected.message), /1 transaction used this price/)
    assert.deepEqual(await idsOf(investmentPriceID), [used])
    assert.deepEqual(await idsOf(late.investmentPriceID), [usedLate])
  })

  it('lists with each transaction the price that its kind takes', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const [one, other] = await newAccounts(service, productID, 2)
    const [fromAccountID, toAccountID] = [one!.accountID, other!.accountID]
    const prices = { applicationPrice: 1.1, redemptionPrice: 0.9 }
    const { investmentPriceID } = await newPrice(service, investmentID, '2026-01-01', 1, prices)
    const of = { investmentID, transactionDate: '2026-01-15', quantity: 10 }
    const post = async (kind: string, body: object) =>
      all(await admin.post(`/BizTransaction/${kind}`, { ...of, ...body }))
    await post('Deposit', { accountID: fromAccountID, amount: 110, quantity: 100 })
    await post('Transfer', { productID, fromAccountID, toAccountID })
    await post('Redemption', { accountID: toAccountID, quantity: 5 })
    const put = { investmentPriceID, price: 2, applicationPrice: 2.2, redemptionPrice: 1.8 }
    only(await admin.put('/Investment/Price', put))
    const path = `/Investment/Price/Affected?InvestmentPriceID=${investmentPriceID}`
    const affected: { investmentPrice: number; currentPrice: number }[] = all(await admin.get(path))
    assert.deepEqual(
      affected.map(({ investmentPrice, currentPrice }) => [investmentPrice, currentPrice]),
      [
        [1.1, 2.2],
        [1, 2],
        [1, 2],
        [0.9, 1.8],
      ],
    )
  })
})
