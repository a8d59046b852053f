import sql, { raw } from 'sql-template-tag'
import { Type } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { invalid, type Problem, refuseAll } from '../../platform/refusal.ts'
import { DateOnly, Id, optional } from '../../platform/shape/fields.ts'
import { type ItemPath, inside, itemOf } from '../../platform/shape/path.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identifyAll, identifyOptionals, type Reference } from '../../platform/sql/identify.ts'
import { lockNumbers } from '../../platform/sql/lock-numbers.ts'
import type { Plan } from '../../platform/sql/plan.ts'
import { columns } from '../../platform/sql/render.ts'
import { defineTable, type Row, rowColumns, rowFrom } from '../../platform/sql/rows.ts'
import { dealerGroupReference, parentReference } from '../investor/identities.ts'
import { ownerKey } from '../investor/owned-kind.ts'
import { visibleEntity } from '../investor/scope.ts'
import { BizEntityParent, type NestedParent } from './parent-schema.ts'

/** The parent links. All links of a child are replaced together. */
export const parentTable = defineTable('biz_entity_parent', {
  key: 'biz_entity_id',
  record: Type.Object({
    bizEntityID: Id,
    parentBizEntityID: Id,
    dealerGroupBizEntityID: optional(Id),
    activeFrom: DateOnly,
    activeTo: optional(DateOnly),
  }),
})

const parentColumns = columns(BizEntityParent, 'l', {
  externalBizEntityId: 'c.external_biz_entity_id',
  parentExternalBizEntityId: 'pa.external_biz_entity_id',
  externalDealerGroupBizEntityId: 'dg.external_biz_entity_id',
})

/** Parent links from the table or from a page of it, without those that the caller cannot see. */
export const selectParent = (actor: Actor, where: Fragment, from = sql`biz_entity_parent`) => sql`
  select ${parentColumns}
  from ${from} l
  join biz_entity c on c.biz_entity_id = l.biz_entity_id
  join biz_entity pa on pa.biz_entity_id = l.parent_biz_entity_id
  left join biz_entity dg on dg.biz_entity_id = l.dealer_group_biz_entity_id
  where ${seen(actor)} and ${where}`

const seen = (actor: Actor): Fragment =>
  actor.productIDs === null
    ? sql`true`
    : sql`${visibleEntity(actor, 'pa')}
        and (dg.biz_entity_id is null or ${visibleEntity(actor, 'dg')})`

/**
 * A lock for everyone who writes parent links: two at once could together close a circle that
 * neither sees. It is taken before any other lock.
 */
export const lockParents = (tx: Tx) =>
  tx.query(sql`select pg_advisory_xact_lock(${lockNumbers.parents})`)

export type ParentList = {
  entityID: number
  isNew: boolean
  links: readonly NestedParent[]
  path: string
}

export type PlannedParents = {
  /** The entities whose links change. */
  changed: Set<number>
  /** Existing parents and dealer groups that links lead to, by kind and id. */
  found: string[]
}

/** Plans the changes that make each entity's links equal to its list. */
export async function planParents(
  tx: Tx,
  actor: Actor,
  lists: readonly ParentList[],
  /** Ids of the entities in this request by external id: a link may name one of them. */
  brought: ReadonlyMap<string, number>,
  plan: Plan,
): Promise<PlannedParents> {
  const given = lists.flatMap((list) =>
    list.links.map((link, i) => ({ list, link, path: itemOf(list.path, i) })),
  )
  const links = given.map(({ link }) => link)
  const path = (i: number) => given[i]!.path
  const find = (how: Reference, required: boolean) =>
    findEntities(tx, actor, how, links, { path, brought, required })
  const parents = await find(parentReference, true)
  const dealers = await find(dealerGroupReference, false)
  const rows = given.map(({ list, link }, i) =>
    rowFrom(parentTable, link, {
      biz_entity_id: list.entityID,
      parent_biz_entity_id: parents[i]!,
      dealer_group_biz_entity_id: dealers[i] ?? null,
    }),
  )
  refuseAll(400, wrongLinks(rows, path))
  const changed = planChanges(await currentLinks(tx, actor, lists), lists, rows, plan)
  const own = new Set(brought.values())
  const found = [...parents, ...dealers].flatMap((id) =>
    id === undefined || own.has(id) ? [] : ownerKey({ kind: 'bizEntity', id }),
  )
  return { changed, found }
}

