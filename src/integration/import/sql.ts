import sql, { join } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { release } from '../../platform/files/files.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { noSuch, reference } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { type Answer, columns, nothingLeft, renderOne } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { refuseUnpermitted } from './kinds.ts'
import { Import, type ImportKey, type ImportQuery, type ImportType, type Mode } from './schema.ts'

const importColumns = columns(Import, 'm')

const selectImport = (where: Fragment) => sql`
  select ${importColumns}, to_json(m.unknown_columns) as "unknownColumns",
    coalesce(to_json(m.product_ids), '[]') as "productIDs"
  from import m where ${where}`

export const renderImport = async (handle: Sql, id: number): Promise<Answer> =>
  (await renderOne(handle, selectImport(sql`m.import_id = ${id}`)))!

/** Callers limited to some products only see imports that are limited to those products. */
export const visible = ({ productIDs }: Actor): Fragment =>
  productIDs === null ? sql`true` : sql`m.product_ids <@ ${productIDs}::int[]`

export function readImports(handle: Sql, actor: Actor, query: ImportQuery) {
  const { ImportID, Type, Status } = query
  const asked = [
    visible(actor),
    ...(ImportID ? [sql`m.import_id = ${ImportID}`] : []),
    ...(Type ? [sql`m.type = ${Type}`] : []),
    ...(Status ? [sql`m.status = ${Status}`] : []),
  ]
  return renderPage(handle, query, {
    key: ['importID'],
    rows: (wanted) =>
      selectImport(sql`${join(asked, ' and ')} ${page(wanted, 'import m', 'm.import_id')}`),
  })
}

/** How query strings name an import. */
export const importParameter = reference(
  { what: 'import', table: 'import', columns: ['import_id'] },
  ['ImportID'],
)

/** Cancels an import. A running worker loses its lease and stops; uncommitted work is undone. */
export async function cancelImport(tx: Tx, actor: Actor, key: ImportKey): Promise<Written> {
  const { ImportID: id } = key
  const [found] = await tx.query<Open>(sql`
    select m.type, m.status, m.file_sha256 as sha256, m.file_date as since,
      m.product_ids as "productIDs",
      m.mode, m.last_line as "lastLine", m.rows_refused > 0 as "hasRefused"
    from import m where m.import_id = ${id} and ${visible(actor)} for update`)
  if (!found) throw noSuch(importParameter, key)
  refuseUnpermitted(actor, found)
  const { status, sha256, since, productIDs, mode, lastLine, hasRefused } = found
  if (status !== 'Queued' && status !== 'Running')
    throw conflict('wrong_state', `The import is ${status} already.`)
  // The file is kept, because a worker still needs it to write the file of refused rows.
  const isWoundUp = mode === 'continue' && hasRefused
  await tx.query(sql`
    update import set status = 'Cancelled', lease = null, completed_date = now(), attempts = 0,
      file_sha256 = case when ${isWoundUp} then file_sha256 end,
      rows_accepted = case when mode = 'continue' then rows_accepted else 0 end,
      message = ${mode === 'continue' && lastLine > 0 ? doneUpTo(lastLine) : null}
    where import_id = ${id}`)
  if (sha256 && !isWoundUp) await release(tx, sha256, since)
  const changes = { status: { from: status, to: 'Cancelled' } }
  return { ...nothingLeft, ids: [id], productID: productOf(productIDs), changes }
}

/** A message against sending the whole corrected file again, which would import rows twice. */
export const doneUpTo = (line: number) =>
  `The rows up to line ${line} are done: send only those after it.`

type Open = {
  type: ImportType
  status: string
  sha256: string | null
  since: string
  productIDs: readonly number[] | null
  mode: Mode
  lastLine: number
  hasRefused: boolean
}

/** The product of an import limited to one product, so that its readers get the events. */
export const productOf = (productIDs: readonly number[] | null) =>
  productIDs?.length === 1 ? productIDs[0] : undefined

/** Deletes files of refused rows after a month, because they hold personal data of investors. */
export async function sweepImports(tx: Tx): Promise<boolean> {
  const old = await tx.query<{ sha256: string; since: string }>(sql`
    with old as (
      select import_id, errors_sha256, errors_date from import
      where errors_sha256 is not null and errors_date < now() - interval '30 days'
      limit 100 for update skip locked)
    update import i set errors_sha256 = null, errors_size = null from old
    where i.import_id = old.import_id
    returning old.errors_sha256 as sha256, old.errors_date as since`)
  for (const { sha256, since } of old) await release(tx, sha256, since)
  const loose = await tx.query(sql`
    delete from import_refusal where ctid = any(array(
      select r.ctid from import i join import_refusal r using (import_id)
      where i.status in ('Cancelled', 'Completed', 'Failed') and i.file_sha256 is null
      limit 10000)) returning true`)
  return old.length === 100 || loose.length === 10_000
}
