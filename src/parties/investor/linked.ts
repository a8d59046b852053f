import sql, { raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { namesAny, type Reference } from '../../platform/sql/identify.ts'
import type { Plan } from '../../platform/sql/plan.ts'
import { maskOf } from '../../platform/sql/render.ts'
import {
  givenColumns,
  loadRows,
  newIDs,
  type Row,
  rowFrom,
  type Table,
} from '../../platform/sql/rows.ts'
import { sealedColumns, sealRow, type Vault } from '../sealed/vault.ts'
import type { OwnerKind } from './identities.ts'
import { lockRows } from './locks.ts'
import { ownerKey } from './owned-kind.ts'

/** What the planning of one request shares between its steps. */
export type Planning = {
  tx: Tx
  actor: Actor
  vault: Vault
  plan: Plan
  /**
   * Whether fields that a record leaves out are cleared: a replacement (PUT) clears them, an
   * addition (POST) leaves them as they are in a record that exists already.
   */
  replaces: boolean
}

/** Persons and organisations: shared records that entities link to. */
export type LinkedKind = {
  kind: Exclude<OwnerKind, 'bizEntity'>
  table: Table
  reference: Reference
  visible: (actor: Actor) => Fragment
  /** Problems of a record as it is about to be stored. */
  judge?: (row: Row, path: string) => Problem[]
}

/**
 * One place of a request that is about a record, and what it says of the record:
 * - `detail` gives fields of a record, whether it exists already or not;
 * - `whole` replaces an existing record: with nothing but an id it clears all other fields;
 * - `new` creates a record; an existing record with that id is refused;
 * - `name` names a record that exists, or that another place of the request creates;
 * - `reference` names a record that existed before the request.
 */
export type Use = {
  as: 'detail' | 'whole' | 'new' | 'name' | 'reference'
  given: object
  path: string
}

/** One record of a request, however many places of the request are about it. */
export type LinkedRecord = {
  id: number
  isNew: boolean
  /**
   * The fields that the request gives, from the first place with details; undefined when no place
   * gives any.
   */
  given: object | undefined
  path: string
  changed: boolean
  /**
   * Tax numbers that change, by field: whether one was stored before, and whether one is stored
   * now.
   */
  sealed: Record<string, { from: boolean; to: boolean }>
}

/**
 * Keys (kind and id) of the records that existed before the request, or of those that it creates.
 */
export const keysOf = (
  kind: LinkedKind['kind'],
  records: Iterable<LinkedRecord>,
  which: { isNew: boolean },
) =>
  [...new Set(records)].flatMap(({ id, isNew }) =>
    isNew === which.isNew ? [ownerKey({ kind, id })] : [],
  )

/** The places of a request that mean the same record. */
export type Group = {
  /** Undefined: the record is new. */
  id: number | undefined
  uses: Use[]
  /** The first place with details, or else the first place: its fields are the ones that count. */
  winner: Use
  given: object | undefined
}

/**
 * Finds which records the places of a request mean, with one group for each record. Locks nothing.
 */
export async function groupLinked(
  planning: Planning,
  kind: LinkedKind,
  uses: readonly Use[],
): Promise<Group[]> {
  const found = await findAll(planning, kind, uses)
  refuseAsked(kind, uses, found)
  return groupsOf(kind, uses, found)
}

/**
 * Locks the records of groups and plans changes of their own fields. Returns the record of each
 * place.
 */
export async function planGroups(
  planning: Planning,
  kind: LinkedKind,
  groups: readonly Group[],
): Promise<Map<Use, LinkedRecord>> {
  const { tx, vault, plan } = planning
  const { table } = kind
  const current = await lockAndLoad(tx, kind, groups)
  const added = groups.filter(({ id }) => id === undefined)
  const [ids] = await newIDs(tx, [{ table, count: added.length }])
  const newID = new Map(added.map((group, i) => [group, ids![i]!]))

  const problems: Problem[] = []
  const records = new Map<Use, LinkedRecord>()
  for (const group of groups) {
    const { given, winner } = group
    const id = group.id ?? newID.get(group)!
    const before = current.get(id)
    const row = given && rowFor(planning, table, id, given, before)
    if (row) problems.push(...(kind.judge?.(row, winner.path) ?? []))
    if (row) problems.push(...sealRow(vault, table, row, before, winner.path))
    const changed = Boolean(row && plan.put(table, before, row, winner.path))
    const sealed = before && row ? sealedDifferences(table, before, row) : {}
    const record = { id, isNew: !before, given, path: winner.path, changed, sealed }
    for (const use of group.uses) records.set(use, record)
  }
  refuseAll(400, problems)
  return records
}

type Found = { id: number; external: string | null; visible: boolean }
type Given = Record<string, string | number | undefined>

const idOf = ({ reference }: LinkedKind, { given }: Use) =>
  (given as Given)[reference.fields[0]!] as number | undefined
const externalOf = ({ reference }: LinkedKind, { given }: Use) =>
  (given as Given)[reference.fields[1]!] as string | undefined

const hasDetails = ({ reference }: LinkedKind, { as, given }: Use) =>
  as === 'whole' || Object.keys(given).some((field) => !reference.fields.includes(field))

const namesOnly = ({ as }: Use) => as === 'name' || as === 'reference'

/**
 * The existing records that the request names by id or external id, whether visible to the caller
 * or not.
 */
async function findAll({ tx, actor }: Planning, kind: LinkedKind, uses: readonly Use[]) {
  const named = uses.filter(({ given }) => namesAny(kind.reference, given))
  if (named.length === 0) return known([])
  const [id, external] = kind.reference.identity.columns
  const ids = named.flatMap((use) => idOf(kind, use) ?? [])
  const externals = named.flatMap((use) => (idOf(kind, use) ? [] : (externalOf(kind, use) ?? [])))
  const rows = await tx.query<Found>(sql`
    select ${raw(`r.${id}`)} as id, ${raw(`r.${external}`)} as external,
      ${kind.visible(actor)} as visible
    from ${raw(kind.table.name)} r
    where ${raw(`r.${id}`)} = any(${ids}::bigint[])
      or ${raw(`r.${external}`)} = any(${externals}::text[])`)
  return known(rows)
}

type Known = { byID: Map<number, Found>; byExternal: Map<string, Found> }

const known = (rows: readonly Found[]): Known => ({
  byID: new Map(rows.map((row) => [row.id, row])),
  byExternal: new Map(rows.flatMap((row) => (row.external === null ? [] : [[row.external, row]]))),
})

/** The existing record that a place means, if any; a native id wins over an external id. */
const meant = (kind: LinkedKind, use: Use, { byID, byExternal }: Known) => {
  const id = idOf(kind, use)
  return id ? byID.get(id) : byExternal.get(externalOf(kind, use) ?? '')
}

/**
 * Refuses places that name no usable record. A native id must exist and be visible to the caller.
 * An external id may be new; if it is taken, the record must be visible and not asked for as `new`.
 */
function refuseAsked(kind: LinkedKind, uses: readonly Use[], found: Known) {
  const [idField, externalField] = kind.reference.fields as [string, string]
  const brought = new Set(
    uses.flatMap((use) => (namesOnly(use) ? [] : (externalOf(kind, use) ?? []))),
  )
  const missing: Problem[] = []
  const taken: Problem[] = []
  for (const use of uses) {
    const one = meant(kind, use, found)
    const id = idOf(kind, use)
    const external = externalOf(kind, use)
    const field = inside(use.path, (id ? idField : externalField)!)
    const shown = `${field} ${JSON.stringify(id ?? external)}`
    const mustBeThere =
      id !== undefined ||
      use.as === 'reference' ||
      (use.as === 'name' && !(external !== undefined && brought.has(external)))
    if (mustBeThere && !one?.visible)
      missing.push({ code: 'not_found', field, message: `No record was found for ${shown}.` })
    else if (one && (use.as === 'new' || !one.visible))
      taken.push({ code: 'duplicate', field, message: `Another ${kind.kind} has ${shown}.` })
  }
  refuseAll(404, missing)
  refuseAll(409, taken)
}

function groupsOf(kind: LinkedKind, uses: readonly Use[], found: Known): Group[] {
  const groups = new Map<unknown, { id: number | undefined; uses: Use[] }>()
  const twice: Problem[] = []
  for (const use of uses) {
    const id = meant(kind, use, found)?.id
    // A place without any id is a new record of its own.
    const key = id ?? externalOf(kind, use) ?? use
    const group = groups.get(key) ?? { id, uses: [] }
    if (use.as === 'new' && group.uses.length > 0) twice.push(givenTwice(kind, use))
    group.uses.push(use)
    groups.set(key, group)
  }
  refuseAll(400, twice)
  return [...groups.values()].map((group) => {
    const detailed = group.uses.find((use) => hasDetails(kind, use))
    const winner = detailed ?? group.uses[0]!
    const given = detailed || group.id === undefined ? winner.given : undefined
    return { ...group, winner, given }
  })
}

function givenTwice({ reference }: LinkedKind, { path }: Use): Problem {
  const field = inside(path, reference.fields[1]!)
  return { code: 'given_twice', field, message: `${field} is given twice.` }
}

async function lockAndLoad(tx: Tx, { kind, table }: LinkedKind, groups: readonly Group[]) {
  const ids = groups.flatMap(({ id }) => id ?? [])
  await lockRows(tx, kind, ids)
  return new Map((await loadRows(tx, table, ids)).map((row) => [row[table.key] as number, row]))
}

function rowFor(
  { replaces }: Planning,
  table: Table,
  id: number,
  given: object,
  before: Row | undefined,
): Row {
  if (replaces || !before) return { ...rowFrom(table, given), [table.key]: id }
  // A tax number that is left out stays: its mask stands for it.
  const masks = sealedColumns(table).map(({ name }) => [name, before[maskOf(name)]])
  return { ...before, ...Object.fromEntries(masks), ...givenColumns(table, given), [table.key]: id }
}

const sealedDifferences = (table: Table, before: Row, after: Row): LinkedRecord['sealed'] =>
  Object.fromEntries(
    sealedColumns(table)
      .filter(({ name }) => before[name] !== after[name])
      .map(({ name, field }) => [field, { from: before[name] !== null, to: after[name] !== null }]),
  )

/**
 * The tax numbers that change, for the audit trail: comparing masks would miss changes, since two
 * masks may be equal.
 */
export const sealedChanges = ({ sealed }: LinkedRecord) => {
  const shown = (isThere: boolean) => (isThere ? '***' : null)
  return Object.fromEntries(
    Object.entries(sealed).map(([field, { from, to }]) => [
      field,
      { from: shown(from), to: shown(to) },
    ]),
  )
}

/**
 * The tax numbers that change in records nested inside another, each with the path of its record.
 */
export function sealedIn(records: Iterable<LinkedRecord>): object {
  const changed = [...new Set(records)].filter(({ sealed }) => Object.keys(sealed).length > 0)
  if (changed.length === 0) return {}
  return { taxNumbers: changed.map((one) => ({ path: one.path, ...sealedChanges(one) })) }
}
