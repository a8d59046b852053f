import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { migrate, migrationsFolder } from '../../src/platform/sql/migrate.ts'
import { emptyDatabase } from '../support/database.ts'
import { configure, keyOf, stage } from '../support/distribution.ts'
import { only } from '../support/ledger.ts'
import { payBefore } from '../support/paid-before.ts'
import { temporaryFolder } from '../support/process.ts'
import { pagesOf } from '../support/readers.ts'
import { fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, quoted, taxingFund } from '../support/withholding.ts'

let service: Service
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
before(async () => {
  service = await startService(env)
  stopWorker = await workFor(service, env)
})
after(async () => {
  await stopWorker()
  await service.stop()
})

const textOf = async (body: object) =>
  (await pagesOf(await fileOf(service.admin, { format: 'pdf', ...body }))).join('\n')

const franked = 'AustralianFrankedDividends'
const taxComponents = [
  { taxComponentName: franked, percentage: 60 },
  { taxComponentName: 'Bonus', percentage: 40 },
]
const told = [{ taxComponentName: 'Bonus', incomeKind: 'UnfrankedDividend' }]
const otherwise = [
  { taxComponentName: franked, incomeKind: 'UnfrankedDividend' },
  { taxComponentName: 'Bonus', incomeKind: 'FrankedDividend' },
]

/** One investor with 1000 units, and a paid distribution of 1 a unit. */
async function paidFund(product: object) {
  const fund = await taxingFund(service, product)
  const { accountID } = await investor(service, fund, [quoted])
  const pay = async () => {
    const how = { distributionAmountPerUnit: 1, taxComponents }
    const distribution = await configure(service, fund, how)
    await stage(service.admin, 'Declare', { ...distribution, confirmSecond: true })
    await stage(service.admin, 'Payment', distribution)
    return distribution
  }
  const change = async (fields: object) => {
    const stored = only(await service.admin.get(`/Product?ProductID=${fund.productID}`))
    only(await service.admin.put('/Product', { ...stored, ...fields }))
  }
  const year = () =>
    textOf({ reportTypeID: 9, productID: fund.productID, accountID, date: '2025-09-30' })
  const slip = (distribution: { productID: number; corporateActionID: number }) =>
    textOf({ reportTypeID: 8, ...keyOf(distribution), accountID })
  return { pay, change, year, slip }
}

describe('What components are for tax', () => {
  it('is told of a distribution as it was when paid, and so is the company tax', async () => {
    const { pay, change, year, slip } = await paidFund({ taxComponentKinds: told })
    const first = await pay()
    const before = [await year(), await slip(first)]
    for (const text of before) assert.match(text, /Franked Dividends (AUD )?600\.00 257\.14/)
    await change({ taxComponentKinds: otherwise, companyTaxPercentage: 25 })
    assert.deepEqual([await year(), await slip(first)], before)

    // One that is paid now goes by what is said now, and the year tells the two apart.
    const second = await pay()
    assert.match(await slip(second), /Bonus 400\.00 133\.33/)
    const both = await year()
    assert.match(both, /Franked Dividends AUD 600\.00 257\.14/)
    assert.match(both, /Franked Dividends AUD 600\.00 0\.00/)
    assert.match(both, /Bonus AUD 400\.00 133\.33/)

    // Taken back and paid anew it is as said on that day.
    const reversal = { ...keyOf(first), fromStatusID: 3, reason: 'other kinds' }
    only(await service.admin.post('/Distribution/Reverse', reversal))
    assert.match(await slip(first), /Bonus 400\.00 133\.33/)
    await stage(service.admin, 'Payment', first)
    assert.match(await year(), /Bonus AUD 800\.00 266\.66/)
  })

  it('can be told later where nobody had told it at payment', async () => {
    const { pay, change, slip } = await paidFund({ withholding: false })
    const distribution = await pay()
    assert.match(await slip(distribution), /Bonus 400\.00(?! 171)/)
    await change({ taxComponentKinds: [otherwise[1]] })
    assert.match(await slip(distribution), /Bonus 400\.00 171\.43/)
  })

  it('is what the product says at the upgrade, for what was paid before it was kept', async () => {
    const connection = await emptyDatabase()
    await migrate(connection, migrationsFolder, '0067-senders-of-statements.sql')
    const kept = await payBefore(connection)
    await migrate(connection)
    await kept()
  })
})
