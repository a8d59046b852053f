import sql, { empty, raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import type { OwnerKind } from './identities.ts'

/**
 * What a caller may see of the investors. A person or organisation is seen through the entities it
 * is linked to; one that is linked to none is everybody's.
 */

/** `entity` is an alias of biz_entity. */
export const visibleEntity = (actor: Actor, entity: string): Fragment =>
  inScope(actor, `${entity}.product_id`)

/** `id` is the column that holds the person's id. */
export const visiblePerson = (actor: Actor, id: string) =>
  visibleThrough(actor, 'person_link', 'person_id', id)

/** One that is linked to no entity shows its persons: so it is not for who cannot see them all. */
export const visibleOrganisation = (actor: Actor, id: string) =>
  visibleThrough(actor, 'organisation_link', 'organisation_id', id, () => {
    const own = raw(`w.organisation_id = ${id}`)
    return sql`and not exists (select 1 from organisation_person w
      where ${own} and not ${visiblePerson(actor, 'w.person_id')} offset 0)`
  })

function visibleThrough(
  actor: Actor,
  links: string,
  column: string,
  id: string,
  whenUnlinked = () => empty,
): Fragment {
  if (actor.productIDs === null) return sql`true`
  const own = raw(`l.${column} = ${id}`)
  // offset 0: one record's few links are looked up, not all links there are gathered first.
  return sql`(
    exists (select 1 from ${raw(links)} l join biz_entity e using (biz_entity_id)
      where ${own} and ${visibleEntity(actor, 'e')} offset 0)
    or (not exists (select 1 from ${raw(links)} l where ${own} offset 0) ${whenUnlinked()}))`
}

/** `record` is an alias of a table whose rows have one owner each. */
export function visibleOwned(actor: Actor, record: string, kinds: readonly OwnerKind[]): Fragment {
  if (actor.productIDs === null) return sql`true`
  const entity = sql`exists (select 1 from biz_entity e
    where e.biz_entity_id = ${raw(`${record}.biz_entity_id`)} and ${visibleEntity(actor, 'e')})`
  if (kinds.length === 1) return entity
  return sql`(
    ${entity}
    or (${raw(`${record}.person_id`)} is not null
      and ${visiblePerson(actor, `${record}.person_id`)})
    or (${raw(`${record}.organisation_id`)} is not null
      and ${visibleOrganisation(actor, `${record}.organisation_id`)}))`
}

/** The condition by which identify.ts finds owners of a kind, under its alias r. */
export const visibleOwner: Record<OwnerKind, (actor: Actor) => Fragment> = {
  bizEntity: (actor) => visibleEntity(actor, 'r'),
  person: (actor) => visiblePerson(actor, 'r.person_id'),
  organisation: (actor) => visibleOrganisation(actor, 'r.organisation_id'),
}
