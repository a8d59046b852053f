import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  account,
  allot,
  configure,
  type Distribution,
  fundOf,
  keyOf,
  stage,
} from '../support/distribution.ts'
import type { Fund } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

type Compared = { accountID: number; grossAmount: number; lastGrossAmount: number }

describe('Previewing a distribution beside the one before', () => {
  let service: Service
  let fund: Fund
  before(async () => {
    service = await startService()
    fund = await fundOf(service, [100, 200, 300, 0])
  })
  after(() => service.stop())

  const previewed = async (
    distribution: Distribution,
    more: object = { compareWithLast: true },
  ) => {
    const reply = await service.admin.post('/Distribution/Preview', {
      ...keyOf(distribution),
      ...more,
    })
    assert.equal(reply.status, 200, reply.text)
    return reply.data
  }
  const shares = (...names: [string, number][]) =>
    names.map(([taxComponentName, percentage]) => ({ taxComponentName, percentage }))
  const amounts = (rows: Compared[]) =>
    rows.map((row) => [row.accountID, row.lastGrossAmount, row.grossAmount])

  it('tells who joined, who left, what differs, and the totals of both', async () => {
    const first = await configure(service, fund, {
      name: 'March',
      recordDate: '2025-03-31',
      paymentDate: '2025-04-15',
      distributionAmountPerUnit: 0.1,
      taxComponents: shares(['CapitalGains', 40], ['ForeignIncome', 60]),
    })
    assert.equal((await previewed(first)).sinceLast, null)
    await stage(service.admin, 'Declare', first)
    const buys = [{ accountID: account(fund, 3), quantity: 50 }]
    await allot(service, fund, buys, '2025-04-01')
    await allot(service, fund, [{ accountID: account(fund, 1), quantity: 300 }], '2025-04-01')
    const left = await service.admin.post('/BizTransaction/Redemption', {
      accountID: account(fund, 0),
      investmentID: fund.investmentID,
      transactionDate: '2025-05-01',
      quantity: 100,
      unitPrice: 1,
    })
    assert.equal(left.status, 200, left.text)
    const second = await configure(service, fund, {
      distributionAmountPerUnit: 0.1,
      taxComponents: shares(['capitalgains', 50], ['Interest', 50]),
    })
    const { sinceLast, grossAmount, taxComponents } = await previewed(second)
    assert.equal(grossAmount, 85)
    assert.deepEqual(taxComponents, [
      { taxComponentName: 'capitalgains', amount: 42.5 },
      { taxComponentName: 'Interest', amount: 42.5 },
    ])
    const { joined, left: gone, changed, components, ...totals } = sinceLast
    assert.deepEqual(totals, {
      corporateActionID: first.corporateActionID,
      name: 'March',
      recordDate: '2025-03-31',
      accountCount: 3,
      units: 600,
      grossAmount: 60,
      taxAmount: 0,
      drpAmount: 0,
      cashAmount: 60,
      joinedCount: 1,
      leftCount: 1,
      changedCount: 1,
    })
    assert.deepEqual(components, [
      { taxComponentName: 'capitalgains', amount: 42.5, lastAmount: 24 },
      { taxComponentName: 'Interest', amount: 42.5, lastAmount: 0 },
      { taxComponentName: 'ForeignIncome', amount: 0, lastAmount: 36 },
    ])
    assert.deepEqual(amounts(joined), [[account(fund, 3), 0, 5]])
    assert.deepEqual(amounts(gone), [[account(fund, 0), 10, 0]])
    assert.deepEqual(amounts(changed), [[account(fund, 1), 20, 50]])
    assert.equal(changed[0].difference, 30)
  })

  it('adds up a component that is given in parts', async () => {
    const own = await fundOf(service, [100])
    const parts = shares(['CapitalGains', 50], ['Interest', 20], ['capitalgains', 30])
    const of = (recordDate: string, taxComponents: object[]) =>
      configure(service, own, {
        recordDate,
        paymentDate: '2025-09-15',
        distributionAmountPerUnit: 1,
        taxComponents,
      })
    await stage(service.admin, 'Declare', await of('2025-03-31', parts))
    const rest = shares(['Interest', 90], ['CapitalGains', 4], ['CapitalGains', 6])
    const { sinceLast } = await previewed(await of('2025-08-31', rest))
    assert.deepEqual(sinceLast.components, [
      { taxComponentName: 'Interest', amount: 90, lastAmount: 20 },
      { taxComponentName: 'CapitalGains', amount: 10, lastAmount: 80 },
    ])
  })

  it('compares with nothing unless it is asked to, nor with what is not declared', async () => {
    const later = await configure(service, fund, {
      recordDate: '2025-09-30',
      paymentDate: '2025-10-15',
      distributionAmountPerUnit: 0.1,
    })
    assert.equal((await previewed(later, {})).sinceLast, null)
    const { sinceLast } = await previewed(later)
    assert.equal(sinceLast.recordDate, '2025-03-31') // June's is configured only
  })
})
