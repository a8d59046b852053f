import sql from 'sql-template-tag'
import { hashPassword } from '../../access/password/hash.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { bizEntityReference, organisationReference } from '../../parties/investor/identities.ts'
import { visibleOwner } from '../../parties/investor/scope.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { release } from '../../platform/files/files.ts'
import { changesBetween, masked, recordOf } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyOptional } from '../../platform/sql/identify.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { type Found, inQuery, lockDocument, lockReplaced } from './find.ts'
import { Document, DocumentInput, type DocumentKey, type DocumentUpdate } from './schema.ts'
import { documentByID, renderDocument } from './sql.ts'

export async function createDocument(tx: Tx, actor: Actor, input: DocumentInput): Promise<Written> {
  const owners = await ownersOf(tx, actor, input)
  const { productID, bizEntityID, organisationID } = owners
  const { externalDocumentId, documentTypeID, name, code, description, ordinal, password } = input
  const [row] = await tx.query<{ id: number }>(sql`
    insert into document (external_document_id, document_type_id, name, code, description, ordinal,
      password_hash, product_id, biz_entity_id, organisation_id, show_in_documents_in_portal,
      is_public)
    values (${externalDocumentId}, ${documentTypeID}, ${name}, ${code}, ${description}, ${ordinal},
      ${password ? await hashPassword(password) : null}, ${productID}, ${bizEntityID},
      ${organisationID}, ${input.showInDocumentsInPortal ?? false}, ${input.isPublic ?? false})
    returning document_id as id`)
  const { id } = row!
  const changes = masked(DocumentInput, input)
  return { ...(await renderDocument(tx, id)), ids: [id], productID, changes }
}

/** The password stays unless one is given, as no answer shows it; an empty one takes it away. */
export async function updateDocument(
  tx: Tx,
  actor: Actor,
  input: DocumentUpdate,
): Promise<Written> {
  const { productID, bizEntityID, organisationID } = await ownersOf(tx, actor, input)
  const { id, passwordHash } = await lockReplaced(tx, actor, input, productID)
  const before = await renderDocument(tx, id)
  const { externalDocumentId, documentTypeID, name, code, description, ordinal, password } = input
  const hash = password === undefined ? passwordHash : password && (await hashPassword(password))
  await tx.query(sql`
    update document set external_document_id = ${externalDocumentId},
      document_type_id = ${documentTypeID}, name = ${name}, code = ${code},
      description = ${description}, ordinal = ${ordinal}, password_hash = ${hash || null},
      product_id = ${productID}, biz_entity_id = ${bizEntityID},
      organisation_id = ${organisationID},
      show_in_documents_in_portal = ${input.showInDocumentsInPortal ?? false},
      is_public = ${input.isPublic ?? false}, updated_date = now()
    where document_id = ${id}`)
  const after = await render(tx, documentByID(id))
  const changes = {
    ...changesBetween(Document, before.json, after.json),
    ...(password !== undefined && { password: '***' }),
  }
  return { ...after, ids: [id], productID, changes }
}

export async function deleteDocument(tx: Tx, actor: Actor, key: DocumentKey): Promise<Written> {
  const document = await lockDocument(tx, actor, inQuery, key)
  const { id, productID } = document
  const before = await renderDocument(tx, id)
  await tx.query(sql`delete from document where document_id = ${id}`)
  await letGo(tx, document)
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [id], productID: productID ?? undefined, changes }
}

/** The content that a document had is taken away as soon as this is committed. */
export async function letGo(tx: Tx, { sha256, fileDate }: Found) {
  if (sha256 === null || fileDate === null) return
  await release(tx, sha256, fileDate)
  await queueJob(tx, 'collect_files', {}, 'collect_files')
}

/** What a document is to belong to, each of them one the caller may see. */
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
