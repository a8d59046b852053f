import { type Static, Type } from 'typebox'
import {
  ExternalId,
  Id,
  Integer,
  oneOrMany,
  optional,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { reference } from '../../platform/sql/identify.ts'
import { countryCode, isPostcodeOf, isState, StateCode, stateCodes } from '../investor/checks.ts'
import { bizEntityFields, organisationFields, personFields } from '../investor/identities.ts'
import { exactlyOneOwner } from '../investor/owned-kind.ts'

const ids = { addressID: optional(Id), externalAddressId: optional(ExternalId) }
const fields = {
  addressTypeID: optional(Integer),
  aboveAddressLine: optional(text(200)),
  addressLine: optional(text(200)),
  suburb: optional(text(255)),
  postcode: optional(text(255)),
  stateCode: optional(StateCode),
  countryCode: optional(countryCode(255)),
  officeID: optional(Integer),
}
const owners = { ...bizEntityFields, ...personFields, ...organisationFields }

/** An Australian address needs a state, and a postcode of that state. */
const australian: Check = (value) => {
  const { countryCode, stateCode, postcode } = (value ?? {}) as Record<string, unknown>
  if (countryCode !== 'AU' && countryCode !== 'AUS') return []
  const state = typeof stateCode === 'string' ? stateCode : ''
  const code = typeof postcode === 'string' ? postcode : ''
  if (!isState(state))
    return [
      {
        field: 'stateCode',
        words: `of an Australian address must be one of ${stateCodes.join(', ')}`,
      },
    ]
  if (isPostcodeOf(state, code)) return []
  return [{ field: 'postcode', words: `is not a postcode of ${state}` }]
}

/** An address inside the record of its owner. */
export const NestedAddress = Type.Object(
  { ...ids, ...fields },
  { $id: 'NestedAddress', check: australian },
)

const own: Check = (value) => [...exactlyOneOwner(value), ...australian(value)]
const example = {
  externalAddressId: 'ADR-1',
  addressTypeID: 6,
  addressLine: '1 George Street',
  suburb: 'Sydney',
  postcode: '2000',
  stateCode: 'NSW',
  countryCode: 'AU',
  personID: 1,
}
export const AddressInput = Type.Object(
  { externalAddressId: ids.externalAddressId, ...fields, ...owners },
  { $id: 'AddressInput', check: own, example },
)
export const AddressInputs = oneOrMany(AddressInput)
export const AddressUpdate = Type.Object(
  { ...ids, ...fields, ...owners },
  { $id: 'AddressUpdate', check: own, example: { addressID: 1, ...example } },
)
export const Address = shown('Address', { ...ids, ...fields, ...owners })
export const AddressKey = Type.Object({
  AddressID: optional(Id),
  ExternalAddressId: optional(ExternalId),
})

export type AddressInput = Static<typeof AddressInput>
export type AddressUpdate = Static<typeof AddressUpdate>
export type AddressKey = Static<typeof AddressKey>

const address = {
  what: 'address',
  table: 'address',
  columns: ['address_id', 'external_address_id'],
} as const
export const addressReference = reference(address, ['addressID', 'externalAddressId'])
export const addressParameter = reference(address, ['AddressID', 'ExternalAddressId'])
