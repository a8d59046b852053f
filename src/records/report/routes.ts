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
    summary: 'Download a report that is complete.',
    query: ReportFileQuery,
    data: ReportFile,
    download: ({ query, actor }) => downloadReport(database, files, actor, query),
  }),
]

const ordering: Endpoint[] = [
  writing({
    operation: 'POST /Report',
    ...change,
    summary: 'Order a report; it is made in the background.',
    description: `Register of members, Holdings, Top holders and Holding ranges are as at \`date\`
(today), as Unclaimed money is; Transactions is about \`fromDate\` to \`toDate\`, as Payment
reconciliation, Withholding summary and Units on issue are. Distribution and Distribution statement
need the distribution. Holding statement, Distribution statement, Annual tax statement (of the
financial year that \`date\` is in) and Transaction confirmation need the entity or the account,
and are letters; with \`format\` zip they come for everybody. The permissions to read what the
report is made of are needed as well.`,
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
    summary: 'See how far a report is.',
    query: ReportKey,
    data: Report,
    read: ({ query, actor }, handle) => readStatus(handle, actor, query),
  }),
  writing({
    operation: 'DELETE /Report',
    ...change,
    summary: 'Delete a report with its file; one that is being made is stopped.',
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
    summary: 'E-mail the statements of a zip to their holders, each once.',
    body: ReportSend,
    data: ReportSent,
    write: ({ body, actor }, tx) => sendReport(tx, actor, mail, body),
  }),
  reading({
    operation: 'GET /Report/Delivery',
    access: 'Report.Read',
    summary: 'What became of each statement of a zip.',
    query: DeliveryQuery,
    data: arrayOf(Delivery),
    read: ({ query, actor }, handle) => readDeliveries(handle, actor, query),
  }),
]
