import { ExternalId, Id, optional } from '../../platform/shape/fields.ts'
import { reference } from '../../platform/sql/identify.ts'

/** How requests name entities, persons and organisations, for every record that refers to one. */

const bizEntity = {
  what: 'entity',
  table: 'biz_entity',
  columns: ['biz_entity_id', 'external_biz_entity_id'],
} as const
export const bizEntityReference = reference(bizEntity, ['bizEntityID', 'externalBizEntityId'])
export const bizEntityParameter = reference(bizEntity, ['BizEntityID', 'ExternalBizEntityId'])
export const parentReference = reference(bizEntity, [
  'parentBizEntityID',
  'parentExternalBizEntityId',
])
export const parentParameter = reference(bizEntity, [
  'ParentBizEntityID',
  'ParentExternalBizEntityId',
])
export const dealerGroupReference = reference(bizEntity, [
  'dealerGroupBizEntityID',
  'externalDealerGroupBizEntityId',
])

const person = {
  what: 'person',
  table: 'person',
  columns: ['person_id', 'external_person_id'],
} as const
export const personReference = reference(person, ['personID', 'externalPersonId'])
export const personParameter = reference(person, ['PersonID', 'ExternalPersonId'])

const organisation = {
  what: 'organisation',
  table: 'organisation',
  columns: ['organisation_id', 'external_organisation_id'],
} as const
export const organisationReference = reference(organisation, [
  'organisationID',
  'externalOrganisationId',
])
export const organisationParameter = reference(organisation, [
  'OrganisationID',
  'ExternalOrganisationId',
])

export const bizEntityFields = {
  bizEntityID: optional(Id),
  externalBizEntityId: optional(ExternalId),
}
export const personFields = { personID: optional(Id), externalPersonId: optional(ExternalId) }
export const organisationFields = {
  organisationID: optional(Id),
  externalOrganisationId: optional(ExternalId),
}

/** The kinds of owner, each with its reference in requests and the column that holds its id. */
export const ownerKinds = [
  { kind: 'bizEntity', column: 'biz_entity_id', reference: bizEntityReference },
  { kind: 'person', column: 'person_id', reference: personReference },
  { kind: 'organisation', column: 'organisation_id', reference: organisationReference },
] as const
export type OwnerKind = (typeof ownerKinds)[number]['kind']
/** An owner of addresses, communications or payment details. */
export type Owner = { kind: OwnerKind; id: number }

export const columnOfOwner = (kind: OwnerKind) =>
  ownerKinds.find((one) => one.kind === kind)!.column
