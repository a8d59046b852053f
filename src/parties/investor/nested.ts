import sql, { empty, raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Code } from '../../platform/problem-codes.ts'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import { inside, itemOf } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Plan } from '../../platform/sql/plan.ts'
import { newIDs, type Row, rowFrom, sameRow } from '../../platform/sql/rows.ts'
import type { Owner } from './identities.ts'
import {
  externalColumn,
  externalOf,
  type NestedKind,
  ownedBy,
  ownerKey,
  ownerOf,
  rowsOfOwners,
} from './owned-kind.ts'
import { visibleOwned } from './scope.ts'
import { unmask } from './unmask.ts'

/** The records of one kind that a request nests in one owner. */
export type NestedList = {
  owner: Owner
  /** The owner is created by this request and has no records yet. */
  isNew: boolean
  /** Undefined when the owner's records stay as they are. */
  records: readonly object[] | undefined
  path: string
}

type Given = { list: NestedList; row: Row; path: string; matched: boolean }

/**
 * Plans the changes that make each owner's records equal to its list: records with an id of the
 * owner's are changed, others are added, and those left out are deleted. Returns the owners whose
 * records change.
 */
export async function planNested(
  tx: Tx,
  actor: Actor,
  kind: NestedKind,
  lists: readonly NestedList[],
  plan: Plan,
): Promise<Owner[]> {
  const given = lists.flatMap((list) => givenOf(kind, list))
  refuseAll(400, repeated(kind, given))
  const replaced = lists.filter(({ records, isNew }) => records !== undefined && !isNew)
  const current = await rowsOfOwners(
    tx,
    kind,
    replaced.map(({ owner }) => owner),
  )
  const kept = matchAll(kind, given, current)
  await refuseStrangers(tx, actor, kind, given)
  await numberNew(tx, kind, given)
  return planChanges(kind, given, current, kept, plan)
}

const givenOf = (kind: NestedKind, list: NestedList): Given[] =>
  (list.records ?? []).map((record, i) => {
    const row = rowFrom(kind.table, record, ownedBy(kind, list.owner))
    // A native id in the record of a new owner is ignored: no record of that owner exists yet.
    if (list.isNew) row[kind.table.key] = null
    return { list, row, path: itemOf(list.path, i), matched: false }
  })

/** Refuses a request that names one record twice. */
function repeated(kind: NestedKind, given: readonly Given[]): Problem[] {
  const seen = new Set<string>()
  const [idField, externalField] = kind.reference.fields as [string, string]
  return given.flatMap(({ row, path }) => {
    const id = row[kind.table.key]
    const [field, value] = id ? [idField, id] : [externalField, externalOf(kind, row)]
    const name = `${field} ${value}`
    if (value === null || !seen.has(name)) {
      seen.add(name)
      return []
    }
    const at = inside(path, field)
    const message = `${at} is given twice: ${JSON.stringify(value)}.`
    return [{ code: 'given_twice', field: at, message }]
  })
}

/**
 * Finds the stored row that each record is about. A record without any id matches a row of its
 * owner that holds the same values.
 */
function matchAll(kind: NestedKind, given: readonly Given[], current: readonly Row[]) {
  const { key } = kind.table
  const free = new Map<string, Row[]>()
  for (const row of current) {
    const owner = ownerKey(ownerOf(kind, row))
    free.set(owner, [...(free.get(owner) ?? []), row])
  }
  const kept = new Map<number, Row>()
  const changedExternals: Problem[] = []
  const masks: Problem[] = []
  const match = (one: Given, isIt: (row: Row) => boolean) => {
    const rows = free.get(ownerKey(one.list.owner)) ?? []
    const place = rows.findIndex(isIt)
    if (place < 0) return
    const [row] = rows.splice(place, 1)
    one.row[key] = row![key]!
    if (!keepExternal(kind, one.row, row!)) changedExternals.push(fixedExternal(kind, one.path))
    masks.push(...unmask(kind, one.row, row, one.path))
    one.matched = true
    kept.set(row![key] as number, row!)
  }
  const unmatched = () => given.filter(({ matched }) => !matched)
  for (const one of unmatched())
    if (one.row[key]) match(one, (row) => row[key] === one.row[key])
    else if (externalOf(kind, one.row))
      match(one, (row) => externalOf(kind, row) === externalOf(kind, one.row))
  for (const one of unmatched())
    if (!one.row[key] && !externalOf(kind, one.row))
      match(one, (row) => sameRow(kind.table, { ...row, [key]: null }, one.row))
  for (const one of unmatched()) masks.push(...unmask(kind, one.row, undefined, one.path))
  refuseAll(400, [...changedExternals, ...masks])
  return kept
}

