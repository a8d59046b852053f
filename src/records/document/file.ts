import type { IncomingHttpHeaders } from 'node:http'
import sql from 'sql-template-tag'
import { inPasswordSlot, isPassword } from '../../access/password/hash.ts'
import {
  countFailure,
  forgetFailures,
  refuseThrottled,
  triedByAnyone,
} from '../../access/password/throttle.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Files, Transaction } from '../../platform/files/files.ts'
import type { Download } from '../../platform/http/download.ts'
import type { KeptFile } from '../../platform/http/upload.ts'
import { checkVersion } from '../../platform/http/version.ts'
import { conflict, forbidden, notFound } from '../../platform/refusal.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { type Found, findReadable, inBody, lockDocument } from './find.ts'
import { letGo } from './save.ts'
import type { DocumentKey, FileInput } from './schema.ts'

type Upload = FileInput & KeptFile

export async function addFile(tx: Tx, actor: Actor, input: Upload): Promise<Written> {
  const document = await lockDocument(tx, actor, inBody, input)
  if (document.sha256 !== null)
    throw conflict('has_file', 'The document has a file already; replace it with PUT.')
  return setFile(tx, document, input)
}

export async function replaceFile(tx: Tx, actor: Actor, input: Upload): Promise<Written> {
  const document = await lockDocument(tx, actor, inBody, input)
  if (document.sha256 === null) throw noFile()
  const written = await setFile(tx, document, input)
  if (document.sha256 !== input.sha256) await letGo(tx, document)
  return written
}

const noFile = () => notFound('no_file', 'The document has no file yet; upload one with POST.')

async function setFile(tx: Tx, { id, toldIn }: Found, file: Upload): Promise<Written> {
  const { fileName, contentType, size, sha256 } = file
  await tx.query(sql`
    update document set file_name = ${fileName}, content_type = ${contentType},
      file_size = ${size}, file_sha256 = ${sha256}, file_date = m.moment,
      updated_date = now()
    from (select clock_timestamp() as moment) m where document_id = ${id}`)
  const changes = { fileName, contentType, size, sha256 }
  return {
    json: JSON.stringify({ documentID: id, ...changes }),
    recordCount: 1,
    ids: [id],
    productID: toldIn ?? undefined,
    changes,
  }
}

export type FileAccess = { transaction: Transaction; files: Files; nameKey: Buffer }

/**
 * Opens the file of a document, once the caller may read the document and has sent its password.
 */
export async function downloadFile(
  handle: Sql,
  access: FileAccess,
  request: {
    actor: Actor | null
    caller: string
    query: DocumentKey
    headers: IncomingHttpHeaders
  },
): Promise<Download> {
  const { actor, query, headers } = request
  const document = await findReadable(handle, actor, query)
  if (!document.isPublic) checkVersion(request)
  await checkPassword(access, document, headers['x-document-password'], request)
  const { id, fileName, contentType, size, sha256 } = document
  if (fileName === null || contentType === null || size === null || sha256 === null) throw noFile()
  return {
    record: { documentID: id, fileName, contentType, size, sha256 },
    fileName,
    contentType,
    size,
    open: () => access.files.open(sha256),
  }
}

/** Counts wrong passwords for each document, as sign-in counts them for each user. */
async function checkPassword(
  access: FileAccess,
  document: Found,
  header: unknown,
  whose: { caller: string },
) {
  const { id, passwordHash } = document
  if (passwordHash === null) return
  if (typeof header !== 'string' || header === '')
    throw forbidden('password_required', 'Send the password as the header X-Document-Password.')
  const tried = triedByAnyone(access.nameKey, `document ${id}`)
  const isRight = await inPasswordSlot(
    () =>
      access.transaction(async (tx) => {
        const failures = await refuseThrottled(tx, tried, 'wrong passwords for this document')
        const matches = await isPassword(passwordHash, textOfHeader(header))
        await (matches ? forgetFailures(tx, tried) : countFailure(tx, tried, failures))
        return matches
      }),
    whose,
  )
  if (!isRight) throw forbidden('password_wrong', 'The password of the document is wrong.')
}

/** Node gives each byte of a header as one Latin-1 character; what clients send there is UTF-8. */
function textOfHeader(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? header : text
}
