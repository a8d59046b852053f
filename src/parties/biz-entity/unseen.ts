import sql, { join, raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import type { Reference } from '../../platform/sql/identify.ts'
import {
  bizEntityReference,
  dealerGroupReference,
  type OwnerKind,
  organisationReference,
  parentReference,
  personReference,
} from '../investor/identities.ts'
import { visibleOwner } from '../investor/scope.ts'

/** The references by which changes name linked entities, persons and organisations. */
const links: Record<OwnerKind, readonly Reference[]> = {
  bizEntity: [parentReference, dealerGroupReference],
  person: [personReference],
  organisation: [organisationReference],
}

/** SQL for the changes of a request kept for approval, and for whether it has been carried out. */
type Asked = { changes: Fragment; isDone: Fragment }

/**
 * Whether changes name an entity, person or organisation in a link or a party that the caller
 * cannot see, except names that stay as they were. Persons and organisations no longer count once
 * the request is done: they belong to the investor then. A delete does not require that the caller
 * sees the investor's parents.
 */
export function namesUnseen(actor: Actor, { changes, isDone }: Asked): Fragment {
  if (actor.productIDs === null) return sql`false`
  return sql`(${changes} -> 'deleted' is null and exists (
    with named as materialized (${namedIn(sql`${changes}::jsonb`)})
    ${unseen(actor, 'bizEntity')}
    union all (${unseen(actor, 'person')} and not ${isDone})
    union all (${unseen(actor, 'organisation')} and not ${isDone})))`
}

/** The names in all records of the changes, except records that are the same before and after. */
const namedIn = (changes: Fragment) => sql`
  select f.key as field, n.name #>> '{}' as name
  from (
    ${records(changes, '$')}
    except (${records(changes, '$.*.from')} intersect ${records(changes, '$.*.to')})) r (record)
  cross join jsonb_each(r.record) f
  cross join jsonb_path_query(f.value, '$.**') n (name)
  where jsonb_typeof(n.name) in ('number', 'string')`

/** Leaves out the name of the entity to which a link belongs: that name may change by itself. */
const records = (changes: Fragment, place: string) => sql`
  select record - ${bizEntityReference.fields}::text[]
  from jsonb_path_query(${changes}, ${raw(`'${place}.** ? (@.type() == "object")'`)}) record`

function unseen(actor: Actor, kind: OwnerKind): Fragment {
  const [{ identity }] = links[kind] as [Reference]
  const isNamed = links[kind].flatMap(({ fields: [id, external] }) => [
    sql`${raw(`r.${identity.columns[0]}`)} = any(array(
      select name::bigint from named where field = ${id}))`,
    sql`${raw(`r.${identity.columns[1]}`)} = any(array(
      select name from named where field = ${external}))`,
  ])
  return sql`select 1 from ${raw(identity.table)} r
    where (${join(isNamed, ' or ')}) and not (${visibleOwner[kind](actor)})`
}
