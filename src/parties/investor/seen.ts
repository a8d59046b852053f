import sql, { raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { isNear } from '../../platform/sql/by-others.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { behind, pageBy, sortedBy, type Wanted } from '../../platform/sql/paging.ts'
import { visibleEntity, visiblePerson } from './scope.ts'

/**
 * Lists for callers who see some products only. Record by record, a caller who sees a hundred of a
 * million persons would have half a million judged before the first that is theirs. Only the first
 * records are judged so; if they do not fill the page, all ids that the caller sees are gathered,
 * and those of the page are judged as well: who sees a record is decided in one place, scope.ts.
 */

type List = {
  table: string
  alias: string
  /** Whether the caller sees a row, and a select of the ids of all rows that the caller sees. */
  visible: Fragment
  ids: Fragment
}

/**
 * How many of the first rows are judged: enough where a twentieth is the caller's, and no more than
 * take as long as gathering all ids of a large register.
 */
const judgedFor = (count: number) => Math.min(1_000 + 20 * count, 20_000)

export function pageOfSeen(wanted: Wanted, { table, alias, visible, ids }: List): Fragment {
  const [name, id] = [raw(alias), `${alias}.${table}_id`]
  const gathered = sql`
    select ${name}.* from ${raw(table)} ${name} where ${raw(id)} = any(array(
      select s.id from (${ids}) s
      where true ${pageBy(wanted, 's.id', `(select max(${table}_id) from ${table})`)}))
      and ${visible}`
  if (!isNear(wanted)) return gathered
  const { size, skip } = wanted
  const count = Number(skip) + size
  const order = sortedBy(wanted, id)
  return sql`
    with looked_at as materialized (
      select * from (
        select ${name}.* from ${raw(table)} ${name} where true ${behind(wanted, id)}
        order by ${order} limit ${judgedFor(count)}) ${name}
      where ${visible} limit ${count}),
    found as (select (select count(*) from looked_at) as rows)
    select * from (
      select * from looked_at ${name} order by ${order} limit ${size} offset ${Number(skip)}) page
    where (select rows from found) = ${count}
    union all
    select * from (${gathered}) page where (select rows from found) < ${count}`
}

/** The ids of the records that the caller's entities link to. */
const linked = (actor: Actor, links: string, column: string) => sql`
  select ${raw(`l.${column}`)} as id from ${raw(links)} l join biz_entity e using (biz_entity_id)
  where ${visibleEntity(actor, 'e')}`

/** The ids of the records that no entity links to. */
const unlinked = (table: string, links: string) =>
  raw(`
  select r.${table}_id as id from ${table} r
  where not exists (select 1 from ${links} l where l.${table}_id = r.${table}_id)`)

export const seenPersons = (actor: Actor): Fragment => sql`
  ${linked(actor, 'person_link', 'person_id')} union ${unlinked('person', 'person_link')}`

export const seenOrganisations = (actor: Actor): Fragment => sql`
  ${linked(actor, 'organisation_link', 'organisation_id')}
  union select u.id from (${unlinked('organisation', 'organisation_link')} offset 0) u
  where not exists (select 1 from organisation_person w
    where w.organisation_id = u.id and not ${visiblePerson(actor, 'w.person_id')} offset 0)`
