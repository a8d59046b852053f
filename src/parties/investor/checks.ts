import { isValidBIC, isValidIBAN } from 'ibantools'
import { countries } from '../../platform/lookup/countries.ts'
import { text, textThat } from '../../platform/shape/fields.ts'
import { isAbn, isAcn } from './check-digits.ts'

/** The identifiers and codes in investors' records, each with the check of its format. */

const upperCase = (value: unknown) =>
  typeof value === 'string' ? value.trim().toUpperCase() || undefined : value

const alpha2 = new Set(countries.map(([two]) => two))
const alpha3 = new Set(countries.map(([, three]) => three))

/**
 * A country code of two or three letters. Codes are accepted in any letter case and stored in
 * capitals.
 */
export const countryCode = (maxLength: number) =>
  textThat(
    maxLength,
    (code) => alpha2.has(code) || alpha3.has(code),
    'must be a country code of ISO 3166-1, like AU or AUS',
    { conformed: upperCase },
  )
export const countryAlpha2 = textThat(
  2,
  (code) => alpha2.has(code),
  'must be a two-letter country code of ISO 3166-1, like AU',
  { conformed: upperCase },
)
export const countryAlpha3 = textThat(
  3,
  (code) => alpha3.has(code),
  'must be a three-letter country code of ISO 3166-1, like AUS',
  { conformed: upperCase },
)

export const StateCode = text(255, { conformed: upperCase })

const allZeros = /^0+$/
export const Abn = textThat(
  11,
  (abn) => /^\d{11}$/.test(abn) && !allZeros.test(abn),
  'must be 11 digits, not all of them 0',
  { doubt: (abn: string) => !isAbn(abn) },
)
export const Acn = textThat(
  9,
  (acn) => /^\d{9}$/.test(acn) && !allZeros.test(acn),
  'must be 9 digits, not all of them 0',
  { doubt: (acn: string) => !isAcn(acn) },
)
/** A bank branch. All zeros and all nines stand for "none" in bank files. */
export const Bsb = textThat(
  7,
  (bsb) => /^\d{3}-?\d{3}$/.test(bsb) && !/^(000-?000|999-?999)$/.test(bsb),
  'must be six digits, like 062-000, and a branch that there can be',
)
/**
 * An account number as people write it. A masked number passes here; unmask.ts compares it with the
 * stored one.
 */
export const AccountNumber = textThat(
  50,
  (number) => /^[0-9A-Za-z *-]*$/.test(number),
  'must have digits, letters, blanks and hyphens only',
)
/** Stored as it was sent, with the spaces and hyphens that people write it with. */
export const Iban = (options: object = {}) =>
  textThat(
    42,
    (iban) => iban.includes('*') || isValidIBAN(iban.replaceAll(/[ .-]/g, '').toUpperCase()),
    'is not a valid IBAN',
    options,
  )
export const Bic = textThat(
  11,
  (bic) => isValidBIC(bic) && (alpha2.has(bic.slice(4, 6)) || bic.slice(4, 6) === 'XK'),
  'is not a valid SWIFT code (BIC)',
)

type Range = readonly [from: number, to: number]

/** Postcodes by state, including those of post office boxes and large receivers. */
const ranges: Record<string, readonly Range[]> = {
  ACT: [
    [200, 299],
    [2600, 2618],
    [2900, 2920],
  ],
  NSW: [
    [1000, 2599],
    [2619, 2899],
    [2921, 2999],
  ],
  VIC: [
    [3000, 3999],
    [8000, 8999],
  ],
  QLD: [
    [4000, 4999],
    [9000, 9999],
  ],
  SA: [[5000, 5999]],
  WA: [[6000, 6999]],
  TAS: [[7000, 7999]],
  NT: [[800, 999]],
}

/** Postcodes whose area crosses a border into a state with other ranges. */
const acrossBorders: Record<string, readonly string[]> = {
  SA: ['0872'],
  WA: ['0872'],
  ACT: ['2540', '2620'],
  NSW: [
    '2611',
    '2618',
    '3500',
    '3585',
    '3586',
    '3644',
    '3691',
    '3707',
    '4377',
    '4380',
    '4383',
    '4385',
  ],
  NT: ['4825'],
  QLD: ['2406'],
}

export const isState = (state: string) => Object.hasOwn(ranges, state)
export const stateCodes = Object.keys(ranges)

export function isPostcodeOf(state: string, postcode: string): boolean {
  if (!/^\d{4}$/.test(postcode)) return false
  const number = Number(postcode)
  return (
    (ranges[state] ?? []).some(([from, to]) => number >= from && number <= to) ||
    (acrossBorders[state] ?? []).includes(postcode)
  )
}
