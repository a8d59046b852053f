import sql from 'sql-template-tag'
import type { TSchema } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import { changesBetween, masked, recordOf } from '../../platform/shape/mask.ts'
import type { ItemPath } from '../../platform/shape/path.ts'
import { soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify, type Reference } from '../../platform/sql/identify.ts'
import { planFor } from '../../platform/sql/plan.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { deleteWithOwned } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { addressKind } from '../address/sql.ts'
import { communicationKind } from '../communication/sql.ts'
import { doubtsAbout } from '../investor/doubts.ts'
import { type Owner, organisationParameter, organisationReference } from '../investor/identities.ts'
import {
  keysOf,
  type LinkedRecord,
  type Planning,
  sealedChanges,
  sealedIn,
  type Use,
} from '../investor/linked.ts'
import { lockEntitiesShowing, lockOwners, type Showing, toldIn, touch } from '../investor/locks.ts'
import { visibleOrganisation } from '../investor/scope.ts'
import { toldElsewhere } from '../investor/told.ts'
import { planOwned, planPersons } from '../person/plan.ts'
import { personTable } from '../person/sql.ts'
import type { Vault } from '../sealed/vault.ts'
import { associationsOf, groupOrganisations, planOrganisations } from './plan.ts'
import {
  Organisation,
  OrganisationInput,
  type OrganisationKey,
  OrganisationUpdate,
} from './schema.ts'
import { associationTable, organisationsByID, organisationTable } from './sql.ts'

const tables = [
  personTable,
  organisationTable,
  associationTable,
  addressKind.table,
  communicationKind.table,
]

export async function createOrganisations(
  tx: Tx,
  actor: Actor,
  vault: Vault,
  inputs: OrganisationInput[],
  path: ItemPath,
): Promise<Written> {
  const planning = { tx, actor, vault, plan: planFor(tables), replaces: false }
  const uses = inputs.map((given, i): Use => ({ as: 'new', given, path: path(i) }))
  const { organisations, persons, changed } = await plan(planning, uses)
  const showing = await lockEntitiesShowing(tx, changed)
  await planning.plan.write(tx)
  await touch(tx, showing)
  const ids = uses.map((use) => organisations.get(use)!.id)
  const changes = masked({ items: OrganisationInput } as TSchema, inputs)
  const doubts = doubtsAbout(OrganisationInput, inputs, path)
  const about = { ids, linked: foundIn(persons), events: await toldElsewhere(tx, changed, showing) }
  return { ...(await render(tx, organisationsByID(ids))), ...doubts, ...about, changes }
}

export async function updateOrganisation(
  tx: Tx,
  actor: Actor,
  vault: Vault,
  input: OrganisationUpdate,
): Promise<Written> {
  const id = await identifyOrganisation(tx, actor, organisationReference, input)
  const planning = { tx, actor, vault, plan: planFor(tables), replaces: true }
  const use: Use = { as: 'whole', given: { ...input, organisationID: id }, path: '' }
  const { organisations, persons, changed } = await plan(planning, [use])
  const showing = await lockEntitiesShowing(tx, changed)
  const before = await render(tx, organisationsByID([id]))
  await planning.plan.write(tx)
  await touch(tx, showing)
  const after = await render(tx, organisationsByID([id]))
  const changes = {
    ...changesBetween(Organisation, before.json, after.json),
    ...sealedChanges(organisations.get(use)!),
    ...sealedIn(persons.values()),
  }
  const doubts = doubtsAbout(OrganisationUpdate, [input])
  const own = await showingItself(tx, id)
  const told = {
    productID: soleProduct(showing),
    // The organisation's persons may be shown in products that do not show the organisation itself:
    // there only the persons are reported.
    shares: toldIn(own, [id]).shares ?? [{ productID: undefined, ids: [id] }],
    events: await toldElsewhere(
      tx,
      changed.filter(({ kind }) => kind === 'person'),
      showing,
      own.map((one) => one.id),
    ),
    linked: foundIn(persons),
  }
  return { ...after, ...doubts, ids: [id], ...told, before: before.json, changes }
}

const showingItself = (tx: Tx, id: number) =>
  tx.query<Showing>(sql`
    select distinct e.biz_entity_id as id, e.product_id as "productID"
    from biz_entity_party p join biz_entity e using (biz_entity_id)
    where p.organisation_id = ${id} order by 2, 1`)

const foundIn = (persons: Map<Use, LinkedRecord>) =>
  keysOf('person', persons.values(), { isNew: false })

type Planned = {
  organisations: Map<Use, LinkedRecord>
  persons: Map<Use, LinkedRecord>
  changed: Owner[]
}

/**
 * Plans organisations with the persons nested in them, and the addresses and communications of
 * both.
 */
async function plan(planning: Planning, uses: readonly Use[]): Promise<Planned> {
  const groups = await groupOrganisations(planning, uses)
  const associations = associationsOf(groups)
  const personUses = [...associations.values()].flatMap((list) => list.map(({ use }) => use))
  const persons = await planPersons(planning, personUses)
  const { organisations, changed } = await planOrganisations(
    planning,
    groups,
    associations,
    persons,
  )
  const owners = [
    ...changed,
    ...(await planOwned(planning, 'person', persons.values())),
    ...(await planOwned(planning, 'organisation', organisations.values())),
  ]
  return { organisations, persons, changed: owners }
}

/**
 * Deletes an organisation that is linked to nothing but addresses, communications and persons
 * (4.13).
 */
export async function deleteOrganisation(
  tx: Tx,
  actor: Actor,
  key: OrganisationKey,
): Promise<Written> {
  const id = await identifyOrganisation(tx, actor, organisationParameter, key)
  await lockOwners(tx, [{ kind: 'organisation', id }])
  const before = await render(tx, organisationsByID([id]))
  const { isCorporateTrustee, licenceActive } = recordOf(before.json)
  if (isCorporateTrustee)
    throw conflict('corporate_trustee', 'The organisation is a corporate trustee.')
  if (licenceActive) throw conflict('licence_active', 'The organisation has an active licence.')
  await deleteWithOwned(tx, organisationTable, id, [addressKind.table, communicationKind.table])
  const changes = { deleted: masked(Organisation, recordOf(before.json)) }
  return { ...nothingLeft, ids: [id], before: before.json, changes }
}

const identifyOrganisation = (tx: Tx, actor: Actor, how: Reference, given: object) =>
  identify(tx, how, given, { visible: visibleOrganisation(actor, 'r.organisation_id') })
