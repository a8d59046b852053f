import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { imported, importFor, lines } from './support/imports.ts'
import { type Fund, newFund, only } from './support/ledger.ts'
import { runBody } from './support/payment-run.ts'
import { temporaryFolder } from './support/process.ts'
import { fieldsOf, refused } from './support/refused.ts'
import { type Service, startService } from './support/service.ts'

let service: Service
let stop: () => Promise<void>
let fund: Fund
before(async () => {
  const env = { REGISTRY_DATA_DIR: temporaryFolder() }
  service = await startService(env)
  stop = await importFor(service, env)
  fund = await newFund(service)
})
after(async () => {
  await stop()
  await service.stop()
})

const early = '0026-06-30'

describe('A day before 1900', () => {
  const isRefused = async (
    verb: 'post' | 'put',
    path: string,
    body: object,
    ...fields: string[]
  ) => {
    const reply = await service.admin[verb](path, body)
    refused(reply, 400, 'out_of_range')
    assert.deepEqual(fieldsOf(reply), fields)
    assert.match(reply.message!, /is before 1900-01-01\.$/)
  }

  it('is no day of a price, sent or imported', async () => {
    const { investmentID } = fund
    const price = { investmentID, priceDate: early, price: 1 }
    await isRefused('post', '/Investment/Price', [price], '[0].priceDate')
    await isRefused('put', '/Investment/Price', price, 'priceDate')
    const file = lines(['investmentID', 'priceDate', 'price'], [investmentID, early, 1])
    const end = await imported(service.admin, { type: 'Prices', mode: 'continue' }, file)
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [0, 1])
  })

  it('is no day of a hold', async () => {
    const { accountID } = fund
    const hold = { accountID, all: true, reason: 'Court order' }
    const days = { validFrom: early, validTo: early }
    await isRefused('post', '/Hold', { ...hold, ...days }, 'validFrom', 'validTo')
    const { holdID } = only(await service.admin.post('/Hold', hold))
    await isRefused('put', '/Hold', { holdID, ...days }, 'validFrom', 'validTo')
  })

  it('is no day up to which a product is locked', async () => {
    const { productID } = fund
    const reply = await service.admin.get(`/Product?ProductID=${productID}`)
    await isRefused('put', '/Product', { ...only(reply), lockedDate: early }, 'lockedDate')
  })

  it('is no day of a distribution, of what is left of one, or of a payment run', async () => {
    const { productID, investmentID } = fund
    const own = { productID, investmentID }
    const period = { accrualDate: early, proRataStartDate: early, proRataEndDate: early }
    const taxComponents = [{ taxComponentName: 'CapitalGains', percentage: 100 }]
    const body = { ...own, ...period, centsPerUnitPerDay: 1, taxComponents }
    await isRefused('post', '/Distribution', body, ...Object.keys(period))
    await isRefused('post', '/Distribution/PayResiduals', { ...own, date: early }, 'date')
    const run = runBody(fund, { upToDate: early, processingDate: early })
    await isRefused('post', '/PaymentRun', run, 'upToDate', 'processingDate')
  })
})

describe('A birth', () => {
  it('may be before 1900, and not before 1800', async () => {
    const born = (dateOfBirth: string) =>
      service.admin.post('/Person', { firstName: 'Ada', lastName: 'King', dateOfBirth })
    assert.equal(only(await born('1899-12-31')).dateOfBirth, '1899-12-31')
    const reply = await born('0080-02-01')
    refused(reply, 400, 'out_of_range')
    assert.equal(reply.message, 'dateOfBirth is before 1800-01-01.')
  })
})
