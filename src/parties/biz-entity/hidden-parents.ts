import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import type { Answer, Shown } from '../../platform/sql/render.ts'
import {
  bizEntityReference,
  dealerGroupReference,
  parentReference,
} from '../investor/identities.ts'
import { visibleEntity } from '../investor/scope.ts'

/** The fields in which a link names its parent and its dealer group. */
const fields = [parentReference, dealerGroupReference].flatMap((how) => how.fields)
/**
 * The field with an entity's own external id. A link may name an entity that the same change
 * creates, which is not stored yet.
 */
const [, itself] = bizEntityReference.fields as [string, string]

/**
 * Removes from a page of changes the parent links that GET /BizEntity would not show to the caller.
 * They cannot be removed from the audit trail itself, because it is sealed. A link to an entity
 * deleted since is removed too, because nobody can tell any more who may see that entity.
 * Figures in the audit trail are texts, so JSON.parse loses no digits.
 */
export async function withoutHiddenParents<Page extends Shown>(
  handle: Sql,
  actor: Actor,
  page: Page,
): Promise<Page | Answer> {
  const namesOne = fields.some((field) => page.json.includes(`"${field}"`))
  if (actor.productIDs === null || !namesOne) return page
  const records = JSON.parse(page.json.toString())
  const seen = await visibleOf(handle, actor, namesIn(records, fields))
  const known = new Set([...seen, ...namesIn(records, [itself])])
  return { ...page, json: JSON.stringify(without(records, known)) }
}

type Name = string | number

/** The values of the `by` fields anywhere in a change, also inside { from, to }. */
function namesIn(value: unknown, by: readonly string[]): Name[] {
  if (typeof value !== 'object' || value === null) return []
  return [...ownNames(value, by), ...Object.values(value).flatMap((one) => namesIn(one, by))]
}

function ownNames(record: object, by: readonly string[]): Name[] {
  return Object.entries(record)
    .filter(([field]) => by.includes(field))
    .flatMap(([, name]) => (typeof name === 'object' ? Object.values(name ?? {}) : [name]))
    .filter((name) => name !== null)
}

async function visibleOf(handle: Sql, actor: Actor, names: readonly Name[]): Promise<Name[]> {
  const ids = names.filter((name) => typeof name === 'number')
  const externals = names.filter((name) => typeof name === 'string')
  const found = await handle.query<{ id: number; external: string | null }>(sql`
    select e.biz_entity_id as id, e.external_biz_entity_id as external from biz_entity e
    where (e.biz_entity_id = any(${ids}::int[])
        or e.external_biz_entity_id = any(${externals}::text[]))
      and ${visibleEntity(actor, 'e')}`)
  return found.flatMap(({ id, external }) => (external === null ? [id] : [id, external]))
}

/** Removes every record that names an entity outside `seen` as parent or dealer group. */
function without(value: unknown, seen: ReadonlySet<Name>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const isShown = (one: unknown) =>
    typeof one !== 'object' || one === null || ownNames(one, fields).every((name) => seen.has(name))
  if (Array.isArray(value)) return value.filter(isShown).map((one) => without(one, seen))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => isShown(one))
      .map(([field, one]) => [field, without(one, seen)]),
  )
}
