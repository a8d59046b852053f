import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { choose, configure, fundOf, keyOf, stage } from '../support/distribution.ts'
import { assertVerified, only } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, taxingFund, unquoted } from '../support/withholding.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

/** Does something while a rule holds the operation back for amounts from 1000 on. */
async function held(operation: string, deed: () => Promise<void>) {
  const rule = only(await service.admin.post('/ApprovalRule', { operation, minimumAmount: 1000 }))
  try {
    await deed()
  } finally {
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  }
}

describe('A rule from an amount on', () => {
  /** A fund of one account that reinvests a percentage, with a distribution of 1 a unit. */
  async function reinvesting(units: number, percentage: number) {
    const fund = await fundOf(service, [units], { investments: [{}, {}] })
    await choose(service, fund.accountID, 3, percentage)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 1 }
    return configure(service, fund, { distributionAmountPerUnit: 1, ...drp })
  }

  it('holds back a payment of that much, also where it is all reinvested or all tax', async () => {
    const fund = await taxingFund(service)
    const withholdingOverride = { percentage: 100, reason: 'Ruling 7' }
    await investor(service, fund, [unquoted], { units: 1000, account: { withholdingOverride } })
    const taxed = await configure(service, fund, { distributionAmountPerUnit: 1 })
    const [reinvested, small] = [await reinvesting(1000, 100), await reinvesting(999, 100)]
    for (const one of [taxed, reinvested, small]) await stage(service.admin, 'Declare', one)
    await held('POST /Distribution/Payment', async () => {
      const pay = (one: typeof small) => service.admin.post('/Distribution/Payment', keyOf(one))
      for (const [one, withheld] of [
        [taxed, '1000'],
        [reinvested, '0'],
      ] as const) {
        const reply = await pay(one)
        assert.equal(reply.status, 202, reply.text)
        const { changes } = reply.data
        const told = [changes.total, changes.withheld, changes.grossAmount]
        assert.deepEqual(told, ['0', withheld, '1000'])
      }
      assert.equal((await pay(small)).status, 200)
    })
  })

  it('holds back what takes a distribution of that much back, stage by stage', async () => {
    const [large, small] = [await reinvesting(2000, 50), await reinvesting(1999, 50)]
    for (const one of [large, small])
      for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
        await stage(service.admin, name, one)
    const other = await service.userWith({ role: 'Administrator' })
    await held('POST /Distribution/Reverse', async () => {
      for (const [fromStatusID, total, ofSmall] of [
        [4, '1000', undefined],
        [3, '2000', '1999'],
        [2, '2000', '1999'],
      ] as const)
        for (const [one, expected] of [
          [large, total],
          [small, ofSmall],
        ] as const) {
          const body = { ...keyOf(one), fromStatusID, reason: 'tried' }
          const reply = await service.admin.post('/Distribution/Reverse', body)
          assert.equal(reply.status, expected ? 202 : 200, reply.text)
          if (!expected) continue
          assert.equal(reply.data.changes.total, expected)
          only(await other.post('/Approval/Approve', { approvalID: reply.data.approvalID }))
        }
    })
  })

  it('counts what is left of reinvestments and goes out, or back, with all the rest', async () => {
    const fund = await fundOf(service, [600, 600], { investments: [{}, { unitDecimals: 0 }] })
    for (const { accountID } of fund.accounts) await choose(service, accountID, 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentIDs[1], drpPrice: 5000 }
    const first = await configure(service, fund, { distributionAmountPerUnit: 1, ...drp })
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, first)
    for (const { accountID } of fund.accounts) await choose(service, accountID, 1)
    const next = await configure(service, fund, { distributionAmountPerUnit: 0.1 })
    await stage(service.admin, 'Declare', next)
    const other = await service.userWith({ role: 'Administrator' })
    const waits = async (operation: string, body: object) => {
      const reply = await service.admin.post(operation.slice(5), body)
      assert.equal(reply.status, 202, reply.text)
      return reply.data
    }
    // Neither of the two comes to as much by itself.
    const { productID, investmentID } = fund
    const alone = 'POST /Distribution/PayResiduals'
    await held(alone, async () => {
      const body = { productID, investmentID, date: '2025-07-15' }
      assert.equal((await waits(alone, body)).changes.total, '1200')
    })
    for (const [operation, more] of [
      ['POST /Distribution/Payment', {}],
      ['POST /Distribution/Reverse', { fromStatusID: 3, reason: 'tried' }],
    ] as const)
      await held(operation, async () => {
        const { approvalID, changes } = await waits(operation, { ...keyOf(next), ...more })
        const { total, residualAmount } = changes
        assert.deepEqual([total, residualAmount], ['120', '1200'])
        only(await other.post('/Approval/Approve', { approvalID }))
      })
  })
})
