import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  ExternalId,
  Flag,
  Id,
  oneOrMany,
  optional,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { Address, NestedAddress } from '../address/schema.ts'
import { Communication, NestedCommunication } from '../communication/schema.ts'
import { Abn, Acn, countryCode } from '../investor/checks.ts'
import { organisationFields, personFields } from '../investor/identities.ts'
import { Person, PersonUpdate, TaxFileNumber, Tin } from '../person/schema.ts'

const fields = {
  name: optional(text(200)),
  legalName: optional(text(200)),
  abn: optional(Abn),
  acn: optional(Acn),
  organisationTypeID: optional(lookupID('OrganisationType')),
  taxationFileNumber: optional(TaxFileNumber),
  tin: optional(Tin(100)),
  taxationCountryCode: optional(countryCode(3)),
  registrationCountryCode: optional(countryCode(3)),
  description: optional(text(2000)),
  isCorporateTrustee: optional(Flag),
  licenceNumber: optional(text(50)),
  licenceActive: optional(Flag),
}

type Entry = {
  personID?: number
  externalPersonId?: string
  person?: { externalPersonId?: string }
}

/** A native id only names a person: a person nested beside it is ignored. */
const namedOrNested = ({ person, ...entry }: Entry): Entry =>
  entry.personID !== undefined || person === undefined ? entry : { ...entry, person }

const onePerson: Check = (value) => {
  const { personID, externalPersonId, person } = (value ?? {}) as Entry
  if (personID === undefined && externalPersonId === undefined && person === undefined)
    return [
      {
        field: 'externalPersonId',
        code: 'required',
        words: 'or personID or a nested person must be provided',
      },
    ]
  const inner = person?.externalPersonId
  if (externalPersonId === undefined || inner === undefined || inner === externalPersonId) return []
  return [{ field: 'externalPersonId', words: 'is not that of the nested person' }]
}

const relationship = {
  relationshipTypeID: optional(lookupID('RelationshipType')),
  isSignatory: optional(Flag),
}
const AssociatedPersonInput = Type.Object(
  { ...personFields, ...relationship, person: optional(PersonUpdate) },
  { $id: 'AssociatedPersonInput', conformed: namedOrNested, check: onePerson },
)
const AssociatedPerson = shown('AssociatedPerson', {
  ...personFields,
  ...relationship,
  person: Person,
})
const nested = {
  associatedPersons: optional(Type.Array(AssociatedPersonInput)),
  addresses: optional(Type.Array(NestedAddress)),
  communications: optional(Type.Array(NestedCommunication)),
}

const example = {
  externalOrganisationId: 'ORG-1',
  name: 'Example Trustees Pty Ltd',
  abn: '51824753556',
  associatedPersons: [{ externalPersonId: 'PER-1', relationshipTypeID: 1, isSignatory: true }],
}
export const OrganisationInput = Type.Object(
  { externalOrganisationId: optional(ExternalId), ...fields, ...nested },
  { $id: 'OrganisationInput', example },
)
export const OrganisationInputs = oneOrMany(OrganisationInput)
export const OrganisationUpdate = Type.Object(
  { ...organisationFields, ...fields, ...nested },
  { $id: 'OrganisationUpdate', example: { organisationID: 1, ...example } },
)
export const Organisation = shown('Organisation', {
  ...organisationFields,
  ...fields,
  associatedPersons: Type.Array(AssociatedPerson),
  addresses: Type.Array(Address),
  communications: Type.Array(Communication),
})
/** The fields in the organisation's own table row. */
export const OrganisationRecord = Type.Object({ ...organisationFields, ...fields })
/** The columns of organisation_person besides the two ids. */
export const Relationship = Type.Object(relationship)
export const OrganisationKey = Type.Object({
  OrganisationID: optional(Id),
  ExternalOrganisationId: optional(ExternalId),
})
export const OrganisationQuery = Type.Object({ ...OrganisationKey.properties, ...paging })

export type AssociatedPersonInput = Static<typeof AssociatedPersonInput>
export type OrganisationInput = Static<typeof OrganisationInput>
export type OrganisationUpdate = Static<typeof OrganisationUpdate>
export type OrganisationKey = Static<typeof OrganisationKey>
export type OrganisationQuery = Static<typeof OrganisationQuery>
