import { type Static, Type } from 'typebox'
import { Flag, Id, Integer, optional, shown } from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { namesAny } from '../../platform/sql/identify.ts'
import {
  organisationFields,
  organisationReference,
  personFields,
  personReference,
} from '../investor/identities.ts'
import { Organisation, OrganisationUpdate } from '../organisation/schema.ts'
import { Person, PersonUpdate } from '../person/schema.ts'

const ids = { ...organisationFields, ...personFields }
const roles = {
  isPrimaryContact: optional(Flag),
  isIncomeReceiving: optional(Flag),
  isSignatory: optional(Flag),
  isAuthorisedNominee: optional(Flag),
  isPowerOfAttorney: optional(Flag),
  ordinal: optional(Integer),
}

type Nesting = { person?: object; organisation?: object }

/** If the party itself gives an id, its nested person or organisation is ignored (4.4). */
function namedOrNested(party: Nesting): Nesting {
  const { person, organisation, ...named } = party
  const names = namesAny(personReference, named) || namesAny(organisationReference, named)
  return names ? named : party
}

const personOrOrganisation: Check = (value) => {
  const party = (value ?? {}) as Nesting
  const isPerson = Boolean(party.person) || namesAny(personReference, party)
  const isOrganisation = Boolean(party.organisation) || namesAny(organisationReference, party)
  if (isPerson !== isOrganisation) return []
  const words = isPerson
    ? 'cannot stand beside an organisation: a party is one of them'
    : 'or organisation, nested or by an id, must be provided'
  return [{ field: 'person', code: isPerson ? 'invalid_value' : 'required', words }]
}

export const PartyInput = Type.Object(
  {
    bizEntityPartyID: optional(Id),
    ...ids,
    ...roles,
    person: optional(PersonUpdate),
    organisation: optional(OrganisationUpdate),
  },
  { $id: 'BizEntityPartyInput', conformed: namedOrNested, check: personOrOrganisation },
)
export const BizEntityParty = shown('BizEntityParty', {
  bizEntityPartyID: Id,
  ...ids,
  ...roles,
  person: Person,
  organisation: Organisation,
})
/** The columns of the party table, except the entity that the party belongs to. */
export const PartyRecord = Type.Object({
  bizEntityPartyID: Id,
  personID: optional(Id),
  organisationID: optional(Id),
  ...roles,
})

export type PartyInput = Static<typeof PartyInput>
