import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { type Answer, columns, renderOne } from '../../platform/sql/render.ts'
import { findReadable, listed } from './find.ts'
import {
  Document,
  type DocumentKey,
  type DocumentListQuery,
  documentFilters,
  ListedDocument,
} from './schema.ts'

const elsewhere = {
  password: 'null::text',
  hasPassword: 'd.password_hash is not null',
  externalProductId: 'p.external_product_id',
  externalBizEntityId: 'e.external_biz_entity_id',
  externalOrganisationId: 'o.external_organisation_id',
}
const documentColumns = columns(Document, 'd', elsewhere)
const listedColumns = columns(ListedDocument, 'd', {
  ...elsewhere,
  bizEntityName: 'e.name',
  organisationName: 'o.name',
})

/** Documents as the API shows them, from a selection of rows; passwords are never shown. */
const selectDocuments = (selection: Fragment, fields = documentColumns) => sql`
  select ${fields} from (${selection}) d
  left join product p on p.product_id = d.product_id
  left join biz_entity e on e.biz_entity_id = d.biz_entity_id
  left join organisation o on o.organisation_id = d.organisation_id
  order by d.document_id`

export const documentByID = (id: number) =>
  selectDocuments(sql`select * from document where document_id = ${id}`)

/** A page of the documents that the caller may see, without their files. */
export const listDocuments = (handle: Sql, actor: Actor, query: DocumentListQuery) =>
  renderPage(handle, query, {
    key: ['documentID'],
    rows: (wanted) => sql`
      select d.* from document d
      where ${listed(actor, query)} and ${conditions(documentFilters, query)}
      ${page(wanted, 'document d', 'd.document_id')}`,
    show: (rows) => selectDocuments(rows, listedColumns),
  })

export const renderDocument = async (handle: Sql, id: number): Promise<Answer> =>
  (await renderOne(handle, documentByID(id)))!

export async function readDocument(handle: Sql, actor: Actor | null, query: DocumentKey) {
  const { id } = await findReadable(handle, actor, query)
  return (await renderOne(handle, documentByID(id))) ?? readAgain(handle, actor, query)
}

/**
 * The document was deleted between finding and rendering it: finding it again gives the refusal.
 */
const readAgain = async (handle: Sql, actor: Actor | null, query: DocumentKey): Promise<Answer> =>
  renderDocument(handle, (await findReadable(handle, actor, query)).id)
