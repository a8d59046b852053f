import { type Static, Type } from 'typebox'
import { isMailbox, mailboxWords } from '../../mailbox.ts'
import { paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  ExternalId,
  Id,
  oneOrMany,
  optional,
  shown,
  text,
  trimmed,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { reference } from '../../platform/sql/identify.ts'
import { bizEntityFields, organisationFields, personFields } from '../investor/identities.ts'
import { exactlyOneOwner } from '../investor/owned-kind.ts'

const ids = { communicationID: optional(Id), externalCommunicationId: optional(ExternalId) }
const fields = {
  communicationTypeID: optional(lookupID('CommunicationType')),
  name: optional(
    text(500, {
      description: 'The e-mail address, telephone number or other contact value.',
      conformed: trimmed,
    }),
  ),
}
const owners = { ...bizEntityFields, ...personFields, ...organisationFields }

const emailIsAddress: Check = (value) => {
  const { communicationTypeID, name } = (value ?? {}) as Record<string, unknown>
  if (communicationTypeID !== lookups.CommunicationType.Email || typeof name !== 'string') return []
  if (isMailbox(name)) return []
  return [{ field: 'name', words: mailboxWords }]
}
const own: Check = (value) => [...exactlyOneOwner(value), ...emailIsAddress(value)]

/** A communication inside the record of its owner. */
export const NestedCommunication = Type.Object(
  { ...ids, ...fields },
  { $id: 'NestedCommunication', check: emailIsAddress },
)

const example = { communicationTypeID: 1, name: 'ann.example@example.com', personID: 1 }
export const CommunicationInput = Type.Object(
  { externalCommunicationId: ids.externalCommunicationId, ...fields, ...owners },
  { $id: 'CommunicationInput', check: own, example },
)
export const CommunicationInputs = oneOrMany(CommunicationInput)
export const CommunicationUpdate = Type.Object(
  { ...ids, ...fields, ...owners },
  {
    $id: 'CommunicationUpdate',
    check: own,
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
