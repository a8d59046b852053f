import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { noSuch, reference } from '../../platform/sql/identify.ts'
import { pageBy, renderPage } from '../../platform/sql/paging.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { columns } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import type { Printed } from '../statement/index-file.ts'
import { isAlsoPrinted, wayOf } from '../statement/index-file.ts'
import { checkMayRead } from './kinds.ts'
import { outdatedBy, type Told, toldColumns } from './outdated.ts'
import { Delivery, type DeliveryQuery, type ReportSend } from './schema.ts'

const own = reference({ what: 'report', table: 'report', columns: ['report_id'] }, ['reportID'])

/** The mail server, if any, and the sender address for issuers without an address of their own. */
export type MailSettings = { smtpUrl: string | undefined; smtpFrom: string | undefined }

type Sendable = Told & {
  format: string
  statusID: number
  issuerEmail: string | null
}

/**
 * Queues the investor statements of a zip for e-mail; holders who want paper are listed for print.
 */
export async function sendReport(
  tx: Tx,
  actor: Actor,
  { smtpUrl, smtpFrom }: MailSettings,
  { reportID, again = false }: ReportSend,
): Promise<Written> {
  const [report] = await tx.query<Sendable>(sql`
    select ${toldColumns}, r.format, r.report_status_id as "statusID",
      p.issuer ->> 'email' as "issuerEmail"
    from report r join product p on p.product_id = r.product_id
    where r.report_id = ${reportID} and ${inScope(actor, 'r.product_id')} for update of r`)
  if (!report) throw noSuch(own, { reportID })
  checkMayRead(actor, report.typeID)
  if (report.format !== 'zip' || report.statusID !== lookups.ReportStatus.Complete)
    throw conflict('not_sendable', 'Only statements that are made as a zip can be sent.')
  if (!smtpUrl) throw conflict('no_smtp', 'No mail server is configured: set REGISTRY_SMTP_URL.')
  if (!(smtpFrom ?? report.issuerEmail)) throw noSender()
  const outdated = await outdatedBy(tx, report)
  if (outdated) throw outdated
  const states = await tx.query<{ state: string; count: number; paper: number }>(sql`
    with moved as (
      update report_statement s set attempts = 0, reason = null, state_date = now(),
        put_off_until = null,
        state = case when s.way = 'Email' then 'Queued' else s.way end
      where s.report_id = ${reportID} and (s.state = 'Made'
        or (${again} and s.state <> 'Sending'))
      returning s.state, s.also_print)
    select state, count(*)::int as count, count(*) filter (where also_print)::int as paper
    from moved group by state`)
  if (states.length === 0)
    throw conflict(
      'already_sent',
      'All statements were sent already; send again: true to send them once more.',
    )
  await tx.query(sql`
    update report set sender_user_id = ${actor.userID}, sender_api_key_id = ${actor.apiKeyID}
    where report_id = ${reportID}`)
  await queueSending(tx, reportID)
  const countOf = (state: string) => states.find((one) => one.state === state)?.count ?? 0
  const counts = {
    queued: countOf('Queued'),
    print: countOf('Print') + states.reduce((sum, { paper }) => sum + paper, 0),
    noAddress: countOf('NoAddress'),
  }
  const { productID } = report
  const json = JSON.stringify({ reportID, ...counts })
  return { json, recordCount: 1, ids: [reportID], productID, changes: { again, ...counts } }
}

export const noSender = () =>
  conflict('no_sender', 'There is no sender address: set issuer.email or REGISTRY_SMTP_FROM.')

export const queueSending = (tx: Tx, reportID: number) =>
  queueJob(tx, 'send_statements', { reportID }, `send ${reportID}`)

const deliveryColumns = columns(Delivery, 's')

/** Deliveries name the holders, so reading them needs the rights of the investor statements. */
export async function readDeliveries(handle: Sql, actor: Actor, query: DeliveryQuery) {
  const { ReportID, State, AlsoPrint } = query
  const seen = sql`select r.report_type_id as "typeID" from report r
    where r.report_id = ${ReportID} and ${inScope(actor, 'r.product_id')}`
  const [report] = await handle.query<{ typeID: number }>(seen)
  if (report) checkMayRead(actor, report.typeID)
  const asked = [
    sql`s.report_id = ${ReportID}`,
    sql`exists (${seen})`,
    ...(State ? [sql`s.state = ${State}`] : []),
    ...(AlsoPrint === undefined ? [] : [sql`s.also_print = ${AlsoPrint}`]),
  ]
  return renderPage(handle, query, {
    key: ['accountID'],
    rows: (wanted) => sql`
      select s.* from report_statement s
      where ${join(asked, ' and ')} ${pageBy(wanted, 's.account_id', mostAccounts)}`,
    show: (rows) => sql`select ${deliveryColumns} from (${rows}) s order by s.account_id`,
  })
}
const mostAccounts = '(select max(account_id)::bigint from account)'

/** Deletes the statements of an earlier attempt before the zip is made anew. */
export const forgetStatements = (tx: Tx, reportID: number) =>
  tx.query(sql`delete from report_statement where report_id = ${reportID}`)

export const keepStatements = (tx: Tx, reportID: number, printed: readonly Printed[]) => {
  const rows = printed.map(({ row, fileName, offset, size }) => ({
    account_id: row.accountID,
    account_number: row.accountNumber,
    name: row.name,
    file_name: fileName,
    file_offset: offset,
    file_size: size,
    email: row.email,
    way: wayOf(row),
    also_print: isAlsoPrinted(row),
  }))
  return tx.query(sql`
    insert into report_statement (report_id, account_id, account_number, name, file_name,
      file_offset, file_size, email, way, also_print)
    select ${reportID}, s.* from ${recordset('s', rows, statementColumns)}`)
}

const statementColumns = {
  account_id: 'int',
  account_number: 'text',
  name: 'text',
  file_name: 'text',
  file_offset: 'bigint',
  file_size: 'int',
  email: 'text',
  way: 'text',
  also_print: 'boolean',
} as const
