import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { getBytes } from '../support/files.ts'
import { entityOf } from '../support/investors.ts'
import { dayIn, type Fund, newFund, only, poster } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let fund: Fund
let stopWorker: () => Promise<void>
before(async () => {
  service = await startService(folder)
  fund = await newFund(service)
  stopWorker = await workFor(service, folder)
})
after(async () => {
  await stopWorker()
  await service.stop()
})
const post = poster(() => service.admin)

/** The content of a report, and the moment whose knowledge it shows. */
async function told(reportTypeID: number, knownAt?: string) {
  const about = { reportTypeID, productID: fund.productID, format: 'csv', date: dayIn() }
  const { reportID, errorMessage } = await order(service.admin, { ...about, knownAt })
  const report = only(await service.admin.get(`/Report?ReportID=${reportID}`))
  assert.equal(report.reportStatusID, 3, errorMessage)
  const { bytes } = await getBytes(service.admin, `/Report/File?ReportID=${reportID}`)
  return { knownAt: report.knownAt as string, said: bytes.toString() }
}

describe('A report of what was known', () => {
  it('names the parties of then, also those who are deleted since', async () => {
    const street = { addressLine: '1 Former Street', addressTypeID: 8 }
    const former = { firstName: 'Ann', lastName: 'Former', addresses: [street] }
    const company = { name: 'Gone Trustees Pty Ltd', addresses: [street] }
    const bizEntityParties = [{ person: former }, { organisation: company }]
    const body = entityOf(fund.productID, { name: 'Ann', bizEntityParties })
    const entity = only(await service.admin.post('/BizEntity', body))
    const { accountID } = entity.accounts[0]
    const { investmentID } = fund
    only(await post('Deposit', { accountID, investmentID, amount: 100 }))
    const before = { register: await told(1), quality: await told(13) }
    assert.match(before.register.said, /Former/)
    const later = [{ person: { firstName: 'Bea', lastName: 'Later' } }]
    only(await service.admin.put('/BizEntity', { ...entity, bizEntityParties: later }))
    const [{ personID }, { organisationID }] = entity.bizEntityParties
    for (const path of [
      `Person?PersonID=${personID}`,
      `Organisation?OrganisationID=${organisationID}`,
    ])
      assert.equal((await service.admin.delete(`/${path}`)).status, 200)
    assert.equal((await told(1, before.register.knownAt)).said, before.register.said)
    assert.equal((await told(13, before.quality.knownAt)).said, before.quality.said)
    assert.doesNotMatch((await told(1)).said, /Former/)
  })

  it('has the investors of then with all they had, also those who are deleted since', async () => {
    const bank = {
      bsb: '062-000',
      accountNumber: '12345678',
      accountName: 'G',
      isForDistribution: true,
    }
    const body = entityOf(fund.productID, { name: 'Gone Investor', paymentDetails: [bank] })
    const { bizEntityID } = only(await service.admin.post('/BizEntity', body))
    const before = await told(13)
    assert.match(before.said, /Gone Investor/)
    const gone = await service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    assert.equal(gone.status, 200, gone.text)
    assert.equal((await told(13, before.knownAt)).said, before.said)
    assert.doesNotMatch((await told(13)).said, /Gone Investor/)
  })
})
