import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { all, newFund, only, poster } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())
const post = poster(() => service.admin)
const path = '/BizEntity/Account/Holdings'

type Step = Record<'quantityChange' | 'costChange' | 'gainChange' | 'typeName', string>
const effects = (steps: Step[]) =>
  steps.map((one) => [one.typeName, one.quantityChange, one.costChange, one.gainChange])

describe('GET /BizEntity/Account/Holdings/Explain', () => {
  it('lists each transaction with its effect, in the order in which it counts', async () => {
    const fund = await newFund(service, { accounts: 2 })
    const { accountID, investmentID } = fund
    const own = { accountID, investmentID }
    const name = `AccountID=${accountID}&InvestmentID=${investmentID}`
    const on = (day: number) => ({ transactionDate: `2026-01-${day}` })
    only(await post('Allotment', { ...own, ...on(10), quantity: 100, investmentPrice: 1 }))
    only(await post('Redemption', { ...own, ...on(20), quantity: 50, investmentPrice: 3 }))
    const back = { ...own, ...on(15), quantity: 100, investmentPrice: 2 }
    only(await post('Allotment', back)) // dated back: the redemption counts anew
    const gone = only(await post('Deposit', { ...own, ...on(16), amount: 5 }))
    const { bizTransactionID } = gone
    await service.admin.put('/BizTransaction/Rollback', { bizTransactionID })
    const between = { fromAccountID: accountID, toAccountID: fund.accounts[1]!.accountID }
    const carried = { ...between, investmentID, ...on(25), quantity: 50, costBasis: 'Carry' }
    all(await post('Transfer', carried))
    const steps = all(await service.admin.get(`${path}/Explain?${name}`))
    assert.deepEqual(effects(steps), [
      ['Allotment', 100, 100, 0],
      ['Allotment', 100, 200, 0],
      ['Redemption', -50, -75, 75],
      ['Transfer out', -50, -75, 0],
    ])
    const [position] = all(await service.admin.get(`${path}?${name}`))
    const last = steps.at(-1)
    assert.deepEqual(
      [last.closingQuantity, last.closingCost, last.closingGain],
      [position.quantity, position.costAmount, position.realisedGain],
    )
    const early = all(await service.admin.get(`${path}/Explain?${name}&Date=2026-01-15`))
    assert.deepEqual(effects(early), effects(steps).slice(0, 2))
  })

  it('goes page by page, and from any page shows what each did', async () => {
    const { accountID, investmentID, productID } = await newFund(service)
    const own = { accountID, investmentID }
    await post(
      'Allotment',
      [3, 1, 2].map((n) => ({ ...own, quantity: n, transactionDate: `2026-01-1${n}` })),
    )
    const name = `ProductID=${productID}&AccountID=${accountID}&InvestmentID=${investmentID}`
    const first = await service.admin.get(`${path}/Explain?${name}&PageSize=2`)
    const cursor = first.headers.get('next-cursor')
    const rest = all(await service.admin.get(`${path}/Explain?${name}&PageSize=2&Cursor=${cursor}`))
    assert.deepEqual(
      [...first.data, ...rest].map(({ quantityChange }: Step) => quantityChange),
      [1, 2, 3],
    )
  })

  it('is about one position, which must be named', async () => {
    const { accountID } = await newFund(service)
    refused(await service.admin.get(`${path}/Explain?AccountID=${accountID}`), 400, 'required')
    const nobody = `${path}/Explain?AccountID=99999999&InvestmentID=1`
    refused(await service.admin.get(nobody), 404, 'not_found')
  })
})
