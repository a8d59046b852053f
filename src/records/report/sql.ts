import sql, { join } from 'sql-template-tag'
import { productParameter } from '../../catalogue/product/schema.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { type Files, release } from '../../platform/files/files.ts'
import type { Download } from '../../platform/http/download.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import { recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identified, noSuch, reference } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import { type Answer, columns, nothingLeft, renderOne } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { fileNameOf, typeOfFormat } from './format.ts'
import { checkMayRead } from './kinds.ts'
import { type Format, Report, type ReportKey, type ReportQuery } from './schema.ts'

/** To the microsecond: an order with this knownAt gives the same report again. */
const knownAt = `to_char(r.known_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
const reportColumns = columns(Report, 'r', {
  externalProductId: 'p.external_product_id',
  knownAt,
})

const selectReport = (where: Fragment) => sql`
  select ${reportColumns} from report r join product p on p.product_id = r.product_id
  where ${where}`

export const renderReport = async (handle: Sql, id: number): Promise<Answer> =>
  (await renderOne(handle, selectReport(sql`r.report_id = ${id}`)))!

/**
 * The states are literals in the SQL text so that the planner can use the partial indexes on them.
 */
const failed = sql`(exists (select 1 from report_statement s
    where s.report_id = r.report_id and s.state = 'Failed')
  or exists (select 1 from report_statement s
    where s.report_id = r.report_id and s.state = 'Made' and s.reason is not null))`

export function readReports(handle: Sql, actor: Actor, query: ReportQuery) {
  const { ReportID, ReportTypeID, ReportStatusID, FailedDeliveries } = query
  const asked = [
    inScope(actor, 'r.product_id'),
    identified(productParameter, query, 'p'),
    ...(ReportID ? [sql`r.report_id = ${ReportID}`] : []),
    ...(ReportTypeID ? [sql`r.report_type_id = ${ReportTypeID}`] : []),
    ...(ReportStatusID ? [sql`r.report_status_id = ${ReportStatusID}`] : []),
    ...(FailedDeliveries === undefined ? [] : [FailedDeliveries ? failed : sql`not ${failed}`]),
  ]
  return renderPage(handle, query, {
    key: ['reportID'],
    rows: (wanted) =>
      selectReport(sql`${join(asked, ' and ')} ${page(wanted, 'report r', 'r.report_id')}`),
  })
}

const own = reference({ what: 'report', table: 'report', columns: ['report_id'] }, ['ReportID'])

export async function readStatus(handle: Sql, actor: Actor, key: ReportKey): Promise<Answer> {
  const found = await renderOne(handle, selectReport(named(actor, key)))
  if (!found) throw noSuch(own, key)
  return found
}

const named = (actor: Actor, { ReportID }: ReportKey) =>
  sql`r.report_id = ${ReportID} and ${inScope(actor, 'r.product_id')}`

/** Deletes a report; a worker that is making it finds its lease gone and stops. */
export async function deleteReport(tx: Tx, actor: Actor, key: ReportKey): Promise<Written> {
  const before = await readStatus(tx, actor, key)
  const [gone] = await tx.query<{ productID: number; sha256: string | null; since: string }>(sql`
    delete from report r where ${named(actor, key)}
    returning product_id as "productID", file_sha256 as sha256, file_date as since`)
  if (!gone) throw noSuch(own, key)
  const { productID, sha256, since } = gone
  if (sha256) {
    await release(tx, sha256, since)
    await queueJob(tx, 'collect_files', {}, 'collect_files')
  }
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [key.ReportID], productID, changes }
}

type Made = {
  id: number
  typeID: number
  statusID: number
  name: string
  format: Format
  size: number | null
  sha256: string | null
  errorMessage: string | null
}

export async function downloadReport(
  handle: Sql,
  files: Files,
  actor: Actor,
  key: ReportKey,
): Promise<Download> {
  const [made] = await handle.query<Made>(sql`
    select r.report_id as id, r.report_type_id as "typeID", r.report_status_id as "statusID",
      r.name, r.format, r.file_size as size, r.file_sha256 as sha256,
      r.error_message as "errorMessage"
    from report r where ${named(actor, key)}`)
  if (!made) throw noSuch(own, key)
  checkMayRead(actor, made.typeID)
  const { id, name, format, size, sha256, statusID, errorMessage } = made
  if (statusID === lookups.ReportStatus.Failed)
    throw conflict('report_failed', `The report has failed: ${errorMessage}`)
  if (size === null || sha256 === null)
    throw conflict('not_complete', 'The report is not complete yet; see GET /Report/Status.')
  const fileName = fileNameOf(name, format)
  const contentType = typeOfFormat[format]
  return {
    record: { reportID: id, fileName, contentType, size, sha256 },
    fileName,
    contentType,
    size,
    open: () => files.open(sha256),
  }
}
