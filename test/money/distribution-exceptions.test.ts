import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { waitingForLocks } from '../support/database.ts'
import {
  account,
  allot,
  choose,
  configure,
  type Distribution,
  fundOf,
  stage,
} from '../support/distribution.ts'
import { imported, importFor, transactionFile } from '../support/imports.ts'
import { all, assertVerified, only, poster } from '../support/ledger.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

const env = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let stopImports: () => Promise<void>
before(async () => {
  service = await startService(env)
  stopImports = await importFor(service, env)
})
after(async () => {
  await assertVerified(service)
  await stopImports()
  await service.stop()
})

const exceptionsOf = ({ productID, corporateActionID }: Distribution) =>
  service.admin.get(
    `/Distribution/Exceptions?ProductID=${productID}&CorporateActionID=${corporateActionID}`,
  )

describe('GET /Distribution/Exceptions', () => {
  it('shows what a back-dated change has overtaken, with both figures', async () => {
    const fund = await fundOf(service, [100, 200])
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    await stage(service.admin, 'Declare', distribution)
    assert.deepEqual(all(await exceptionsOf(distribution)), [])
    await allot(service, fund, [{ accountID: account(fund, 1), quantity: 5 }], '2025-06-30')
    await allot(service, fund, [{ accountID: account(fund, 0), quantity: 5 }], '2025-07-01')
    const found = only(await exceptionsOf(distribution))
    assert.deepEqual(
      [found.accountID, found.entitledUnits, found.heldUnits, found.grossAmount],
      [account(fund, 1), 200, 205, 200],
    )
  })

  it('does not count the units that its own allotment gave on the record date', async () => {
    const fund = await fundOf(service, [100, 200])
    for (const i of [0, 1]) await choose(service, account(fund, i), 2)
    const day = '2025-06-30'
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID, drpPrice: 2 }
    const how = { distributionAmountPerUnit: 1, drpAllotmentDate: day, ...drp }
    const distribution = await configure(service, fund, how)
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    assert.deepEqual(all(await exceptionsOf(distribution)), [])
    await allot(service, fund, [{ accountID: account(fund, 1), quantity: 5 }], day)
    const found = only(await exceptionsOf(distribution))
    const told = [found.accountID, found.entitledUnits, found.heldUnits]
    assert.deepEqual(told, [account(fund, 1), 200, 205])
  })

  it('shows who would have been entitled by what was posted later', async () => {
    const fund = await fundOf(service, [100, 0])
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    await stage(service.admin, 'Declare', distribution)
    await allot(service, fund, [{ accountID: account(fund, 1), quantity: 5 }], '2025-06-30')
    const found = only(await exceptionsOf(distribution))
    assert.deepEqual(
      [found.accountID, found.entitledUnits, found.heldUnits, found.grossAmount],
      [account(fund, 1), 0, 5, 0],
    )
  })

  for (const mode of ['atomic', 'continue'])
    it(`shows whom an import brings that began before and ended after: ${mode}`, async () => {
      const fund = await fundOf(service, [100, 0])
      const late = account(fund, 1)
      await allot(service, fund, [{ accountID: late, quantity: 5 }], '2025-07-20')
      const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
      const holder = new pg.Client(service.connection)
      await holder.connect()
      await holder.query('begin')
      const row = 'select from ledger_account where product_id = $1 and account_id = $2 for update'
      await holder.query(row, [fund.productID, late])
      const terms = { type: 'Transactions', format: 'csv', mode }
      const file = transactionFile(['Allotment', late, fund.investmentID, '2025-06-30', 7, 7])
      const ended = imported(service.admin, terms, file)
      await until('it waits', async () => (await waitingForLocks(service.connection)) > 0)
      await stage(service.admin, 'Declare', distribution)
      await holder.end()
      assert.equal((await ended).status, 'Completed')
      const found = only(await exceptionsOf(distribution))
      assert.deepEqual([found.accountID, found.heldUnits], [late, 7])
    })

  it('shows who would have been by a redemption taken back or moved since', async () => {
    const fund = await fundOf(service, [100, 200, 300, 400])
    const out = [100, 200].map((quantity, i) => ({ accountID: account(fund, i), quantity }))
    const day = {
      investmentID: fund.investmentID,
      investmentPrice: 1,
      transactionDate: '2025-06-01',
    }
    const post = poster(
      () => service.admin,
      () => day,
    )
    const [taken, moved] = all(await post('Redemption', out))
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    const lists = { excludeAccounts: [{ accountID: account(fund, 3) }] }
    await stage(service.admin, 'Declare', distribution, lists)
    const rollBack = (one: Record<string, unknown>) =>
      service.admin.put('/BizTransaction/Rollback', { bizTransactionID: one.bizTransactionID })
    only(await rollBack(taken!))
    const later = { bizTransactionID: moved!.bizTransactionID, transactionDate: '2025-07-15' }
    only(await service.admin.put('/BizTransaction', later))
    const left = [{ accountID: account(fund, 3), quantity: 5 }]
    await allot(service, fund, left, '2025-07-20')
    const [mistake] = await allot(service, fund, left, '2025-06-20')
    only(await rollBack(mistake!))
    assert.deepEqual(
      all(await exceptionsOf(distribution)).map((row: Record<string, unknown>) => [
        row.accountID,
        row.heldUnits,
      ]),
      [
        [account(fund, 0), 100],
        [account(fund, 1), 200],
      ],
    )
  })

  it('goes by the days of a period where the distribution does', async () => {
    const fund = await fundOf(service, [100, 100, 100, 0, 0])
    const out = { accountID: account(fund, 1), quantity: 40, investmentPrice: 1 }
    const post = poster(
      () => service.admin,
      () => ({ investmentID: fund.investmentID }),
    )
    const sold = only(await post('Redemption', { ...out, transactionDate: '2025-06-11' }))
    const period = { proRataStartDate: '2025-06-01', proRataEndDate: '2025-06-20' }
    const how = { centsPerUnitPerDay: 1, ...period }
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID, drpPrice: 1 }
    await choose(service, account(fund, 2), 2)
    const distribution = await configure(service, fund, { ...how, ...drp })
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    assert.deepEqual(all(await exceptionsOf(distribution)), [])
    // Sold a day earlier: as many at the record date, and fewer on the days before.
    const { bizTransactionID } = sold
    only(
      await service.admin.put('/BizTransaction', {
        bizTransactionID,
        transactionDate: '2025-06-10',
      }),
    )
    // In and out again within the period earns; what comes after it does not.
    const late = { accountID: account(fund, 3), quantity: 10 }
    await allot(service, fund, [late], '2025-06-05')
    only(await post('Redemption', { ...out, ...late, transactionDate: '2025-06-07' }))
    await allot(service, fund, [{ accountID: account(fund, 4), quantity: 10 }], '2025-06-25')
    const shown = all(await exceptionsOf(distribution)).map((row: Record<string, unknown>) => [
      row.accountID,
      row.entitledUnits,
      row.heldUnits,
      row.entitledUnitDays,
      row.heldUnitDays,
    ])
    assert.deepEqual(shown, [
      [account(fund, 1), 60, 60, 1600, 1560],
      [account(fund, 3), 0, 0, 0, 20],
    ])
  })

  it('does not count the days of the units that its own allotment gave', async () => {
    const fund = await fundOf(service, [100])
    await choose(service, account(fund, 0), 2)
    const period = { proRataStartDate: '2025-06-21', proRataEndDate: '2025-07-20' }
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID, drpPrice: 1 }
    const how = { distributionAmountTotal: 100, ...period, drpAllotmentDate: '2025-07-16', ...drp }
    const distribution = await configure(service, fund, how)
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    assert.deepEqual(all(await exceptionsOf(distribution)), [])
  })
})
