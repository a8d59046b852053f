import sql from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import type { NewEvent } from '../../platform/sql/event.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Showing } from '../investor/locks.ts'
import { visibleOrganisation } from '../investor/scope.ts'
import { refuseHeld } from './held-documents.ts'

/** The documents that are deleted or updated when their entity is deleted. */
export type Parted = { deleted: number[]; updated: number[] }

/**
 * Deletes the documents that belong to the entity alone, and removes the entity from its other
 * documents. The lock on the entity keeps others from giving it a document meanwhile.
 */
export async function partDocuments(tx: Tx, actor: Actor, entity: Showing): Promise<Parted> {
  await tx.query(sql`select 1 from biz_entity where biz_entity_id = ${entity.id} for update`)
  const deleted = idsOf(
    await tx.query<Row>(sql`
      delete from document
      where biz_entity_id = ${entity.id} and product_id is null and organisation_id is null
      returning document_id as id`),
  )
  await refuseHeld(tx, deleted)
  await refuseExposed(tx, actor, entity)
  const updated = await tx.query<Row>(sql`
    update document d set biz_entity_id = null, updated_date = m.moment
    from (select clock_timestamp() as moment) m
    where d.biz_entity_id = ${entity.id}
    returning d.document_id as id`)
  return { deleted, updated: idsOf(updated) }
}

type Row = { id: number }
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id).sort((a, b) => a - b)

/**
 * Refuses if removing the entity would show one of its documents to more people. A document is seen
 * by those who see everything that it belongs to. Without the entity, a document of another product
 * would be seen by all who see that product. A document of an organisation would be seen by all who
 * see the organisation: everybody, if no other entity has it.
 */
async function refuseExposed(tx: Tx, actor: Actor, { id, productID }: Showing) {
  const [exposed] = await tx.query<Row & { isSeen: boolean }>(sql`
    select d.document_id as id, ${isSeenBy(actor)} as "isSeen" from document d
    where d.biz_entity_id = ${id} and case
      when d.product_id is not null then d.product_id <> ${productID}
      else not exists (${otherLinks(id)}) or exists (${otherLinks(id)}
        and o.product_id <> ${productID}) end
    order by 2 desc, 1 limit 1`)
  if (exposed) throw exposed.isSeen ? wouldShow(exposed.id) : wouldShowUnseen()
}

const otherLinks = (id: number): Fragment => sql`
  select 1 from organisation_link l join biz_entity o using (biz_entity_id)
  where l.organisation_id = d.organisation_id and l.biz_entity_id <> ${id}`

const isSeenBy = (actor: Actor): Fragment => sql`(
  (d.product_id is null or ${inScope(actor, 'd.product_id')})
  and (d.organisation_id is null or ${visibleOrganisation(actor, 'd.organisation_id')}))`

const wouldShow = (id: number) =>
  conflict(
    'in_use',
    `The document ${id} is also of another product or of an organisation, and without the entity ` +
      'others would see it. Delete it, or say with PUT /Document whose it is to be.',
  )

const wouldShowUnseen = () =>
  conflict(
    'in_use',
    'A document of the entity is also of something that you cannot see. Somebody who sees it has ' +
      'to delete it, or to say whose it is to be, first.',
  )

/**
 * Events about the documents of an entity that moves to another product: readers of the old product
 * can no longer see them, readers of the new product now can.
 */
export async function toldOfMoved(tx: Tx, id: number, products: readonly number[]) {
  const places = [...new Set(products)]
  if (places.length < 2) return []
  const rows = await tx.query<{ productID: number; ids: number[] }>(sql`
    select p.id as "productID", array_agg(d.document_id order by d.document_id) as ids
    from unnest(${places}::int[]) p (id)
    join document d on d.biz_entity_id = ${id} and coalesce(d.product_id, p.id) = p.id
    group by p.id order by p.id`)
  return rows.map(
    ({ productID, ids }): NewEvent => ({
      type: 'document.updated',
      resource: 'Document',
      productID,
      ids,
    }),
  )
}
