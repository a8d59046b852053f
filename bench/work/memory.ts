import { ask, call, type Result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'

const limit = 150

/** The peak memory of the service in this run, against what it held before the first workload. */
export const memory: Workload = async ({ service, idle, size }) => {
  await everyPaymentDetail(service)
  await largestReport(service)
  const mebibytes = (bytes: number) => bytes / 2 ** 20
  const [subject, against] = [mebibytes(service.memory().peak), mebibytes(idle)]
  const rows = size.entities.toLocaleString('en')
  const row: Result = {
    number: '9',
    work: `peak memory of this run, with GET /PaymentDetail of ${rows} records and a report`,
    baseline: 'idle memory',
    subject,
    against,
    unit: 'MiB',
    ratio: subject - against,
    reach: `at most ${limit} MiB more`,
    reached: subject - against <= limit,
  }
  return [row]
}

/** Reads all payment details without keeping them, like a client that writes them to a file. */
async function everyPaymentDetail(service: Service) {
  const answer = await ask(`${service.url}/PaymentDetail`, {
    headers: { Version: '2.0', Authorization: service.token },
  })
  if (!answer.ok) throw new Error(`GET /PaymentDetail was answered ${answer.status}.`)
  for await (const _chunk of answer.body!);
}

/** Makes the report of everybody who holds class 1, as CSV. */
async function largestReport(service: Service) {
  const wanted = { reportTypeID: 1, productID: 1, format: 'csv' }
  const { data } = await call(service, 'POST', '/Report', JSON.stringify(wanted))
  const [{ reportID }] = [data()].flat() as [{ reportID: number }]
  for (;;) {
    const read = await call(service, 'GET', `/Report?ReportID=${reportID}`)
    const [{ reportStatusID, errorMessage }] = read.data() as [
      { reportStatusID: number; errorMessage: string | null },
    ]
    if (reportStatusID === 3) return
    if (reportStatusID > 3) throw new Error(`The report failed: ${errorMessage}`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
