import sql, { empty, raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import type { OwnerKind } from './identities.ts'

/**
 * Which investors a caller may see. A person or organisation is visible through the entities it is
 * linked to; one without links is visible to everybody.
 */

/** `entity` is an alias of biz_entity. */
export const visibleEntity = (actor: Actor, entity: string): Fragment =>
  inScope(actor, `${entity}.product_id`)

/** `id` is the column that holds the person's id. */
export const visiblePerson = (actor: Actor, id: string) =>
  visibleThrough(actor, 'person_link', 'person_id', id)

/**
 * An organisation without entities shows its persons, so it is hidden from callers who cannot see
 * all of them.
 */
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
  // `offset 0` makes PostgreSQL look up one record's few links instead of gathering all links
  // first.
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

/** The visibility condition with which identify.ts finds owners of a kind, under its alias `r`. */
export const visibleOwner: Record<OwnerKind, (actor: Actor) => Fragment> = {
  bizEntity: (actor) => visibleEntity(actor, 'r'),
  person: (actor) => visiblePerson(actor, 'r.person_id'),
  organisation: (actor) => visibleOrganisation(actor, 'r.organisation_id'),
}
