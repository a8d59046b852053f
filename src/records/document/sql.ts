import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { type Answer, columns, renderOne } from '../../platform/sql/render.ts'
import { findReadable } from './find.ts'
import { Document, type DocumentKey } from './schema.ts'

const documentColumns = columns(Document, 'd', {
  password: 'null::text',
  hasPassword: 'd.password_hash is not null',
  externalProductId: 'p.external_product_id',
  externalBizEntityId: 'e.external_biz_entity_id',
  externalOrganisationId: 'o.external_organisation_id',
})

/** A document as the API shows it: its password never. */
export const documentByID = (id: number) => sql`
  select ${documentColumns} from document d
  left join product p on p.product_id = d.product_id
  left join biz_entity e on e.biz_entity_id = d.biz_entity_id
  left join organisation o on o.organisation_id = d.organisation_id
  where d.document_id = ${id}`

export const renderDocument = async (handle: Sql, id: number): Promise<Answer> =>
  (await renderOne(handle, documentByID(id)))!

export async function readDocument(handle: Sql, actor: Actor | null, query: DocumentKey) {
  const { id } = await findReadable(handle, actor, query)
  return (await renderOne(handle, documentByID(id))) ?? readAgain(handle, actor, query)
}

/** It went between the two looks: the second now tells so. */
const readAgain = async (handle: Sql, actor: Actor | null, query: DocumentKey): Promise<Answer> =>
  renderDocument(handle, (await findReadable(handle, actor, query)).id)
