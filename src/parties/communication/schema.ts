import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import { ExternalId, Id, oneOrMany, optional, shown, text } from '../../platform/shape/fields.ts'
import { reference } from '../../platform/sql/identify.ts'
import { bizEntityFields, organisationFields, personFields } from '../investor/identities.ts'
import { exactlyOneOwner } from '../investor/owned-kind.ts'

const ids = { communicationID: optional(Id), externalCommunicationId: optional(ExternalId) }
const fields = {
  communicationTypeID: optional(lookupID('CommunicationType')),
  name: optional(text(500, { description: 'The contact value: an address, a number.' })),
}
const owners = { ...bizEntityFields, ...personFields, ...organisationFields }

/** A communication inside the record of its owner. */
export const NestedCommunication = Type.Object(
  { ...ids, ...fields },
  { $id: 'NestedCommunication' },
)

const example = { communicationTypeID: 1, name: 'ann.example@example.com', personID: 1 }
export const CommunicationInput = Type.Object(
  { externalCommunicationId: ids.externalCommunicationId, ...fields, ...owners },
  { $id: 'CommunicationInput', check: exactlyOneOwner, example },
)
export const CommunicationInputs = oneOrMany(CommunicationInput)
export const CommunicationUpdate = Type.Object(
  { ...ids, ...fields, ...owners },
  {
    $id: 'CommunicationUpdate',
    check: exactlyOneOwner,
    example: { communicationID: 1, ...example },
  },
)
export const Communication = shown('Communication', { ...ids, ...fields, ...owners })
export const CommunicationKey = Type.Object({
  CommunicationID: optional(Id),
  ExternalCommunicationId: optional(ExternalId),
})
export const CommunicationQuery = Type.Object({ ...CommunicationKey.properties, ...paging })

export type CommunicationQuery = Static<typeof CommunicationQuery>

const communication = {
  what: 'communication',
  table: 'communication',
  columns: ['communication_id', 'external_communication_id'],
} as const
export const communicationReference = reference(communication, [
  'communicationID',
  'externalCommunicationId',
])
export const communicationParameter = reference(communication, [
  'CommunicationID',
  'ExternalCommunicationId',
])
