import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { all, assertVerified, type Fund, newFund, newPrice, poster } from '../support/ledger.ts'
import { fieldsOf } from '../support/refused.ts'
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
const idsOf = ({ accounts }: Fund) => accounts.map(({ accountID }) => accountID)
const heldIn = async ({ productID }: Fund) =>
  all(await service.admin.get(`/BizEntity/Account/Holdings?ProductID=${productID}`)).map(
    ({ accountID, quantity }: Record<string, number>) => [accountID, quantity],
  )

describe('An array of postings with much in common', () => {
  it('prices each by its own investment and day, and tells of each what is its own', async () => {
    const fund = await newFund(service, { accounts: 4, investments: [{}, {}] })
    const [one, two] = fund.investmentIDs as [number, number]
    await newPrice(service, one, '2026-02-02', 4)
    await newPrice(service, two, '2026-02-01', 5)
    const comment = 'of "all" \\ <these>, only\tthis: é 株'
    const body = (accountID: number, investmentID: number, day: string) => ({
      accountID,
      investmentID,
      amount: 100,
      transactionDate: `2026-02-${day}`,
    })
    const [a, b, c, d] = idsOf(fund) as [number, number, number, number]
    // Where an investment has no holding yet a posting goes another way.
    all(await post('Deposit', [body(a, one, '01'), body(a, two, '01')]))
    const made = all(
      await post('Deposit', [
        { ...body(b, one, '01'), comment },
        body(c, one, '02'),
        body(d, two, '02'),
        body(a, one, '03'),
      ]),
    )
    const told = (rows: Record<string, unknown>[]) =>
      rows.map((row) => [row.accountID, row.investmentID, row.quantity, row.comment])
    assert.deepEqual(told(made), [
      [b, one, 100, comment],
      [c, one, 25, null],
      [d, two, 20, null],
      [a, one, 25, null],
    ])
    const read = all(await service.admin.get(`/BizTransaction?ProductID=${fund.productID}`))
    assert.deepEqual(read.slice(2), made, 'and the list tells the same')
    assert.deepEqual(await heldIn(fund), [
      [a, 125],
      [a, 20],
      [b, 100],
      [c, 25],
      [d, 20],
    ])
  })

  it('names nothing of another product, whatever else in it is right', async () => {
    const fund = await newFund(service, { accounts: 2 })
    const other = await newFund(service)
    for (const { accountID, investmentID } of [fund, other])
      all(await post('Deposit', { accountID, investmentID, amount: 1 }))
    const { investmentID } = fund
    const bodies = idsOf(fund).map((accountID) => ({ accountID, investmentID, amount: 1 }))
    const mixed = [bodies[0]!, { ...bodies[1]!, investmentID: other.investmentID }]
    const answer = await post('Deposit', mixed)
    assert.equal(answer.result, false)
    assert.deepEqual(fieldsOf(answer), ['[1].investmentID'])
    assert.equal((await heldIn(fund)).length, 1)
  })
})
