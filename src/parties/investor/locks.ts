import sql, { raw } from 'sql-template-tag'
import { soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lostRace } from '../../platform/sql/rows.ts'
import type { Owner, OwnerKind } from './identities.ts'

/**
 * The lock order of investors' records. A request that changes a record, links it to an entity or
 * changes what it owns locks the record's row first. Persons are locked before organisations,
 * organisations before entities, each kind in order of id, and all of them before the first row is
 * written, so two requests can never wait for each other at once.
 */
const tables: Record<OwnerKind, { table: string; key: string }> = {
  person: { table: 'person', key: 'person_id' },
  organisation: { table: 'organisation', key: 'organisation_id' },
  bizEntity: { table: 'biz_entity', key: 'biz_entity_id' },
}

/**
 * Locks rows that were found just before; if one has been deleted since, the request starts again.
 */
export async function lockRows(tx: Tx, kind: OwnerKind, ids: readonly number[]) {
  if (ids.length === 0) return
  const { table, key } = tables[kind]
  const rows = await tx.query<{ id: number }>(sql`
    select ${raw(key)} as id from ${raw(table)} where ${raw(key)} = any(${ids}::int[])
    order by ${raw(key)} for no key update`)
  if (rows.length < new Set(ids).size) throw lostRace(table)
}

/** An entity that shows a record in its answers, and the entity's product. */
export type Showing = { id: number; productID: number }

/** Locks owners, then the entities that show them. */
export async function lockOwners(tx: Tx, owners: readonly Owner[]): Promise<Showing[]> {
  await lockRows(tx, 'person', ids(owners, 'person'))
  await lockRows(tx, 'organisation', ids(owners, 'organisation'))
  const showing = await lockEntitiesShowing(tx, owners)
  const there = new Set(showing.map(({ id }) => id))
  if (ids(owners, 'bizEntity').some((id) => !there.has(id))) throw lostRace('biz_entity')
  return showing
}

/**
 * Locks the entities that show these persons and organisations, and the entities among the owners.
 */
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
 * Where a change is reported: the product of its audit record, and one event for each product that
 * shows the records, since a reader of one product only gets that product's events.
 */
export function toldIn(showing: readonly Showing[], ids: readonly number[]) {
  const products = [...new Set(showing.map(({ productID }) => productID))]
  const productID = soleProduct(showing)
  if (products.length === 0) return { productID }
  return { productID, shares: products.map((one) => ({ productID: one, ids })) }
}

/**
 * Sets updatedDateFull of entities in whose nested structure something changed. The clock is read
 * here, under the entities' locks, so that the date of an entity never goes back.
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
