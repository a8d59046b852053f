import type { TSchema } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { invalid, type Problem, refuseAll } from '../../platform/refusal.ts'
import { changesBetween, masked } from '../../platform/shape/mask.ts'
import { type ItemPath, inside } from '../../platform/shape/path.ts'
import { type NewEvent, sharesOf, soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify } from '../../platform/sql/identify.ts'
import { type Plan, planFor } from '../../platform/sql/plan.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { loadRows, lostRace, newIDs, type Row, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { planAccounts } from '../account/plan.ts'
import { addressKind } from '../address/sql.ts'
import { communicationKind } from '../communication/sql.ts'
import { doubtsAbout } from '../investor/doubts.ts'
import { bizEntityReference, type Owner } from '../investor/identities.ts'
import { type Planning, sealedIn } from '../investor/linked.ts'
import { lockEntitiesShowing, toldIn, touch } from '../investor/locks.ts'
import { planNested } from '../investor/nested.ts'
import { lookingAt, type OwnedKind } from '../investor/owned-kind.ts'
import { visibleEntity } from '../investor/scope.ts'
import { toldElsewhere } from '../investor/told.ts'
import { paymentDetailKind } from '../payment-detail/sql.ts'
import type { Vault } from '../sealed/vault.ts'
import { toldOfMoved } from './documents.ts'
import type { Draft } from './draft.ts'
import { lockParents, planParents, refuseCycles } from './parents.ts'
import { type Linked, planLinkedParties, planParties } from './parties.ts'
import { entitiesByID, newEntities } from './read.ts'
import { checkReferences } from './references.ts'
import { BizEntity, BizEntityInput, BizEntityUpdate } from './schema.ts'
import { entityTable, tables } from './tables.ts'

type Added = {
  ids: readonly number[]
  /** The product of each entity. */
  products: ReadonlyMap<number, number>
  /** The existing records that the new entities are linked to: `person 7`. */
  linked: string[]
  /** Events about changed persons and organisations that other entities show, too. */
  events: readonly NewEvent[]
}

/** Creates entities with all nested records, in a fixed number of SQL statements. */
async function addAll(
  tx: Tx,
  actor: Actor,
  vault: Vault,
  inputs: BizEntityInput[],
  pathOf: ItemPath,
): Promise<Added> {
  const planning = { tx, actor, vault, plan: planFor(tables), replaces: false }
  refuseAll(400, repeatedExternals(inputs, pathOf))
  await takeTurns(tx, inputs)
  const [ids] = await newIDs(tx, [{ table: entityTable, count: inputs.length }])
  const drafts = inputs.map((input, i) => ({ id: ids![i]!, isNew: true, input, path: pathOf(i) }))
  const linked = await planLinkedParties(planning, drafts)
  const showing = await lockEntitiesShowing(tx, linked.changed)
  const { products, parents, found } = await planEntities(planning, drafts, linked, new Map())
  await planning.plan.write(tx)
  await refuseCycles(tx, parents)
  await touch(tx, showing)
  const events = await toldElsewhere(tx, linked.changed, showing)
  return { ids: ids!, products, linked: [...linked.found, ...found], events }
}

/** The result of adding entities, without the entities themselves as JSON. */
function toldOf(
  { ids, products }: Pick<Added, 'ids' | 'products'>,
  inputs: BizEntityInput[],
  pathOf: ItemPath,
): Written {
  const own = ids.map((id) => ({ productID: products.get(id)!, id })) // each entity has a product
  return {
    ...nothingLeft,
    recordCount: inputs.length,
    ...doubtsAbout(BizEntityInput, inputs, pathOf),
    ids,
    productID: soleProduct(own),
    shares: sharesOf(own),
    changes: masked({ items: BizEntityInput } as TSchema, inputs),
  }
}

type Adding = Parameters<typeof addAll>

/** Creates entities without reading them back: an import has nobody who would look at them. */
export async function addEntities(...given: Adding): Promise<Written> {
  const [, , , inputs, pathOf] = given
  const { linked, events, ...added } = await addAll(...given)
  return { ...toldOf(added, inputs, pathOf), linked, events }
}

/**
 * Creates the entities of several requests, one entity of each, with a result for each request. The
 * plan no longer tells which request changed a person or organisation that other entities show, so
 * the first result carries the events about all of them.
 */
export async function addForEach(...given: Adding): Promise<Written[]> {
  const [, , , inputs, pathOf] = given
  const { ids, products, events } = await addAll(...given)
  return inputs.map((input, i) => ({
    ...toldOf({ ids: [ids[i]!], products }, [input], () => pathOf(i)),
    ...(i === 0 && { events }),
  }))
}

/** Creates the entities of a request and returns their JSON. */
export async function createEntities(...given: Adding): Promise<Written> {
  const [tx, actor] = given
  const written = await addEntities(...given)
  return { ...written, ...(await render(tx, newEntities(actor, written.ids))) }
}

/**
 * Replaces an entity. Nested records that the request leaves out are deleted, but persons and
 * organisations stay.
 */
