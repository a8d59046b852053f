import sql, { join, raw } from 'sql-template-tag'
import type { TSchema } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { type Problem, Refusal, refuseAll } from '../../platform/refusal.ts'
import { changesBetween, masked, recordOf } from '../../platform/shape/mask.ts'
import { type ItemPath, inside } from '../../platform/shape/path.ts'
import { type NewEvent, sharesOf, soleProduct } from '../../platform/sql/event.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { identify, identifyAll, namesAny, type Reference } from '../../platform/sql/identify.ts'
import { planFor } from '../../platform/sql/plan.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { lostRace, newIDs, type Row, rowColumns, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { columnOfOwner, type Owner, type OwnerKind, ownerKinds } from './identities.ts'
import { lockOwners, type Showing, toldIn, touch } from './locks.ts'
import { fixedExternal, keepExternal } from './nested.ts'
import {
  lookingAt,
  type OwnedKind,
  ownedBy,
  ownerKey,
  ownerOf,
  rowsOfOwners,
} from './owned-kind.ts'
import { visibleOwned, visibleOwner } from './scope.ts'
import { unmask } from './unmask.ts'

/**
 * The direct endpoints of records that investors own (addresses, communications, payment details):
 * the same rules for each kind.
 */

export async function createOwned(
  tx: Tx,
  actor: Actor,
  kind: OwnedKind,
  schema: TSchema,
  inputs: readonly object[],
  path: ItemPath,
): Promise<Written> {
  const { table } = kind
  const owners = await ownersOf(tx, actor, kind, inputs, path)
  refuseAll(400, repeatedExternals(kind, inputs, path))
  const showing = await lockOwners(tx, owners)
  const [ids] = await newIDs(tx, [{ table, count: inputs.length }])
  const rows = inputs.map((input, i) => ({
    ...rowFrom(table, input, ownedBy(kind, owners[i]!)),
    [table.key]: ids![i]!,
  }))
  refuseAll(
    400,
    rows.flatMap((row, i) => unmask(kind, row, undefined, path(i))),
  )
  const { beside } = await writeRows(tx, kind, rows, [], path)
  await touch(tx, showing)
  const answer = await render(tx, kind.select(among(kind, ids!), actor))
  const changes = masked({ items: schema } as TSchema, inputs)
  const told = isOfSeveral(showing) ? await toldByOwner(tx, kind, ids!) : toldIn(showing, ids!)
  const events = await toldBeside(tx, kind, beside)
  return { ...answer, ids: ids!, ...told, events, changes }
}

export async function updateOwned(
  tx: Tx,
  actor: Actor,
  kind: OwnedKind,
  input: object,
): Promise<Written> {
  const { table, record } = kind
  const id = await identifyOwned(tx, actor, kind, kind.reference, input)
  const [owner] = await ownersOf(tx, actor, kind, [input], () => '')
  const { row: current, showing } = await lockOwned(tx, kind, id, [owner!])
  const row = { ...rowFrom(table, input, ownedBy(kind, owner!)), [table.key]: id }
  if (!keepExternal(kind, row, current)) throw new Refusal(400, [fixedExternal(kind, '')])
  refuseAll(400, unmask(kind, row, current, ''))
  const look = lookingAt(actor, (who) => render(tx, kind.select(among(kind, [id]), who)))
  const before = await look()
  const { isChanged, beside } = await writeRows(tx, kind, [row], [current], () => '')
  if (isChanged) await touch(tx, showing)
  const after = await look()
  const changes = changesBetween(record, before.stored.json, after.stored.json)
  const events = await toldBeside(tx, kind, beside)
  const told = { ...toldIn(showing, [id]), events }
  return { ...after.seen, ids: [id], ...told, before: before.seen.json, changes }
}

export async function deleteOwned(
  tx: Tx,
  actor: Actor,
  kind: OwnedKind,
  key: object,
): Promise<Written> {
  const { table, record } = kind
  const id = await identifyOwned(tx, actor, kind, kind.parameter, key)
  const { showing } = await lockOwned(tx, kind, id, [])
  const before = await render(tx, kind.select(among(kind, [id]), actor))
  const plan = planFor([table])
  plan.remove(table, id)
  await plan.write(tx)
  await touch(tx, showing)
  const changes = { deleted: masked(record, recordOf(before.json)) }
  return { ...nothingLeft, ids: [id], ...toldIn(showing, [id]), before: before.json, changes }
}

const isOfSeveral = (showing: readonly Showing[]) =>
  soleProduct(showing) === undefined && showing.length > 0

/** The table or view that links each kind of owner to the entities that show it. */
const shownBy: Record<OwnerKind, string> = {
  bizEntity: 'biz_entity',
  person: 'person_shown',
  organisation: 'biz_entity_party',
}

/**
 * The events for records that are shown in several products: each record is reported in the
 * products that show its own owner.
 */
