import { arrayOf, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { createOwned, deleteOwned, updateOwned } from '../investor/owned.ts'
import {
  Address,
  AddressInput,
  AddressInputs,
  AddressKey,
  AddressUpdate,
  addressParameter,
} from './schema.ts'
import { addressKind, readAddress } from './sql.ts'

export const addressEndpoints = [
  reading({
    operation: 'GET /Address',
    access: 'Address.Read',
    summary: 'Read one address.',
    query: AddressKey,
    data: Address,
    etag: { by: addressParameter.fields },
    read: ({ query, actor }, handle) => readAddress(handle, actor, query),
  }),
  writing({
    operation: 'POST /Address',
    access: 'Address.Write',
    summary: 'Create addresses. Each belongs to exactly one entity, person or organisation.',
    resource: 'Address',
    body: AddressInputs,
    data: arrayOf(Address),
    write: ({ body, pathOf, actor }, tx) =>
      createOwned(tx, actor, addressKind, AddressInput, body, pathOf),
  }),
  writing({
    operation: 'PUT /Address',
    access: 'Address.Write',
    summary: 'Replace an address. If another owner is given, the address moves to that owner.',
    resource: 'Address',
    body: AddressUpdate,
    data: arrayOf(Address),
    write: ({ body, actor }, tx) => updateOwned(tx, actor, addressKind, body),
  }),
  writing({
    operation: 'DELETE /Address',
    access: 'Address.Write',
    summary: 'Delete an address.',
    resource: 'Address',
    query: AddressKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteOwned(tx, actor, addressKind, query),
  }),
]
