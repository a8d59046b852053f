import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'
import type { Data } from '../support/world.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)
const notice = (kind: string, body: object) =>
  service.admin.post(`/BizEvent/NoticeOf${kind}`, { transactionDate: '2026-01-10', ...body })
const eventOf = async (bizEventID: number) =>
  only(await service.admin.get(`/BizEvent?BizEventID=${bizEventID}`))

/** A fund with a holding of 47.619 units, which are worth 90.48 at 1.9 (90.4761). */
async function worth(investments: object[] = [{}]) {
  const fund = await newFund(service, { price: 1.9, investments })
  const own = { accountID: fund.accountID, investmentID: fund.investmentID }
  only(await post('Allotment', { ...own, quantity: 47.619 }))
  return { ...fund, own }
}

describe('A notice', () => {
  it('of a redemption for all that a holding is worth takes all its units', async () => {
    const { own } = await worth()
    refused(await post('Redemption', { ...own, amount: 90.49 }), 409, 'insufficient_holding')
    const { bizEventID } = only(await notice('Redemption', { ...own, amount: 90.48 }))
    const settled = only(await post('Redemption', { bizEventID }))
    assert.deepEqual([settled.quantity, settled.amount], [-47.619, -90.48])
    assert.equal((await eventOf(bizEventID)).bizEventStatusID, 2)
  })

  it('of a conversion of all that a holding is worth takes all its units', async () => {
    for (const [how, gets] of [
      [{ conversionMethod: 'Price' }, 47.62],
      [{ conversionFactor: 3 }, 142.86],
    ] as const) {
      const fund = await worth([{}, { unitDecimals: 2 }])
      const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
      const both = { accountID: fund.accountID, fromInvestmentID, toInvestmentID, ...how }
      refused(await post('Conversion', { ...both, amount: 90.49 }), 409, 'insufficient_holding')
      const events = all(await notice('Conversion', { ...both, amount: 90.48 }))
      const [{ bizEventID }, target] = events
      const legs = all(await post('Conversion', { bizEventID }))
      const figures = legs.map((leg: Data) => [leg.quantity, leg.amount])
      assert.deepEqual(figures, [
        [-47.619, -90.48],
        [gets, 90.48],
      ])
      for (const id of [bizEventID, target.bizEventID])
        assert.equal((await eventOf(id)).bizEventStatusID, 2)
    }
  })
})
