import type { Files } from '../../platform/files/files.ts'
import {
  arrayOf,
  downloading,
  type Endpoint,
  nothing,
  reading,
  writing,
} from '../../platform/http/endpoint.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { createReport } from './create.ts'
import {
  Delivery,
  DeliveryQuery,
  Report,
  ReportFile,
  ReportFileQuery,
  ReportInput,
  ReportKey,
  ReportQuery,
  ReportSend,
  ReportSent,
} from './schema.ts'
import { type MailSettings, readDeliveries, sendReport } from './send.ts'
import { deleteReport, downloadReport, readReports, readStatus } from './sql.ts'

const change = { access: 'Report.Write', resource: 'Report' } as const

export const reportEndpoints = (
  database: Database,
  files: Files,
  mail: MailSettings,
): Endpoint[] => [
  ...ordering,
  ...sending(mail),
  downloading({
    operation: 'GET /Report/File',
    access: 'Report.Read',
    summary: 'Download a completed report.',
    query: ReportFileQuery,
    data: ReportFile,
    download: ({ query, actor }) => downloadReport(database, files, actor, query),
  }),
]

const ordering: Endpoint[] = [
  writing({
    operation: 'POST /Report',
    ...change,
    summary: 'Order a report. It is made in the background.',
    description: `Register of members, Holdings, Top holders, Holding ranges and Unclaimed money
show the state as at \`date\` (default: today). Transactions, Payment reconciliation, Withholding
summary and Units on issue cover the period from \`fromDate\` to \`toDate\`. Distribution and
Distribution statement need the distribution. Holding statement, Distribution statement, Annual tax
statement (for the financial year that contains \`date\`) and Transaction confirmation are letters:
they need the entity or the account, or \`format\` zip for the letters to all holders. Also needs
the permissions to read the data that the report contains.`,
    body: ReportInput,
    data: Report,
    write: ({ body, actor }, tx) => createReport(tx, actor, body),
  }),
  reading({
    operation: 'GET /Report',
    access: 'Report.Read',
    summary: 'List reports.',
    query: ReportQuery,
    data: arrayOf(Report),
    read: ({ query, actor }, handle) => readReports(handle, actor, query),
  }),
  reading({
    operation: 'GET /Report/Status',
    name: 'getReportStatus',
    access: 'Report.Read',
    summary: 'Read the status and progress of reports.',
    query: ReportKey,
    data: Report,
    read: ({ query, actor }, handle) => readStatus(handle, actor, query),
  }),
  writing({
    operation: 'DELETE /Report',
    ...change,
    summary: 'Delete a report and its file. A report that is still being made is stopped.',
    query: ReportKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteReport(tx, actor, query),
  }),
]

const sending = (mail: MailSettings): Endpoint[] => [
  writing({
    operation: 'POST /Report/Send',
    name: 'sendReport',
    event: null,
    ...change,
    summary: 'E-mail the statements in a zip report to their holders. Each is sent once.',
    body: ReportSend,
    data: ReportSent,
    write: ({ body, actor }, tx) => sendReport(tx, actor, mail, body),
  }),
  reading({
    operation: 'GET /Report/Delivery',
    access: 'Report.Read',
    summary: 'List the delivery of each statement in a zip report.',
    query: DeliveryQuery,
    data: arrayOf(Delivery),
    read: ({ query, actor }, handle) => readDeliveries(handle, actor, query),
  }),
]
