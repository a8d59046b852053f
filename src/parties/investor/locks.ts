import sql, { raw } from 'sql-template-tag'
import { soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lostRace } from '../../platform/sql/rows.ts'
import type { Owner, OwnerKind } from './identities.ts'

/**
 * Who changes an investor's record, or links one to an entity, holds its row; who changes what it
 * owns does too. Persons are locked before organisations, those before entities, each in order of
 * id, and all of them before the first row is written: so two requests never wait for each other.
 */
const tables: Record<OwnerKind, { table: string; key: string }> = {
  person: { table: 'person', key: 'person_id' },
  organisation: { table: 'organisation', key: 'organisation_id' },
  bizEntity: { table: 'biz_entity', key: 'biz_entity_id' },
}

/** Locks rows that were found just before; should one be gone by now, the request starts again. */
export async function lockRows(tx: Tx, kind: OwnerKind, ids: readonly number[]) {
  if (ids.length === 0) return
  const { table, key } = tables[kind]
  const rows = await tx.query<{ id: number }>(sql`
    select ${raw(key)} as id from ${raw(table)} where ${raw(key)} = any(${ids}::int[])
    order by ${raw(key)} for no key update`)
  if (rows.length < new Set(ids).size) throw lostRace(table)
}

/** An entity that shows something, and its product. */
export type Showing = { id: number; productID: number }

/** Locks owners, and then the entities that show them. */
export async function lockOwners(tx: Tx, owners: readonly Owner[]): Promise<Showing[]> {
  await lockRows(tx, 'person', ids(owners, 'person'))
  await lockRows(tx, 'organisation', ids(owners, 'organisation'))
  const showing = await lockEntitiesShowing(tx, owners)
  const there = new Set(showing.map(({ id }) => id))
  if (ids(owners, 'bizEntity').some((id) => !there.has(id))) throw lostRace('biz_entity')
  return showing
}

/** Locks the entities that show these persons and organisations, and these entities themselves. */
export async function lockEntitiesShowing(tx: Tx, owners: readonly Owner[]): Promise<Showing[]> {
  if (owners.length === 0) return []
  return tx.query<Showing>(sql`
    select biz_entity_id as id, product_id as "productID" from biz_entity
    where biz_entity_id in (
      select unnest(${ids(owners, 'bizEntity')}::int[])
      union
      select biz_entity_id from person_shown where person_id = any(${ids(owners, 'person')}::int[])
      union
      select biz_entity_id from biz_entity_party
      where organisation_id = any(${ids(owners, 'organisation')}::int[]))
    order by biz_entity_id for no key update`)
}

/**
 * Where a change of records is told: the product of its audit record, and an event for each product
 * in which they show, since who sees one hears of that alone.
 */
export function toldIn(showing: readonly Showing[], ids: readonly number[]) {
  const products = [...new Set(showing.map(({ productID }) => productID))]
  const productID = soleProduct(showing)
  if (products.length === 0) return { productID }
  return { productID, shares: products.map((one) => ({ productID: one, ids })) }
}

/**
 * Moves updatedDateFull: something in the nested structure of these entities changed. The clock is
 * read here, under their locks, so that the date of an entity never goes back.
 */
export async function touch(tx: Tx, showing: readonly { id: number }[]): Promise<void> {
  if (showing.length === 0) return
  await tx.query(sql`
    update biz_entity set updated_date_full = m.moment
    from (select clock_timestamp() as moment) m
    where biz_entity_id = any(${showing.map(({ id }) => id)}::int[])`)
}

const ids = (owners: readonly Owner[], kind: OwnerKind): number[] => [
  ...new Set(owners.flatMap((owner) => (owner.kind === kind ? [owner.id] : []))),
]
