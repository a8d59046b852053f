import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { lookups } from '../../src/platform/lookup/lookups.ts'
import { configure, fundOf, stage } from '../support/distribution.ts'
import { dayIn, type Fund } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let fund: Fund
let corporateActionID: number
let stopWorker: () => Promise<void>
before(async () => {
  service = await startService(folder)
  fund = await fundOf(service, [100])
  const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
  await stage(service.admin, 'Declare', distribution)
  corporateActionID = distribution.corporateActionID
  stopWorker = await workFor(service, folder)
})
after(async () => {
  await stopWorker()
  await service.stop()
})

const { Complete } = lookups.ReportStatus
const then = '2020-01-01T00:00:00Z'
const notYet = (what: string) =>
  `The ${what} was not known yet at knownAt: order the report with a later one.`
const nothing = 'No account has anything to report in such a statement.'
/** What a kind of report says instead of a table without rows, and what it has to be ordered of. */
const refusals: Record<number, string> = {
  [lookups.ReportType.Distribution]: notYet('distribution'),
  [lookups.ReportType['Distribution statement']]: notYet('distribution'),
  [lookups.ReportType['Holding statement']]: notYet('investor'),
  [lookups.ReportType['Annual tax statement']]: nothing,
  [lookups.ReportType['Transaction confirmation']]: nothing,
}
const ofDistribution: string[] = ['Distribution', 'Distribution statement']

it('A report as of before there was what it is about is made, or refused in words', async () => {
  for (const [name, reportTypeID] of Object.entries(lookups.ReportType)) {
    const { reportStatusID, errorMessage } = await order(service.admin, {
      ...{ reportTypeID, productID: fund.productID, date: dayIn(), knownAt: then },
      ...(ofDistribution.includes(name) && { corporateActionID }),
      ...(reportTypeID in refusals && { accountID: fund.accountID }),
    })
    const refusal = refusals[reportTypeID]
    if (refusal === undefined) assert.equal(reportStatusID, Complete, `${name}: ${errorMessage}`)
    else assert.equal(errorMessage, refusal, name)
  }
})
