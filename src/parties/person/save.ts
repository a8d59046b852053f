import sql from 'sql-template-tag'
import type { TSchema } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import { changesBetween, masked, recordOf } from '../../platform/shape/mask.ts'
import type { ItemPath } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify, type Reference } from '../../platform/sql/identify.ts'
import { planFor } from '../../platform/sql/plan.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { deleteWithOwned } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { addressKind } from '../address/sql.ts'
import { communicationKind } from '../communication/sql.ts'
import { doubtsAbout } from '../investor/doubts.ts'
import { personParameter, personReference } from '../investor/identities.ts'
import { sealedChanges, type Use } from '../investor/linked.ts'
import { lockEntitiesShowing, lockOwners, toldIn, touch } from '../investor/locks.ts'
import { visiblePerson } from '../investor/scope.ts'
import type { Vault } from '../sealed/vault.ts'
import { planOwned, planPersons } from './plan.ts'
import { Person, PersonInput, type PersonKey, PersonReplacement } from './schema.ts'
import { personsByID, personTable } from './sql.ts'

const tables = [personTable, addressKind.table, communicationKind.table]

export async function createPersons(
  tx: Tx,
  actor: Actor,
  vault: Vault,
  inputs: PersonInput[],
  path: ItemPath,
): Promise<Written> {
  const plan = planFor(tables)
  const planning = { tx, actor, vault, plan, replaces: false }
  const uses = inputs.map((given, i): Use => ({ as: 'new', given, path: path(i) }))
  const persons = await planPersons(planning, uses)
  await planOwned(planning, 'person', persons.values())
  await plan.write(tx)
  const ids = uses.map((use) => persons.get(use)!.id)
  const changes = masked({ items: PersonInput } as TSchema, inputs)
  const doubts = doubtsAbout(PersonInput, inputs, path)
  return { ...(await render(tx, personsByID(ids))), ...doubts, ids, changes }
}

export async function updatePerson(
  tx: Tx,
  actor: Actor,
  vault: Vault,
  input: PersonReplacement,
): Promise<Written> {
  const id = await identifyPerson(tx, actor, personReference, input)
  const plan = planFor(tables)
  const planning = { tx, actor, vault, plan, replaces: true }
  const use: Use = { as: 'whole', given: { ...input, personID: id }, path: '' }
  const person = (await planPersons(planning, [use])).get(use)!
  await refuseEntangled(tx, id)
  const changed = await planOwned(planning, 'person', [person])
  const showing = await lockEntitiesShowing(tx, [{ kind: 'person', id }])
  const before = await render(tx, personsByID([id]))
  await plan.write(tx)
  if (changed.length > 0) await touch(tx, showing)
  const after = await render(tx, personsByID([id]))
  const changes = {
    ...changesBetween(Person, before.json, after.json),
    ...sealedChanges(person),
  }
  const doubts = doubtsAbout(PersonReplacement, [input])
  const message = ['The person is updated.', doubts.message].filter(Boolean).join(' ')
  const told = toldIn(showing, [id])
  return { ...after, message, ids: [id], ...told, before: before.json, changes }
}

/**
 * Refuses to change a person of several entities, or of one with transactions (4.9); PUT /BizEntity
 * can still change them.
 */
async function refuseEntangled(tx: Tx, id: number) {
  const [found] = await tx.query<{ entities: number; active: boolean }>(sql`
    with linked as (select distinct biz_entity_id from person_link where person_id = ${id})
    select (select count(*) from linked)::int as entities,
      exists (select 1 from linked join account a using (biz_entity_id)
        join biz_transaction t on t.product_id = a.product_id and t.account_id = a.account_id)
        as active`)
  if (found!.active)
    throw conflict(
      'has_transactions',
      'The person is a party of an entity with transactions; change them with PUT /BizEntity.',
    )
  if (found!.entities > 1)
    throw conflict(
      'in_use',
      'The person is linked to more than one entity; change them with PUT /BizEntity.',
    )
}

/**
 * Deletes a person. Foreign keys refuse it while entities or organisations link to the person;
 * constraints.ts has the messages.
 */
export async function deletePerson(tx: Tx, actor: Actor, key: PersonKey): Promise<Written> {
  const id = await identifyPerson(tx, actor, personParameter, key)
  await lockOwners(tx, [{ kind: 'person', id }])
  const before = await render(tx, personsByID([id]))
  await deleteWithOwned(tx, personTable, id, [addressKind.table, communicationKind.table])
  const changes = { deleted: masked(Person, recordOf(before.json)) }
  return { ...nothingLeft, ids: [id], before: before.json, changes }
}

const identifyPerson = (tx: Tx, actor: Actor, how: Reference, given: object) =>
  identify(tx, how, given, { visible: visiblePerson(actor, 'r.person_id') })
