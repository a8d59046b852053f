import { arrayOf, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { createOwned, deleteOwned, updateOwned } from '../investor/owned.ts'
import {
  Communication,
  CommunicationInput,
  CommunicationInputs,
  CommunicationKey,
  CommunicationQuery,
  CommunicationUpdate,
  communicationParameter,
} from './schema.ts'
import { communicationKind, readCommunications } from './sql.ts'

export const communicationEndpoints = [
  reading({
    operation: 'GET /Communication',
    access: 'Communication.Read',
    summary: 'Read one communication, or list all communications page by page.',
    query: CommunicationQuery,
    data: arrayOf(Communication),
    etag: { by: communicationParameter.fields },
    read: ({ query, actor }, handle) => readCommunications(handle, actor, query),
  }),
  writing({
    operation: 'POST /Communication',
    access: 'Communication.Write',
    summary: 'Create communications. Each belongs to exactly one entity, person or organisation.',
    resource: 'Communication',
    body: CommunicationInputs,
    data: arrayOf(Communication),
    write: ({ body, pathOf, actor }, tx) =>
      createOwned(tx, actor, communicationKind, CommunicationInput, body, pathOf),
  }),
  writing({
    operation: 'PUT /Communication',
    access: 'Communication.Write',
    summary:
      'Replace a communication. If another owner is given, the communication moves to that owner.',
    resource: 'Communication',
    body: CommunicationUpdate,
    data: arrayOf(Communication),
    write: ({ body, actor }, tx) => updateOwned(tx, actor, communicationKind, body),
  }),
  writing({
    operation: 'DELETE /Communication',
    access: 'Communication.Write',
    summary: 'Delete a communication.',
    resource: 'Communication',
    query: CommunicationKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteOwned(tx, actor, communicationKind, query),
  }),
]
