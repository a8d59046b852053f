import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  ExternalId,
  encrypted,
  Flag,
  Id,
  notBefore,
  oneOrMany,
  optional,
  sensitive,
  shown,
  text,
  textThat,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { Address, NestedAddress } from '../address/schema.ts'
import { Communication, NestedCommunication } from '../communication/schema.ts'
import { isTfn, isTfnExemption } from '../investor/check-digits.ts'
import { Abn, countryAlpha2, countryCode } from '../investor/checks.ts'
import { personFields } from '../investor/identities.ts'

/** A number without the blanks and hyphens that people write between its groups. */
export const withoutSpaces = (value: unknown) =>
  typeof value === 'string' ? value.replaceAll(/[ -]/g, '') : value

/**
 * A tax file number. A masked number passes here; sealRow in vault.ts compares it with the stored
 * one.
 */
export const TaxFileNumber = encrypted(
  textThat(
    50,
    (value) => value.includes('*') || (/^\d{8,9}$/.test(value) && !/^0+$/.test(value)),
    'must be 8 or 9 digits, not all of them 0',
    {
      conformed: withoutSpaces,
      findable: true,
      doubt: (value: string) => /^\d+$/.test(value) && !isTfn(value) && !isTfnExemption(value),
      standIn: isTfnExemption,
    },
  ),
)
export const Tin = (maxLength: number) => encrypted(text(maxLength))

const isMisprint = notBefore('1800-01-01') // estates have members born long ago

/** Not after the day that has begun somewhere: the first time zones are 14 hours ahead of UTC. */
const BirthDate = {
  ...DateOnly,
  check: ((value) => {
    const today = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10)
    const isAhead = typeof value === 'string' && value > today
    return isAhead ? [{ words: 'is after today' }] : isMisprint(value)
  }) satisfies Check,
}

const CountryCode = countryCode(3)
const fields = {
  titleID: optional(lookupID('Title')),
  firstName: optional(text(100)),
  middleName: optional(text(100)),
  lastName: optional(text(100)),
  description: optional(text(2000)),
  abn: optional(Abn),
  birthCountryCode: optional(CountryCode),
  crsfatcaParticipationID: optional(lookupID('CRSFATCAParticipation')),
  customerCode: optional(text(50)),
  dateOfBirth: optional(BirthDate),
  gender: optional(Type.Unsafe<'M' | 'F' | 'X'>({ type: 'string', enum: ['M', 'F', 'X'] })),
  driversLicenseIssueCountryCode: optional(countryAlpha2),
  driversLicenseNumber: optional(sensitive(text(20, { writeOnly: false }))),
  passportIssueCountryCode: optional(countryAlpha2),
  passportNumber: optional(sensitive(text(20, { writeOnly: false }))),
  identificationTypeID: optional(lookupID('IdentificationType')),
  identificationValue: optional(sensitive(text(50, { writeOnly: false }))),
  isDirectorOfCorporateTrustee: optional(Flag),
  isPEP: optional(Flag),
  isSophisticatedInvestor: optional(Flag),
  isTrustee: optional(Flag),
  pepDescription: optional(text(500)),
  legalGuardianTitleID: optional(lookupID('Title')),
  legalGuardianFirstName: optional(text(100)),
  legalGuardianLastName: optional(text(100)),
  legalGuardianMiddleName: optional(text(100)),
  salutation: optional(text(50)),
  sharePercentage: optional(Type.Integer({ minimum: 0, maximum: 100 })),
  sophisticatedInvestorCertificateDate: optional(DateOnly),
  taxationCountryCode: optional(CountryCode),
  taxationCountryCode2: optional(CountryCode),
  taxationCountryCode3: optional(CountryCode),
  taxationCountryTIN: optional(Tin(50)),
  taxationCountryTIN2: optional(Tin(50)),
  taxationCountryTIN3: optional(Tin(50)),
  taxationCountryNoTINReason: optional(text(200)),
  taxationCountryNoTINReason2: optional(text(200)),
  taxationCountryNoTINReason3: optional(text(200)),
  taxationFileNumber: optional(TaxFileNumber),
  tin: optional(Tin(100)),
  tradingName: optional(text(200)),
  taxOfficeTypeID: optional(lookupID('TaxOfficeType')),
}
const nested = {
  addresses: optional(Type.Array(NestedAddress)),
  communications: optional(Type.Array(NestedCommunication)),
}

/**
 * Requires a legal guardian for a minor: title, first and last name. Judged on whole records; if a
 * request gives only some fields of an existing person, on the row that is about to be stored
 * (plan.ts).
 */
export const guarded: Check = (value) => {
  const person = (value ?? {}) as Record<string, unknown>
  const { dateOfBirth } = person
  if (typeof dateOfBirth !== 'string' || !isMinor(dateOfBirth)) return []
  return (['legalGuardianTitleID', 'legalGuardianFirstName', 'legalGuardianLastName'] as const)
    .filter((field) => !String(person[field] ?? '').trim())
    .map((field) => ({ field, code: 'required', words: 'is required for a person under 18' }))
}

/** Dates as texts compare like dates. A person born on 29 February turns 18 on 1 March. */
function isMinor(dateOfBirth: string): boolean {
  const [year, monthAndDay] = [Number(dateOfBirth.slice(0, 4)), dateOfBirth.slice(4)]
  const today = new Date().toISOString().slice(0, 10)
  return `${String(year + 18).padStart(4, '0')}${monthAndDay}` > today
}

const example = {
  externalPersonId: 'PER-2',
  titleID: 3,
  firstName: 'Ann',
  lastName: 'Example',
  dateOfBirth: '1980-02-29',
  taxationFileNumber: '123456782',
  addresses: [{ addressLine: '1 George Street', suburb: 'Sydney' }],
  communications: [{ communicationTypeID: 1, name: 'ann@example.com' }],
}
export const PersonInput = Type.Object(
  { externalPersonId: optional(ExternalId), ...fields, ...nested },
  { $id: 'PersonInput', check: guarded, example },
)
export const PersonInputs = oneOrMany(PersonInput)
export const PersonUpdate = Type.Object(
  { ...personFields, ...fields, ...nested },
  { $id: 'PersonUpdate', example: { personID: 2, ...example } },
)
/** PUT /Person names the person by the native id (4.9). */
export const PersonReplacement = Type.Object(
  { ...PersonUpdate.properties, personID: Id },
  { $id: 'PersonReplacement', example: { personID: 2, ...example } },
)
export const Person = shown('Person', {
  ...personFields,
  ...fields,
  addresses: Type.Array(Address),
  communications: Type.Array(Communication),
})
/** The fields in the person's own table row. */
export const PersonRecord = Type.Object({ ...personFields, ...fields })
export const PersonKey = Type.Object({
  PersonID: optional(Id),
  ExternalPersonId: optional(ExternalId),
})
export const PersonQuery = Type.Object({ ...PersonKey.properties, ...paging })

export type PersonInput = Static<typeof PersonInput>
export type PersonReplacement = Static<typeof PersonReplacement>
export type PersonUpdate = Static<typeof PersonUpdate>
export type PersonKey = Static<typeof PersonKey>
export type PersonQuery = Static<typeof PersonQuery>
