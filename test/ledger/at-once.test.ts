import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import {
  all,
  assertVerified,
  type Fund,
  newFund,
  newPrice,
  only,
  poster,
} from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

/**
 * What can be posted in one statement is, and the rest goes the long way (docs/decisions/0090): the
 * same postings by either must come to the same.
 */
let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)

type Row = Record<string, unknown>
const figures = ({ amount, quantity, investmentPrice, entryFeeAmount, ...row }: Row) => ({
  ...{ amount, quantity, investmentPrice, entryFeeAmount },
  typeName: row.typeName,
  day: row.transactionDate,
  closing: [row.transactionClosingQuantity, row.transactionClosingAmount],
  account: [row.accountClosingQuantity, row.accountClosingAmount],
})

/** All that is told of an account, without whose it is. */
async function historyOf({ productID }: Fund, accountID: number) {
  const own = `ProductID=${productID}&AccountID=${accountID}`
  const rows: Row[] = all(await service.admin.get(`/BizTransaction?${own}&ShowClosing=true`))
  const held = await rowsOf(
    service.connection,
    `select trim_scale(quantity) as quantity, cost_amount, realised_gain from holding
     where product_id = $1 and account_id = $2`,
    [productID, accountID],
  )
  return { rows: rows.map(figures), held: held.map((row) => Object.values<string>(row)) }
}

/** A fund with two accounts that have the same, bought at odd prices. */
async function twins(...days: string[]) {
  const fund = await newFund(service, { accounts: 2, investments: [{ unitDecimals: 4 }] })
  const { investmentID } = fund
  await newPrice(service, investmentID, '2026-01-02', '1.0137', { redemptionPrice: '1.0071' })
  await newPrice(service, investmentID, '2026-01-04', '0.9853', { redemptionPrice: '0.9799' })
  const [one, other] = fund.accounts.map(({ accountID }) => accountID) as [number, number]
  for (const [i, transactionDate] of days.entries())
    for (const accountID of [one, other])
      only(
        await post('Deposit', { accountID, investmentID, amount: 100 + 7.77 * i, transactionDate }),
      )
  return { fund, investmentID, one, other }
}

describe('Redemptions in one statement', () => {
  it('come to what they do in an array that counts one after another, to the cent', async () => {
    const { fund, investmentID, one, other } = await twins('2026-01-01', '2026-01-02', '2026-01-03')
    const redemptions = [
      { quantity: '33.3333' },
      { amount: 20.01 },
      { quantity: 100, amount: 90.9 },
      { quantity: '0.0001' },
      { amount: 13.37, investmentPrice: '1.2345' },
    ].map((body) => ({ ...body, investmentID, transactionDate: '2026-01-05' }))
    for (const body of redemptions) only(await post('Redemption', { ...body, accountID: one }))
    all(
      await post(
        'Redemption',
        redemptions.map((body) => ({ ...body, accountID: other })),
      ),
    )
    const expected = await historyOf(fund, other)
    assert.equal(expected.rows.length, 8)
    assert.deepEqual(await historyOf(fund, one), expected)
    // The whole of it, and the cost goes with the last unit.
    const left = expected.held[0]![0]!
    for (const accountID of [one, other]) {
      const body = { accountID, investmentID, quantity: left, transactionDate: '2026-01-06' }
      only(await post('Redemption', body))
    }
    const [held] = (await historyOf(fund, one)).held
    assert.deepEqual(held?.slice(0, 2), ['0', '0.00'])
    assert.deepEqual(await historyOf(fund, one), await historyOf(fund, other))
  })

  it('go out of what takes no new money any more', async () => {
    const { fund, investmentID, one } = await twins('2026-01-01')
    const closed = { investmentID, name: 'Class', isActive: false }
    all(await service.admin.put('/Investment', closed))
    const body = { accountID: one, investmentID, transactionDate: '2026-01-05' }
    assert.equal((await post('Deposit', { ...body, amount: 1 })).status, 409)
    only(await post('Redemption', { ...body, quantity: 1 }))
    const { productID } = fund
    all(await service.admin.put('/Product', { productID, name: 'Fund', isActive: false }))
    only(await post('Redemption', { ...body, quantity: 1 }))
  })
})
