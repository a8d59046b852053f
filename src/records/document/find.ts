import sql, { join } from 'sql-template-tag'
import { productParameter, productReference } from '../../catalogue/product/schema.ts'
import {
  bizEntityParameter,
  bizEntityReference,
  organisationParameter,
  organisationReference,
} from '../../parties/investor/identities.ts'
import { visibleEntity, visibleOrganisation } from '../../parties/investor/scope.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { invalid, permissionMissing, unauthenticated } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identified, namesAny, noSuch, type Reference } from '../../platform/sql/identify.ts'
import { documentParameter, documentReference } from './schema.ts'

/**
 * The fields that identify a document and its owners, named as in query strings or as in bodies.
 */
type Naming = { own: Reference; product: Reference; entity: Reference; organisation: Reference }
export const inQuery: Naming = {
  own: documentParameter,
  product: productParameter,
  entity: bizEntityParameter,
  organisation: organisationParameter,
}
export const inBody: Naming = {
  own: documentReference,
  product: productReference,
  entity: bizEntityReference,
  organisation: organisationReference,
}

export type Found = {
  id: number
  productID: number | null
  toldIn: number | null
  isPublic: boolean
  passwordHash: string | null
  fileName: string | null
  contentType: string | null
  size: number | null
  sha256: string | null
  fileDate: string | null
}

/**
 * The product whose readers are told of changes to a document d: the product of the document or of
 * its entity. Null where there is none, or where the two differ.
 */
const heardIn = sql`(
  select case when count(distinct o.product_id) = 1 then min(o.product_id) end
  from (
    select d.product_id
    union all
    select e.product_id from biz_entity e where e.biz_entity_id = d.biz_entity_id) o)`

const found = sql`
  select d.document_id as id, d.product_id as "productID", ${heardIn} as "toldIn",
    d.is_public as "isPublic",
    d.password_hash as "passwordHash", d.file_name as "fileName", d.content_type as "contentType",
    d.file_size as size, d.file_sha256 as sha256, d.file_date as "fileDate"
  from document d`

/** The product whose readers are told of a document that this transaction has just written. */
export async function toldIn({ query }: Sql, id: number): Promise<number | undefined> {
  const [row] = await query<{ productID: number | null }>(sql`
    select ${heardIn} as "productID" from document d where d.document_id = ${id}`)
  return row?.productID ?? undefined
}

/** Whether the caller may see every owner of a document d. */
export const visible = (actor: Actor): Fragment =>
  actor.productIDs === null
    ? sql`true`
    : sql`(
        (d.product_id is null or ${inScope(actor, 'd.product_id')})
        and (d.biz_entity_id is null or exists (
          select 1 from biz_entity e
          where e.biz_entity_id = d.biz_entity_id and ${visibleEntity(actor, 'e')}))
        and (d.organisation_id is null or ${visibleOrganisation(actor, 'd.organisation_id')}))`

const isOpen = sql`(d.is_public and not exists (
  select 1 from product p where p.product_id = d.product_id and not p.is_active))`

/**
 * The document that a request names to read it. A document that is not public, does not exist or
 * belongs to a product out of scope is refused in the same words, so that nobody can probe for ids.
 */
export async function findReadable(
  handle: Sql,
  actor: Actor | null,
  given: object,
  naming: Naming = inQuery,
) {
  const reader = actor?.permissions.has('Document.Read') ? actor : undefined
  const readable = reader ? sql`(${visible(reader)} or ${isOpen})` : isOpen
  const document = await find(handle, naming, given, readable)
  if (document) return document
  if (reader) throw noSuch(naming.own, given)
  throw actor
    ? permissionMissing('Document.Read')
    : unauthenticated(
        'unauthenticated',
        'There is no such public document; sign in to read others.',
      )
}

/** The documents that a list request asks for, as a condition on document d. */
export const listed = (actor: Actor, query: object): Fragment =>
  join(
    [visible(actor), identified(documentParameter, query, 'd'), ...belonging(inQuery, query)],
    ' and ',
  )

/** The document that a write request names, found before its upload begins and without a lock. */
export async function findWritable(handle: Sql, actor: Actor, naming: Naming, given: object) {
  const document = await find(handle, naming, given, visible(actor))
  if (!document) throw noSuch(naming.own, given)
  return document
}

/** Finds and locks the document that a write request names. */
export async function lockDocument(tx: Tx, actor: Actor, naming: Naming, given: object) {
  const document = await find(tx, naming, given, visible(actor), sql`for update of d`)
  if (!document) throw noSuch(naming.own, given)
  return document
}

async function find(
  handle: Sql,
  naming: Naming,
  given: object,
  condition: Fragment,
  lock: Fragment = sql``,
): Promise<Found | undefined> {
  if (!namesAny(naming.own, given)) throw noSuch(naming.own, given)
  const asked = [identified(naming.own, given, 'd'), condition, ...belonging(naming, given)]
  const rows = await handle.query<Found>(sql`
    ${found} where ${join(asked, ' and ')} order by d.product_id nulls last limit 2 ${lock}`)
  const [first, second] = rows
  // Within a product, a document of the product itself takes precedence over one of its entities.
  const isClear = namesAny(naming.product, given) && first?.productID !== second?.productID
  if (second && !isClear) throw ambiguous(naming.product.fields[0]!)
  return first
}

/** Conditions for the owners that a request names; document d must belong to each of them. */
function belonging({ product, entity, organisation }: Naming, given: object): Fragment[] {
  return [
    ...(namesAny(product, given)
      ? [
          sql`coalesce(d.product_id, (
              select e.product_id from biz_entity e where e.biz_entity_id = d.biz_entity_id)) = (
            select p.product_id from product p where ${identified(product, given, 'p')})`,
        ]
      : []),
    ...(namesAny(entity, given)
      ? [
          sql`d.biz_entity_id = (
            select e.biz_entity_id from biz_entity e where ${identified(entity, given, 'e')})`,
        ]
      : []),
    ...(namesAny(organisation, given)
      ? [
          sql`d.organisation_id = (
            select o.organisation_id from organisation o
            where ${identified(organisation, given, 'o')})`,
        ]
      : []),
  ]
}

const ambiguous = (field: string) =>
  invalid(
    'ambiguous',
    'Several documents have this external id: give the product they belong to as well.',
    field,
  )

/**
 * The document that a PUT replaces: found by its id, or by its external id within the product that
 * it is to belong to from now on.
 */
export async function lockReplaced(
  tx: Tx,
  actor: Actor,
  given: { documentID?: number; externalDocumentId?: string },
  productID: number | undefined,
) {
  const { documentID, externalDocumentId } = given
  if (!documentID && externalDocumentId === undefined) throw noSuch(documentReference, given)
  const named = documentID
    ? sql`d.document_id = ${documentID}`
    : sql`d.external_document_id = ${externalDocumentId}
        and d.product_id is not distinct from ${productID ?? null}::int`
  const [document] = await tx.query<Found>(sql`
    ${found} where ${named} and ${visible(actor)} for update of d`)
  if (!document) throw noSuch(documentReference, given)
  return document
}