export async function replaceEntity(
  tx: Tx,
  actor: Actor,
  vault: Vault,
  input: BizEntityUpdate,
): Promise<Written> {
  const planning = { tx, actor, vault, plan: planFor(tables), replaces: true }
  await takeTurns(tx, [input])
  const id = await identify(tx, bizEntityReference, input, { visible: visibleEntity(actor, 'r') })
  const drafts = [{ id, isNew: false, input: { ...input, bizEntityID: id }, path: '' }]
  const linked = await planLinkedParties(planning, drafts)
  const showing = await lockEntitiesShowing(tx, [...linked.changed, { kind: 'bizEntity', id }])
  const [stored] = await loadRows(tx, entityTable, [id])
  if (!stored) throw lostRace('biz_entity')
  if (stored.biz_entity_type_id !== input.bizEntityTypeID)
    throw invalid('immutable', 'bizEntityTypeID cannot be changed.', 'bizEntityTypeID')
  const look = lookingAt(actor, async (who) => render(tx, await entitiesByID(tx, who, [id])))
  const before = await look()
  const planned = await planEntities(planning, drafts, linked, new Map([[id, stored]]))
  await planning.plan.write(tx)
  await refuseCycles(tx, planned.parents)
  if (planned.changed || linked.changed.length > 0) await touch(tx, showing)
  const after = await look()
  const changes = {
    ...changesBetween(BizEntity, before.stored.json, after.stored.json),
    ...sealedIn(linked.records),
  }
  const doubts = doubtsAbout(BizEntityUpdate, [input])
  // A move to another product is reported in both: readers of the old product lose the entity.
  const shown = [stored.product_id as number, ...planned.products.values()]
  const told = toldIn(
    shown.map((productID) => ({ id, productID })),
    [id],
  )
  // The product is recorded, because the external ids in a request kept for approval might lead to
  // another product by the time it is approved.
  const products = [...planned.products.values()].map((productID) => `product ${productID}`)
  const about = { ids: [id], ...told, linked: [...linked.found, ...planned.found, ...products] }
  const events = [
    ...(await toldElsewhere(tx, linked.changed, showing, [id])),
    ...(await toldOfMoved(tx, id, shown)),
  ]
  return { ...after.seen, ...doubts, ...about, events, before: before.seen.json, changes }
}

/** Requests with parent links take turns, so that two together cannot close a circle unseen. */
async function takeTurns(tx: Tx, inputs: readonly BizEntityInput[]) {
  if (inputs.some(({ bizEntityParents = [] }) => bizEntityParents.length > 0)) await lockParents(tx)
}

function repeatedExternals(inputs: readonly BizEntityInput[], pathOf: (i: number) => string) {
  const seen = new Set<string>()
  return inputs.flatMap(({ externalBizEntityId }, i): Problem[] => {
    if (externalBizEntityId === undefined) return []
    const field = inside(pathOf(i), 'externalBizEntityId')
    if (seen.has(externalBizEntityId))
      return [{ code: 'given_twice', field, message: `${field} is given twice.` }]
    seen.add(externalBizEntityId)
    return []
  })
}

type Planned = {
  /** The product of each entity. */
  products: Map<number, number>
  /** Entities whose parent links are written. */
  parents: Set<number>
  /** Existing parents and dealer groups that links lead to: `bizEntity 7`. */
  found: string[]
  /** Whether the entities or any records that they own change. */
  changed: boolean
}

/** Plans the entities and all that they own. Persons and organisations are planned before. */
async function planEntities(
  planning: Planning,
  drafts: readonly Draft[],
  linked: Linked,
  stored: ReadonlyMap<number, Row>,
): Promise<Planned> {
  const { tx, actor, plan } = planning
  await checkReferences(tx, actor, drafts, stored)
  const accounts = await planAccounts(
    tx,
    actor,
    drafts.map(({ id, isNew, input, path }) => ({
      entityID: id,
      isNew,
      accounts: input.accounts,
      path: inside(path, 'accounts'),
      closedBy: isClosing(input, stored.get(id)) ? inside(path, 'bizEntityStatusID') : undefined,
    })),
    plan,
  )
  const owned = async (kind: OwnedKind, name: 'addresses' | 'communications' | 'paymentDetails') =>
    planNested(
      tx,
      actor,
      kind,
      drafts.map(({ id, isNew, input, path }) => ({
        owner: { kind: 'bizEntity', id },
        isNew,
        records: input[name] ?? [],
        path: inside(path, name),
      })),
      plan,
    )
  const changed: Owner[] = [
    ...(await planParties(planning, drafts, linked)),
    ...(await owned(addressKind, 'addresses')),
    ...(await owned(communicationKind, 'communications')),
    ...(await owned(paymentDetailKind, 'paymentDetails')),
  ]
  const { changed: parents, found } = await planParents(
    tx,
    actor,
    drafts.map(({ id, isNew, input, path }) => ({
      entityID: id,
      isNew,
      links: input.bizEntityParents ?? [],
      path: inside(path, 'bizEntityParents'),
    })),
    new Map(drafts.flatMap(({ id, input }) => pairOf(input.externalBizEntityId, id))),
    plan,
  )
  const scalars = planOwnFields(drafts, accounts.products, stored, plan)
  return {
    products: accounts.products,
    parents,
    found,
    changed: scalars || accounts.changed.size + changed.length + parents.size > 0,
  }
}

const { Closed } = lookups.BizEntityStatus
const isClosing = ({ bizEntityStatusID }: BizEntityUpdate, before: Row | undefined) =>
  bizEntityStatusID === Closed && before !== undefined && before.biz_entity_status_id !== Closed

const pairOf = (external: string | undefined, id: number): [string, number][] =>
  external === undefined ? [] : [[external, id]]

function planOwnFields(
  drafts: readonly Draft[],
  products: ReadonlyMap<number, number>,
  stored: ReadonlyMap<number, Row>,
  plan: Plan,
): boolean {
  let changed = false
  for (const { id, input, path } of drafts) {
    const row = rowFrom(entityTable, input, { biz_entity_id: id, product_id: products.get(id)! })
    if (plan.put(entityTable, stored.get(id), row, path)) changed = true
  }
  return changed
}