type Finding = {
  path: ItemPath
  brought: ReadonlyMap<string, number>
  required: boolean
}

async function findEntities(
  tx: Sql,
  actor: Actor,
  how: Reference,
  links: readonly NestedParent[],
  { path, brought, required }: Finding,
): Promise<(number | undefined)[]> {
  const [idField, externalField] = how.fields as [string, string]
  const own = links.map((link) => {
    const given = link as Record<string, string | number>
    return given[idField] ? undefined : brought.get(String(given[externalField]))
  })
  const asked = links.flatMap((_, i) => (own[i] ? [] : [i]))
  const resolution = {
    visible: visibleEntity(actor, 'r'),
    path: (i: number) => path(asked[i]!),
  }
  const found = await (required ? identifyAll : identifyOptionals)(
    tx,
    how,
    asked.map((i) => links[i]!),
    resolution,
  )
  const ids = new Map(asked.map((place, i) => [place, found[i]]))
  return links.map((_, i) => own[i] ?? ids.get(i))
}

function wrongLinks(rows: readonly Row[], path: ItemPath): Problem[] {
  const seenLinks = new Set<string>()
  return rows.flatMap((row, i): Problem[] => {
    const field = inside(path(i), 'parentBizEntityID')
    if (row.biz_entity_id === row.parent_biz_entity_id) return [ownParent(field)]
    const key = [row.biz_entity_id, row.parent_biz_entity_id, row.active_from].join(' ')
    if (seenLinks.has(key))
      return [
        { code: 'given_twice', field, message: `${field} is given twice with one activeFrom.` },
      ]
    seenLinks.add(key)
    return []
  })
}

export const ownParent = (field: string): Problem => ({
  code: 'own_parent',
  field,
  message: `${field} is the entity itself.`,
})

type Link = Row & { hidden: boolean }

/** The stored links. A hidden link leads to an entity that the caller cannot see, and stays. */
async function currentLinks(tx: Sql, actor: Actor, lists: readonly ParentList[]): Promise<Link[]> {
  const ids = lists.flatMap(({ entityID, isNew }) => (isNew ? [] : [entityID]))
  if (ids.length === 0) return []
  return tx.query<Link>(sql`
    select ${rowColumns(parentTable, 'l')}, not (${seen(actor)}) as hidden
    from biz_entity_parent l
    join biz_entity pa on pa.biz_entity_id = l.parent_biz_entity_id
    left join biz_entity dg on dg.biz_entity_id = l.dealer_group_biz_entity_id
    where l.biz_entity_id = any(${ids}::int[])`)
}

function planChanges(
  current: readonly Link[],
  lists: readonly ParentList[],
  rows: readonly Row[],
  plan: Plan,
): Set<number> {
  const changed = new Set<number>()
  const of = <T extends Row>(all: readonly T[], id: number) =>
    all.filter((row) => row.biz_entity_id === id)
  for (const { entityID, isNew } of lists) {
    const before = isNew ? [] : of(current, entityID)
    const after = [...before.filter(({ hidden }) => hidden), ...of(rows, entityID)]
    if (plan.replace(parentTable, entityID, before, after)) changed.add(entityID)
  }
  return changed
}

/** Refuses written links by which an entity would be its own ancestor on any day. */
export async function refuseCycles(tx: Tx, entityIDs: Iterable<number>): Promise<void> {
  const ids = [...entityIDs]
  if (ids.length === 0) return
  const [cycle] = await tx.query<{ id: number; period: string }>(sql`
    with recursive ancestor as (
      select l.biz_entity_id as child, l.parent_biz_entity_id as id, ${activePeriod} as period
      from biz_entity_parent l where l.biz_entity_id = any(${ids}::int[])
      union
      select a.child, l.parent_biz_entity_id, a.period * ${activePeriod}
      from ancestor a join biz_entity_parent l on l.biz_entity_id = a.id
      where a.id <> a.child and a.period && ${activePeriod})
    select child as id, period::text from ancestor where id = child limit 1`)
  if (cycle)
    throw invalid(
      'cycle',
      `The parent links of the entity ${cycle.id} would lead back to itself in ${cycle.period}.`,
      'parentBizEntityID',
    )
}

const activePeriod = raw(`daterange(l.active_from, l.active_to, '[]')`)
