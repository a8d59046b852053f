import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Files } from '../../platform/files/files.ts'
import { conflict, forbidden } from '../../platform/refusal.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { noSuch } from '../../platform/sql/identify.ts'
import { kinds, refuseUnpermitted } from './kinds.ts'
import type { Format, ImportKey, ImportType } from './schema.ts'
import { importParameter, productOf, visible } from './sql.ts'

export const typeOfFormat: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
}

type Kept = {
  type: ImportType
  format: Format
  status: string
  userID: number | null
  apiKeyID: number | null
  productIDs: readonly number[] | null
  sha256: string | null
  size: number | null
  isWoundUp: boolean
}

/** The file of refused rows of an import that has ended. */
export async function downloadErrors(handle: Sql, files: Files, actor: Actor, key: ImportKey) {
  const [kept] = await handle.query<Kept>(sql`
    select m.type, m.format, m.status, m.user_id as "userID", m.api_key_id as "apiKeyID",
      m.product_ids as "productIDs",
      m.errors_sha256 as sha256, m.errors_size as size,
      m.status = 'Cancelled' and m.file_sha256 is not null as "isWoundUp"
    from import m where m.import_id = ${key.ImportID} and ${visible(actor)}`)
  if (!kept) throw noSuch(importParameter, key)
  refuseCurious(actor, kept)
  const { format, status, sha256, size, productIDs, isWoundUp } = kept
  if (status === 'Queued' || status === 'Running')
    throw conflict('not_complete', 'The import is not done yet; see GET /Import.')
  if (isWoundUp)
    throw conflict('not_complete', 'The refused rows are being put together; ask again shortly.')
  if (sha256 === null || size === null)
    throw conflict('no_errors', 'No row was refused, or the file is not kept any more.')
  const fileName = `import-${key.ImportID}-errors.${format}`
  const contentType = typeOfFormat[format]
  return {
    record: { importID: key.ImportID, fileName, contentType, size },
    fileName,
    contentType,
    size,
    open: () => files.open(sha256),
    productID: productOf(productIDs),
  }
}

/**
 * The refused rows are shown as they were sent, so only callers who could have sent them may read
 * them. An API key counts as another caller than its user, because the user may see more.
 */
function refuseCurious(actor: Actor, { type, userID, apiKeyID }: Kept) {
  refuseUnpermitted(actor, { type })
  const isOthers = actor.apiKeyID ? apiKeyID !== actor.apiKeyID : userID !== actor.userID
  if (kinds[type].isConfidential && isOthers && !actor.permissions.has('PaymentDetail.Read'))
    throw forbidden(
      'permission_missing',
      "The import is somebody else's; its rows need the permission PaymentDetail.Read, too.",
    )
}