/**
 * Keeps a fixed external id that the request leaves out; returns false if the request would change
 * it.
 */
export function keepExternal(kind: NestedKind, row: Row, before: Row): boolean {
  const column = externalColumn(kind)
  if (!kind.fixedExternalID || !column) return true
  row[column] ??= before[column]!
  return row[column] === before[column]
}

export function fixedExternal(kind: NestedKind, path: string): Problem {
  const field = inside(path, kind.reference.fields[1]!)
  return { code: 'immutable', field, message: `${field} cannot be changed after creation.` }
}

/** Refuses ids that are not the owner's: they belong to another record, or to none. */
async function refuseStrangers(tx: Tx, actor: Actor, kind: NestedKind, given: readonly Given[]) {
  const { name, key } = kind.table
  const column = externalColumn(kind)
  const external = column ? raw(`r.${column}`) : sql`null`
  const strangers = given.filter(
    ({ row, matched }) => !matched && (row[key] || externalOf(kind, row)),
  )
  if (strangers.length === 0) return
  const ids = strangers.flatMap(({ row }) => (row[key] ? [row[key]] : []))
  const externals = strangers.flatMap(({ row }) => (row[key] ? [] : [externalOf(kind, row)]))
  const found = await tx.query<{ id: number; external: string | null }>(sql`
    select ${raw(`r.${key}`)} as id, ${external} as external from ${raw(name)} r
    where (${raw(`r.${key}`)} = any(${ids}::bigint[])
        ${column ? sql`or ${external} = any(${externals}::text[])` : empty})
      and ${visibleOwned(actor, 'r', kind.owners)}`)
  const known = new Set(found.flatMap((one) => [one.id, one.external]))
  const problems = strangers.map((one) => strangerProblem(kind, one, known))
  for (const status of [400, 404, 409] as const)
    refuseAll(
      status,
      problems.flatMap((one) => (one?.status === status ? [one.problem] : [])),
    )
}

function strangerProblem(kind: NestedKind, { row, list, path }: Given, known: Set<unknown>) {
  const [idField, externalField] = kind.reference.fields as [string, string]
  const id = row[kind.table.key]
  const value = id || externalOf(kind, row)
  const field = inside(path, (id ? idField : externalField)!)
  const problem = (status: 400 | 404 | 409, code: Code, words: string) => ({
    status,
    problem: { code, field, message: words },
  })
  const shown = `${field} ${JSON.stringify(value)}`
  if (!known.has(value!))
    return id ? problem(404, 'not_found', `No record was found for ${shown}.`) : undefined
  if (list.isNew) return problem(409, 'duplicate', `Another ${kind.what} has ${shown}.`)
  return problem(400, 'belongs_to_another', `${shown} belongs to another record.`)
}

async function numberNew(tx: Tx, kind: NestedKind, given: readonly Given[]) {
  const added = given.filter(({ matched }) => !matched)
  const [ids] = await newIDs(tx, [{ table: kind.table, count: added.length }])
  for (const [i, { row }] of added.entries()) row[kind.table.key] = ids![i]!
}

function planChanges(
  kind: NestedKind,
  given: readonly Given[],
  current: readonly Row[],
  kept: ReadonlyMap<number, Row>,
  plan: Plan,
): Owner[] {
  const { table } = kind
  const changed = new Map<string, Owner>()
  const change = (owner: Owner) => changed.set(ownerKey(owner), owner)
  for (const row of current) {
    if (kept.has(row[table.key] as number)) continue
    plan.remove(table, row[table.key] as number)
    change(ownerOf(kind, row))
  }
  const paths = new Map(given.map(({ row, path }) => [row[table.key], path]))
  for (const [list, rows] of rowsByList(given)) {
    for (const row of kind.settle?.(rows) ?? rows) {
      const id = row[table.key] as number
      if (plan.put(table, kept.get(id), row, paths.get(id))) change(list.owner)
    }
  }
  return [...changed.values()]
}

function rowsByList(given: readonly Given[]): Map<NestedList, Row[]> {
  const rows = new Map<NestedList, Row[]>()
  for (const { list, row } of given) {
    const own = rows.get(list) ?? []
    own.push(row)
    rows.set(list, own)
  }
  return rows
}