async function toldByOwner(tx: Tx, { table, owners }: OwnedKind, ids: readonly number[]) {
  const key = raw(`t.${table.key}`)
  const shown = owners.map(
    (owner) => sql`
      select ${key} as id, s.biz_entity_id from ${raw(table.name)} t
      join ${raw(shownBy[owner])} s using (${raw(columnOfOwner(owner))})
      where ${key} = any(${ids}::int[])`,
  )
  const placed = await tx.query<{ productID: number; id: number }>(sql`
    select distinct e.product_id as "productID", r.id
    from (${join(shown, ' union ')}) r join biz_entity e using (biz_entity_id)
    order by e.product_id, r.id`)
  const seen = new Set(placed.map(({ id }) => id))
  const others = ids.filter((id) => !seen.has(id))
  const elsewhere = others.length > 0 ? [{ productID: undefined, ids: others }] : []
  return { shares: [...sharesOf(placed), ...elsewhere] }
}

/** Events for other records of the owner that `settle` has changed. */
async function toldBeside(tx: Tx, kind: OwnedKind, ids: readonly number[]): Promise<NewEvent[]> {
  if (!kind.settled || ids.length === 0) return []
  const { settled } = kind
  const { shares } = await toldByOwner(tx, kind, ids)
  return shares.map((share) => ({ ...settled, ...share }))
}

const among = ({ table }: OwnedKind, ids: readonly number[]) =>
  sql`${raw(`t.${table.key}`)} = any(${ids}::int[]) order by ${raw(`t.${table.key}`)}`

const identifyOwned = (tx: Sql, actor: Actor, kind: OwnedKind, how: Reference, given: object) =>
  identify(tx, how, given, { visible: visibleOwned(actor, 'r', kind.owners) })

/** The owner that each record names; the schema has checked that each names exactly one. */
async function ownersOf(
  tx: Tx,
  actor: Actor,
  kind: OwnedKind,
  inputs: readonly object[],
  path: (i: number) => string,
): Promise<Owner[]> {
  const owners: Owner[] = []
  for (const { kind: ownerKind, reference } of ownerKinds) {
    if (!kind.owners.includes(ownerKind)) continue
    const lone = kind.owners.length === 1
    const places = inputs.flatMap((input, i) => (lone || namesAny(reference, input) ? [i] : []))
    const ids = await identifyAll(
      tx,
      reference,
      places.map((i) => inputs[i]!),
      { visible: visibleOwner[ownerKind](actor), path: (i) => path(places[i]!) },
    )
    for (const [i, place] of places.entries()) owners[place] = { kind: ownerKind, id: ids[i]! }
  }
  return owners
}

/** Refuses a list that gives one external id twice. */
function repeatedExternals(
  kind: OwnedKind,
  inputs: readonly object[],
  path: (i: number) => string,
) {
  const field = kind.reference.fields[1]!
  const seen = new Set<unknown>()
  return inputs.flatMap((input, i): Problem[] => {
    const value = (input as Record<string, unknown>)[field]
    if (value === undefined || !seen.has(value)) {
      seen.add(value)
      return []
    }
    const at = inside(path(i), field)
    return [{ code: 'given_twice', field: at, message: `${at} is given twice.` }]
  })
}

/** Locks a record's present owner and its future owners, then reads the record again. */
async function lockOwned(tx: Tx, kind: OwnedKind, id: number, others: readonly Owner[]) {
  const seen = await readRow(tx, kind, id)
  if (!seen) throw lostRace(kind.table.name)
  const showing = await lockOwners(tx, [ownerOf(kind, seen), ...others])
  const row = await readRow(tx, kind, id)
  if (!row || ownerKey(ownerOf(kind, row)) !== ownerKey(ownerOf(kind, seen)))
    throw lostRace(kind.table.name)
  return { row, showing }
}

async function readRow({ query }: Sql, { table }: OwnedKind, id: number) {
  const [row] = await query<Row>(sql`
    select ${rowColumns(table, 't')} from ${raw(table.name)} t
    where ${raw(`t.${table.key}`)} = ${id}`)
  return row
}

/**
 * Writes new and replaced rows, and what `settle` changes in other records of their owners. Returns
 * whether anything changed, and the ids of the changed other records.
 */
async function writeRows(
  tx: Tx,
  kind: OwnedKind,
  rows: readonly Row[],
  replaced: readonly Row[],
  path: ItemPath,
): Promise<{ isChanged: boolean; beside: number[] }> {
  const { table } = kind
  const paths = new Map(rows.map((row, i) => [row[table.key], path(i)]))
  const plan = planFor([table])
  const written = new Set(rows.map((row) => row[table.key]))
  const owners = new Map(rows.map((row) => [ownerKey(ownerOf(kind, row)), ownerOf(kind, row)]))
  const siblings = kind.settle ? await rowsOfOwners(tx, kind, [...owners.values()]) : []
  const before = new Map([...siblings, ...replaced].map((row) => [row[table.key], row]))
  const others = siblings.filter((row) => !written.has(row[table.key]!))
  const changed: number[] = []
  for (const key of owners.keys()) {
    const own = [...others, ...rows].filter((row) => ownerKey(ownerOf(kind, row)) === key)
    for (const row of kind.settle?.(own) ?? own) {
      const id = row[table.key] as number
      if (plan.put(table, before.get(id), row, paths.get(id))) changed.push(id)
    }
  }
  await plan.write(tx)
  return { isChanged: changed.length > 0, beside: changed.filter((id) => !written.has(id)) }
}
