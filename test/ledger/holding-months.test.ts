import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Fund, newFund, newPrice } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund

/** A day in the month so many months ago, in the product's time zone; by default the first. */
const monthsAgo = (months: number, day = 1) => {
  const now = new Date(new Date().toLocaleString('en-US', { timeZone: 'Australia/Sydney' }))
  const date = new Date(Date.UTC(now.getFullYear(), now.getMonth() - months, day))
  return date.toISOString().slice(0, 10)
}
const lastDay = (months: number) => {
  const next = new Date(`${monthsAgo(months - 1)}T00:00:00Z`)
  return new Date(next.getTime() - 86_400_000).toISOString().slice(0, 10)
}

const tomorrow = () =>
  new Date(Date.now() + 86_400_000).toLocaleDateString('sv-SE', { timeZone: 'Australia/Sydney' })

const post = async (kind: string, i: number, transactionDate: string, rest: object) => {
  const made = await service.admin.post(`/BizTransaction/${kind}`, {
    accountID: fund.accounts[i]!.accountID,
    investmentID: fund.investmentID,
    transactionDate,
    ...rest,
  })
  assert.equal(made.status, 200, made.text)
  return made.data[0]
}
const months = async (query: string) => {
  const path = `/BizEntity/Account/Holdings/Months?ProductID=${fund.productID}${query}`
  const reply = await service.admin.get(path)
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}

before(async () => {
  service = await startService()
  fund = await newFund(service, { accounts: 2, investments: [{}] })
  await newPrice(service, fund.investmentID, monthsAgo(30), 2)
  await newPrice(service, fund.investmentID, monthsAgo(1), 3)
  await post('Deposit', 0, monthsAgo(20), { amount: 200 })
  await post('Deposit', 0, monthsAgo(2, 5), { amount: 100.5 })
  await post('Deposit', 1, monthsAgo(2, 28), { amount: 50 })
  await post('Redemption', 1, monthsAgo(1, 3), { quantity: 25 })
  const undone = await post('Deposit', 0, monthsAgo(1, 4), { amount: 9999 })
  const { bizTransactionID } = undone
  assert.equal(
    (await service.admin.put('/BizTransaction/Rollback', { bizTransactionID })).status,
    200,
  )
})
after(() => service.stop())

describe('GET /BizEntity/Account/Holdings/Months', () => {
  it('tells units, value and money of each month, the oldest first', async () => {
    const found = await months('&Months=4')
    const [before, two, one, now] = found
    assert.equal(found.length, 4)
    assert.deepEqual(
      [before.date, before.quantity, before.marketValue, before.amountIn],
      [lastDay(3), 100, 200, 0],
    )
    assert.deepEqual(
      [two.date, two.quantity, two.price, two.marketValue, two.amountIn, two.amountOut],
      [lastDay(2), 175.25, 2, 350.5, 150.5, 0],
    )
    assert.deepEqual(
      [one.quantity, one.price, one.marketValue, one.amountIn, one.amountOut, one.holders],
      [150.25, 3, 450.75, 0, 75, null],
    )
    assert.deepEqual([now.quantity, now.holders], [150.25, 1])
  })

  it('ends with what the holdings come to', async () => {
    const now = (await months('')).at(-1)
    const path = `/BizEntity/Account/Holdings?ProductID=${fund.productID}`
    const { data } = await service.admin.get(path)
    assert.deepEqual([now.quantity, now.marketValue], [data[0].quantity, data[0].marketValue])
    assert.equal((await months('')).length, 12)
  })

  it('tells of one investor alone, and of what is of another product nothing', async () => {
    const [first, second] = fund.accounts
    const own = await months(`&Months=1&BizEntityID=${second!.bizEntityID}`)
    assert.deepEqual([own[0].quantity, own[0].holders], [0, 0])
    const other = await months(`&Months=1&BizEntityID=${first!.bizEntityID}`)
    assert.equal(other[0].quantity, 150.25)
    assert.deepEqual(await months('&BizEntityID=999999'), [])
  })

  it('leaves out what is dated ahead until its day', async () => {
    await post('Deposit', 0, tomorrow(), { amount: 300, investmentPrice: 3 })
    assert.equal((await months('&Months=1'))[0].quantity, 150.25)
  })

  it('counts the holders of today, not those of what is dated ahead', async () => {
    const holders = async (query = '') => (await months(`&Months=1${query}`))[0].holders
    const own = `&BizEntityID=${fund.accounts[1]!.bizEntityID}`
    await post('Deposit', 1, tomorrow(), { amount: 30, investmentPrice: 3 })
    assert.deepEqual([await holders(), await holders(own)], [1, 0])
    await post('Deposit', 1, monthsAgo(1, 10), { amount: 30 })
    await post('Redemption', 1, tomorrow(), { quantity: 20 })
    assert.deepEqual([await holders(), await holders(own)], [2, 1])
  })

  it('wants a product, and at most three years', async () => {
    refused(await service.admin.get('/BizEntity/Account/Holdings/Months'), 400, 'required')
    const path = `/BizEntity/Account/Holdings/Months?ProductID=${fund.productID}&Months=37`
    assert.equal((await service.admin.get(path)).status, 400)
  })
})
