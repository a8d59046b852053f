import sql from 'sql-template-tag'
import { hashPassword } from '../../access/password/hash.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { refuseHeld } from '../../parties/biz-entity/held-documents.ts'
import { bizEntityReference, organisationReference } from '../../parties/investor/identities.ts'
import { visibleOwner } from '../../parties/investor/scope.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { release } from '../../platform/files/files.ts'
import { changesBetween, masked, recordOf } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyOptional } from '../../platform/sql/identify.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { defineTable, loadRows, put, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { type Found, inQuery, lockDocument, lockReplaced, toldIn } from './find.ts'
import {
  Document,
  DocumentInput,
  type DocumentKey,
  DocumentRecord,
  type DocumentUpdate,
} from './schema.ts'
import { documentByID, renderDocument } from './sql.ts'

const documentTable = defineTable('document', {
  key: 'document_id',
  record: DocumentRecord,
  others: { password_hash: 'text' },
  updatedDate: true,
})

export async function createDocument(tx: Tx, actor: Actor, input: DocumentInput): Promise<Written> {
  const owners = await ownersOf(tx, actor, input)
  const row = rowFrom(
    documentTable,
    { ...input, ...owners },
    { password_hash: input.password ? await hashPassword(input.password) : null },
  )
  const id = await put(tx, documentTable, undefined, row)
  const changes = masked(DocumentInput, input)
  const productID = await toldIn(tx, id)
  return { ...(await renderDocument(tx, id)), ids: [id], productID, changes }
}

/** No answer shows the password, so a PUT without one keeps it; an empty password removes it. */
export async function updateDocument(
  tx: Tx,
  actor: Actor,
  input: DocumentUpdate,
): Promise<Written> {
  const owners = await ownersOf(tx, actor, input)
  const { id, passwordHash, ...stored } = await lockReplaced(tx, actor, input, owners.productID)
  const before = await renderDocument(tx, id)
  const { password } = input
  const hash = password === undefined ? passwordHash : password && (await hashPassword(password))
  const row = rowFrom(
    documentTable,
    { ...input, ...owners },
    { document_id: id, password_hash: hash || null },
  )
  const [current] = await loadRows(tx, documentTable, [id])
  await put(tx, documentTable, current, row)
  const after = await render(tx, documentByID(id))
  const changes = {
    ...changesBetween(Document, before.json, after.json),
    ...(password !== undefined && { password: '***' }),
  }
  const told = toldAsMoved(id, stored.toldIn ?? undefined, await toldIn(tx, id))
  return { ...after, ids: [id], ...told, before: before.json, changes }
}

/**
 * A document that moves to another product raises an event in both products: readers who see only
 * the old product must learn that the document is gone.
 */
function toldAsMoved(id: number, from: number | undefined, to: number | undefined) {
  if (from === to) return { productID: to }
  return { productID: undefined, shares: [from, to].map((productID) => ({ productID, ids: [id] })) }
}

export async function deleteDocument(tx: Tx, actor: Actor, key: DocumentKey): Promise<Written> {
  const document = await lockDocument(tx, actor, inQuery, key)
  await refuseHeld(tx, [document.id])
  const { id } = document
  const before = await renderDocument(tx, id)
  await tx.query(sql`delete from document where document_id = ${id}`)
  await letGo(tx, document)
  const changes = { deleted: recordOf(before.json) }
  const productID = document.toldIn ?? undefined
  const told = { ids: [id], productID, before: before.json, changes }
  return { ...nothingLeft, ...told }
}

/** Releases the former content of a document, which the file collector removes after the commit. */
export async function letGo(tx: Tx, { sha256, fileDate }: Found) {
  if (sha256 === null || fileDate === null) return
  await release(tx, sha256, fileDate)
  await queueJob(tx, 'collect_files', {}, 'collect_files')
}

/** The owners that a document is to have; the caller must be allowed to see each of them. */
async function ownersOf(tx: Tx, actor: Actor, input: DocumentInput) {
  const product = { visible: inScope(actor, 'r.product_id') }
  const entity = { visible: visibleOwner.bizEntity(actor) }
  const organisation = { visible: visibleOwner.organisation(actor) }
  return {
    productID: await identifyOptional(tx, productReference, input, product),
    bizEntityID: await identifyOptional(tx, bizEntityReference, input, entity),
    organisationID: await identifyOptional(tx, organisationReference, input, organisation),
  }
}
