import type { Actor } from '../../platform/actor.ts'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { locateAll, type Reference, reference } from '../../platform/sql/identify.ts'
import { columnOf } from '../../platform/sql/render.ts'
import type { Row } from '../../platform/sql/rows.ts'
import {
  bizEntityReference,
  organisationReference,
  personReference,
} from '../investor/identities.ts'
import { visibleEntity, visibleOrganisation, visiblePerson } from '../investor/scope.ts'
import type { Draft } from './draft.ts'

/** The fields of an entity that name another record by its native id. */
const named: { field: string; of: Reference; visible: (actor: Actor) => Fragment }[] = [
  ...['authorizedNomineePersonID', 'controllingPID', 'signatureParty'].map((field) => ({
    field,
    of: personReference,
    visible: (actor: Actor) => visiblePerson(actor, 'r.person_id'),
  })),
  {
    field: 'marginLenderOrganisationID',
    of: organisationReference,
    visible: (actor) => visibleOrganisation(actor, 'r.organisation_id'),
  },
  {
    field: 'groupedWithBizEntityID',
    of: bizEntityReference,
    visible: (actor) => visibleEntity(actor, 'r'),
  },
]

/**
 * Refuses ids of records that do not exist or that the caller cannot see. An id that is stored
 * already may be sent back, even if the caller cannot see its record.
 */
export async function checkReferences(
  tx: Sql,
  actor: Actor,
  drafts: readonly Draft[],
  stored: ReadonlyMap<number, Row>,
): Promise<void> {
  const problems: Problem[] = []
  for (const { field, of, visible } of named) {
    const given = drafts.filter(({ id, input }) => {
      const value = (input as Record<string, unknown>)[field]
      return value !== undefined && value !== stored.get(id)?.[columnOf(field)]
    })
    if (given.length === 0) continue
    const located = await locateAll(
      tx,
      reference(of.identity, [field]),
      given.map(({ input }) => input),
      { visible: visible(actor), path: (i) => given[i]!.path },
    )
    problems.push(...located.flatMap((one) => ('problem' in one ? [one.problem] : [])))
  }
  refuseAll(404, problems)
}
