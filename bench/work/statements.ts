import { setTimeout as sleep } from 'node:timers/promises'
import { lookups } from '../../src/platform/lookup/lookups.ts'
import { median } from '../load.ts'
import { atLeast, type Bench, call, result, type Workload } from '../measure.ts'
import { paidDistribution } from './withholding.ts'

const wanted = 300
const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`

/** The zip of everybody's distribution statements, from the request to the end of the report. */
export const statements: Workload = async ({ service, size, rounds }: Bench) => {
  const corporateActionID = await paidDistribution(service)
  const before = service.memory().now
  const rates: number[] = []
  let most = 0
  for (let round = 0; round < (size.name === 'small' ? rounds : 1); round++) {
    const start = performance.now()
    const order = {
      ...{ reportTypeID: lookups.ReportType['Distribution statement'], format: 'zip' },
      ...{ productID: 1, corporateActionID },
    }
    const { reportID } = (await call(service, 'POST', '/Report', JSON.stringify(order))).data()
    const rows = await made(service, reportID, () => {
      most = Math.max(most, service.memory().now)
    })
    rates.push(rows / ((performance.now() - start) / 1000))
  }
  return [
    result(
      {
        number: '15',
        work: `statements of ${size.entities.toLocaleString('en')} accounts as a zip`,
        baseline: `${wanted} a second`,
        unit: 'a second',
        note: `the service held ${mebibytes(before)} before, ${mebibytes(most)} at most meanwhile`,
      },
      { subject: median(rates), against: wanted },
      atLeast(1),
    ),
  ]
}

async function made(service: Bench['service'], reportID: number, look: () => void) {
  for (;;) {
    await sleep(100)
    look()
    const seen = (await call(service, 'GET', `/Report/Status?ReportID=${reportID}`)).data()
    if (seen.reportStatusID === lookups.ReportStatus.Complete) return seen.rowCount as number
    if (seen.reportStatusID === lookups.ReportStatus.Failed) throw new Error(seen.errorMessage)
  }
}
