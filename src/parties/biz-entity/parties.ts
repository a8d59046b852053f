import { inside, itemOf } from '../../platform/shape/path.ts'
import { reference } from '../../platform/sql/identify.ts'
import { defineTable } from '../../platform/sql/rows.ts'
import type { Owner } from '../investor/identities.ts'
import { keysOf, type LinkedRecord, type Planning, type Use } from '../investor/linked.ts'
import { planNested } from '../investor/nested.ts'
import { type NestedKind, ownerColumns, ownerKey } from '../investor/owned-kind.ts'
import { associationsOf, groupOrganisations, planOrganisations } from '../organisation/plan.ts'
import { planOwned, planPersons } from '../person/plan.ts'
import type { Draft } from './draft.ts'
import { type PartyInput, PartyRecord } from './party-schema.ts'

/** Parties belong to an entity and are written only together with it. */
const partyKind: NestedKind = {
  what: 'party',
  table: defineTable('biz_entity_party', {
    key: 'biz_entity_party_id',
    record: PartyRecord,
    others: ownerColumns(['bizEntity']),
    keepsVersions: true,
  }),
  owners: ['bizEntity'],
  reference: reference(
    { what: 'party', table: 'biz_entity_party', columns: ['biz_entity_party_id'] },
    ['bizEntityPartyID'],
  ),
}
export const partyTable = partyKind.table

/** The persons and organisations that the parties of a request stand for. */
export type Linked = {
  persons: Map<PartyInput, LinkedRecord>
  organisations: Map<PartyInput, LinkedRecord>
  /** Existing persons and organisations whose own fields or owned records change. */
  changed: Owner[]
  records: LinkedRecord[]
  /** The existing persons and organisations, by kind and id. */
  found: string[]
}

/**
 * Finds or plans the persons and organisations that parties link to. If the party itself gives an
 * id, the record must exist. A nested record is created, or changed if its id is known.
 */
export async function planLinkedParties(
  planning: Planning,
  drafts: readonly Draft[],
): Promise<Linked> {
  const places = drafts.flatMap(({ input, path }) =>
    input.bizEntityParties.map((party, i) =>
      placeOf(party, itemOf(inside(path, 'bizEntityParties'), i)),
    ),
  )
  const groups = await groupOrganisations(
    planning,
    places.flatMap(({ organisation }) => organisation ?? []),
  )
  const associations = associationsOf(groups)
  const brings = new Map(groups.map((group) => [group.winner, associations.get(group)!]))
  // In the order of the document: the first place with details about a person wins.
  const personUses = places.flatMap(({ person, organisation }) =>
    person ? [person] : (brings.get(organisation!) ?? []).map(({ use }) => use),
  )
  const persons = await planPersons(planning, personUses)
  const planned = await planOrganisations(planning, groups, associations, persons)
  const { organisations } = planned
  const changed = [
    ...planned.changed,
    ...(await planOwned(planning, 'person', persons.values())),
    ...(await planOwned(planning, 'organisation', organisations.values())),
  ]
  const keys = (which: { isNew: boolean }) => [
    ...keysOf('person', persons.values(), which),
    ...keysOf('organisation', organisations.values(), which),
  ]
  const added = new Set(keys({ isNew: true }))
  return {
    persons: new Map(places.flatMap(({ party, person }) => pair(party, person, persons))),
    organisations: new Map(
      places.flatMap(({ party, organisation }) => pair(party, organisation, organisations)),
    ),
    changed: changed.filter((owner) => !added.has(ownerKey(owner))),
    records: [...new Set([...persons.values(), ...organisations.values()])],
    found: keys({ isNew: false }),
  }
}

const pair = (party: PartyInput, use: Use | undefined, records: Map<Use, LinkedRecord>) =>
  use ? [[party, records.get(use)!] as const] : []

type Place = { party: PartyInput; person?: Use; organisation?: Use }

/** The schema guarantees that a party gives one person or one organisation, by id or nested. */
function placeOf(party: PartyInput, path: string): Place {
  const { personID, externalPersonId, person } = party
  const { organisationID, externalOrganisationId, organisation } = party
  const reference = (given: object): Use => ({ as: 'reference', given, path })
  if (personID !== undefined) return { party, person: reference({ personID }) }
  if (externalPersonId !== undefined) return { party, person: reference({ externalPersonId }) }
  if (organisationID !== undefined) return { party, organisation: reference({ organisationID }) }
  if (externalOrganisationId !== undefined)
    return { party, organisation: reference({ externalOrganisationId }) }
  const detail = (given: object, name: string): Use => ({
    as: 'detail',
    given,
    path: inside(path, name),
  })
  if (person) return { party, person: detail(person, 'person') }
  return { party, organisation: detail(organisation!, 'organisation') }
}

/** Plans the parties themselves, after their persons and organisations have been found. */
export const planParties = (
  { tx, actor, plan }: Planning,
  drafts: readonly Draft[],
  { persons, organisations }: Linked,
): Promise<Owner[]> =>
  planNested(
    tx,
    actor,
    partyKind,
    drafts.map(({ id, isNew, input, path }) => ({
      owner: { kind: 'bizEntity', id },
      isNew,
      path: inside(path, 'bizEntityParties'),
      records: input.bizEntityParties.map((party) => ({
        ...party,
        personID: persons.get(party)?.id,
        organisationID: organisations.get(party)?.id,
      })),
    })),
    plan,
  )
