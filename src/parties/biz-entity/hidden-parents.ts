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

/** How a link names its parent and its dealer group. */
const fields = [parentReference, dealerGroupReference].flatMap((how) => how.fields)
/** How an entity names itself: a link may lead to one that is made with it, and not there yet. */
const [, itself] = bizEntityReference.fields as [string, string]

/**
 * A page of changes without the parent links that GET /BizEntity would not show to the caller. The
 * trail itself keeps them, being sealed; what a link led to and is gone since, nobody can place.
 * Figures of the trail are texts: none loses a digit by being read here.
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

/** The names that links in a change give, also where it says what they were and became. */
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

/** The same without what names an entity that is not among those seen. */
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
