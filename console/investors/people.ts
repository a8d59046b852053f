import type { BizEntity, BizEntityParty } from '../shared/api/types.ts'
import { beside } from '../shared/format.ts'

/** The lookup id of e-mail among the communication types. */
const emailType = 1

const isEmail = ({ communicationTypeID }: { communicationTypeID: number | null }) =>
  communicationTypeID === emailType

/** The e-mail address of an investor: its own, else that of a party. */
export function emailOf({ communications, bizEntityParties }: BizEntity): string | null {
  const all = [
    ...communications,
    ...bizEntityParties.flatMap(({ person, organisation }) => [
      ...(person?.communications ?? []),
      ...(organisation?.communications ?? []),
      ...(organisation?.associatedPersons ?? []).flatMap((one) => one.person?.communications ?? []),
    ]),
  ]
  return all.find(isEmail)?.name ?? null
}

type Named = { firstName: string | null; middleName: string | null; lastName: string | null }

export const fullName = ({ firstName, middleName, lastName }: Named) =>
  beside([firstName, middleName, lastName], ' ')

/** The name of a party. */
export const partyName = ({ person, organisation }: BizEntityParty) =>
  person ? fullName(person) : (organisation?.name ?? '')

type Placed = {
  aboveAddressLine: string | null
  addressLine: string | null
  suburb: string | null
  stateCode: string | null
  postcode: string | null
  countryCode: string | null
}

export const addressText = (address: Placed) =>
  beside(
    [
      address.aboveAddressLine,
      address.addressLine,
      beside([address.suburb, address.stateCode, address.postcode], ' '),
      address.countryCode,
    ],
    ', ',
  )
