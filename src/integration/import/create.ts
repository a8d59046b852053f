import sql from 'sql-template-tag'
import { refuseAround } from '../../access/approval/elsewhere.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import type { Actor } from '../../platform/actor.ts'
import type { KeptFile } from '../../platform/http/upload.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { raise } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { findReadable, inBody } from '../../records/document/find.ts'
import { refuseUnpermitted, writtenBy } from './kinds.ts'
import { type Format, formats, type ImportInput } from './schema.ts'
import { productOf, renderImport, visible } from './sql.ts'

type File = { sha256: string; storedAs: string; size: number; fileName: string }

/** Queues an import. The commit wakes a worker. */
export async function createImport(
  tx: Tx,
  actor: Actor,
  input: ImportInput & Partial<KeptFile>,
  userID: number | null = actor.userID,
): Promise<Written> {
  refuseUnpermitted(actor, input)
  const file = await fileOf(tx, actor, input)
  const format = formatOf(input, file)
  const { type, mode, mapping, again, documentID, productID } = input
  const productIDs = productID
    ? [await identifyProduct(tx, actor, { productID })]
    : actor.productIDs && [...actor.productIDs]
  if (mode !== 'validate') await refuseAround(tx, writtenBy(type, productIDs))
  const { dateFormat = 'YYYY-MM-DD', encoding = 'UTF-8' } = input
  if (mode !== 'validate' && !again) await refuseSameFile(tx, actor, { type, productIDs, file })
  const [row] = await tx.query<{ id: number }>(sql`
    insert into import (type, format, mode, date_format, encoding, mapping, file_name, file_size,
      content_sha256, file_sha256, document_id, user_id, api_key_id, username,
      product_ids)
    values (${type}, ${format}, ${mode}, ${dateFormat}, ${encoding},
      ${mapping && JSON.stringify(mapping)}::json, ${file.fileName}, ${file.size}, ${file.sha256},
      ${file.storedAs}, ${documentID}, ${userID}, ${actor.apiKeyID},
      ${actor.username}, ${productIDs}::int[])
    returning import_id as id`)
  const { id } = row!
  const about = { resource: 'Import', ids: [id], productID: productOf(productIDs) }
  await raise(tx, [{ type: 'import.created', ...about, userID }])
  const changes = { type, mode, format, fileName: file.fileName, sha256: file.sha256, again }
  return { ...(await renderImport(tx, id)), ...about, changes, accepted: true }
}

/** The uploaded file, or the file of a document that the caller may read. */
async function fileOf(
  tx: Tx,
  actor: Actor,
  { sha256, storedAs, size, fileName, documentID }: ImportInput & Partial<KeptFile>,
): Promise<File> {
  if (sha256 !== undefined && size !== undefined) {
    if (documentID)
      throw invalid('combination', 'Send the file, or name a document: not both.', 'documentID')
    return { sha256, storedAs: storedAs ?? sha256, size, fileName: fileName ?? 'file' }
  }
  if (!documentID) throw invalid('required', 'Send a file, or a documentID.', 'content')
  const document = await findReadable(tx, actor, { documentID }, inBody)
  if (document.passwordHash !== null)
    throw conflict('password_required', 'The document has a password; send its file instead.')
  if (document.sha256 === null || document.size === null)
    throw conflict('no_file', 'The document has no file yet.', 'documentID')
  return {
    sha256: document.sha256,
    storedAs: document.sha256,
    size: document.size,
    fileName: fileName ?? document.fileName ?? 'file',
  }
}

function formatOf({ format, dateFormat, encoding, mapping }: ImportInput, file: File): Format {
  const extension = /\.(\w+)$/.exec(file.fileName)?.[1]?.toLowerCase()
  const found = format ?? formats.find((one) => one === extension)
  if (!found) throw invalid('required', `Say the format: one of ${formats.join(', ')}.`, 'format')
  const isOdd = (field: string, words: string) => invalid('combination', words, field)
  if (found === 'jsonl' && (dateFormat ?? 'YYYY-MM-DD') !== 'YYYY-MM-DD')
    throw isOdd('dateFormat', 'In JSON a date is YYYY-MM-DD.')
  if (found === 'jsonl' && mapping) throw isOdd('mapping', 'Lines of JSON have no columns.')
  if (found !== 'csv' && encoding === 'Windows-1252')
    throw isOdd('encoding', `A file of the format ${found} is UTF-8.`)
  return found
}

type Rows = { type: string; productIDs: readonly number[] | null; file: File }

/**
 * Refuses a file that was imported before, because importing it twice is a mistake. An earlier
 * import does not count if it was a trial (mode 'validate') or was for other products.
 */
async function refuseSameFile(tx: Tx, actor: Actor, { type, productIDs, file }: Rows) {
  const { sha256 } = file
  // Of two requests with the same file, the second looks after the first has committed.
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${`import ${sha256}`}, 0))`)
  const isTaken = productIDs
    ? sql`coalesce(m.product_ids && ${productIDs}::int[], true)`
    : sql`true`
  const [before] = await tx.query<{ id: number; isSeen: boolean }>(sql`
    select m.import_id as id, coalesce(${visible(actor)}, false) as "isSeen" from import m
    where m.content_sha256 = ${sha256} and m.type = ${type} and m.mode <> 'validate' and ${isTaken}
      and (m.status in ('Queued', 'Running', 'Completed') or m.rows_accepted > 0)
    order by 2 desc, m.import_id limit 1`)
  if (!before) return
  const which = before.isSeen ? ` (import ${before.id})` : ''
  throw conflict(
    'same_file',
    `This file was imported before${which}; again: true takes it once more.`,
    'again',
  )
}
