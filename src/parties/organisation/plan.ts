import sql from 'sql-template-tag'
import { inside, itemOf } from '../../platform/shape/path.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { type Row, rowColumns, rowFrom } from '../../platform/sql/rows.ts'
import { type Owner, organisationReference } from '../investor/identities.ts'
import {
  type Group,
  groupLinked,
  type LinkedKind,
  type LinkedRecord,
  type Planning,
  planGroups,
  type Use,
} from '../investor/linked.ts'
import { visibleOrganisation } from '../investor/scope.ts'
import type { AssociatedPersonInput, OrganisationUpdate } from './schema.ts'
import { associationTable, organisationTable } from './sql.ts'

const organisationKind: LinkedKind = {
  kind: 'organisation',
  table: organisationTable,
  reference: organisationReference,
  visible: (actor) => visibleOrganisation(actor, 'r.organisation_id'),
}

export const groupOrganisations = (planning: Planning, uses: readonly Use[]) =>
  groupLinked(planning, organisationKind, uses)

/**
 * The associated persons of each group, each with the place of the request that brings or names
 * them.
 */
export type Associations = Map<Group, { entry: AssociatedPersonInput; use: Use }[]>

export const associationsOf = (groups: readonly Group[]): Associations =>
  new Map(
    groups.map((group) => {
      const { associatedPersons = [] } = (group.given ?? {}) as OrganisationUpdate
      const path = inside(group.winner.path, 'associatedPersons')
      return [
        group,
        associatedPersons.map((entry, i) => ({ entry, use: useOf(entry, itemOf(path, i)) })),
      ]
    }),
  )

/**
 * An entry's external id is the id of the person nested in it, or names an existing person (4.4,
 * rule 3).
 */
function useOf({ personID, externalPersonId, person }: AssociatedPersonInput, path: string): Use {
  if (person)
    return {
      as: 'detail',
      given: { ...(externalPersonId !== undefined && { externalPersonId }), ...person },
      path: inside(path, 'person'),
    }
  const given = personID !== undefined ? { personID } : { externalPersonId }
  return { as: 'name', given, path }
}

/**
 * Plans organisations after their persons. Also returns the organisations whose associated persons
 * change.
 */
export async function planOrganisations(
  planning: Planning,
  groups: readonly Group[],
  associations: Associations,
  persons: ReadonlyMap<Use, LinkedRecord>,
): Promise<{ organisations: Map<Use, LinkedRecord>; changed: Owner[] }> {
  const { tx, plan, replaces } = planning
  const organisations = await planGroups(planning, organisationKind, groups)
  const listed = groups.filter(
    ({ given }) => given && ((given as OrganisationUpdate).associatedPersons || replaces),
  )
  const idOf = (group: Group) => organisations.get(group.winner)!.id
  const current = await currentRows(
    tx,
    listed.flatMap(({ id }) => id ?? []),
  )
  const changed: Owner[] = []
  for (const group of listed) {
    const id = idOf(group)
    const rows = associations.get(group)!.map(({ entry, use }, i) =>
      rowFrom(associationTable, entry, {
        organisation_id: id,
        person_id: persons.get(use)!.id,
        ordinal: i + 1,
      }),
    )
    // Compared with consecutive ordinals: gaps in the stored numbering mean nothing.
    const before = (current.get(id) ?? []).map((row, i) => ({ ...row, ordinal: i + 1 }))
    if (plan.replace(associationTable, id, before, rows)) changed.push({ kind: 'organisation', id })
  }
  return { organisations, changed }
}

async function currentRows(handle: Sql, ids: readonly number[]): Promise<Map<number, Row[]>> {
  const rows = new Map<number, Row[]>()
  if (ids.length === 0) return rows
  const found = await handle.query<Row>(sql`
    select ${rowColumns(associationTable, 't')} from organisation_person t
    where t.organisation_id = any(${ids}::int[]) order by t.organisation_id, t.ordinal`)
  for (const row of found) {
    const id = row.organisation_id as number
    rows.set(id, [...(rows.get(id) ?? []), row])
  }
  return rows
}
