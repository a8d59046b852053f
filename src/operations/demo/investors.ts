import { lookups } from '../../platform/lookup/lookups.ts'
import type { Chance } from './chance.ts'
import { companyWords, firstNames, lastNames, streets, suburbs, trades } from './names.ts'
import { abn, tfn } from './tax-numbers.ts'

type Kind = 'individual' | 'joint' | 'company' | 'trust' | 'smsf' | 'partnership'

const { BizEntityType: types, BizEntityStatus: statuses, RelationshipType: relations } = lookups

const typeIDs: Record<Kind, number> = {
  individual: types.Individual,
  joint: types.Individual,
  company: types.Company,
  trust: types.Trust,
  smsf: types.SMSF,
  partnership: types.Partnership,
}

/** How many of a hundred investors are of each kind, as in a register of retail funds. */
const mix: [Kind, number][] = [
  ['individual', 46],
  ['joint', 16],
  ['smsf', 14],
  ['trust', 12],
  ['company', 9],
  ['partnership', 3],
]

function kindOf(chance: Chance): Kind {
  let left = chance.below(100)
  for (const [kind, share] of mix) {
    if (left < share) return kind
    left -= share
  }
  return 'individual'
}

/** The body of an investor for POST /BizEntity. */
export function investor(chance: Chance, number: number, productID: number) {
  const kind = kindOf(chance)
  const people = kind === 'joint' || kind === 'partnership' ? 2 : 1
  const last = chance.one(lastNames)
  const persons = Array.from({ length: people }, (_, i) => person(chance, number, last, i))
  const name = nameOf(chance, kind, last, persons)
  const isPeople = kind === 'individual' || kind === 'joint'
  return {
    externalBizEntityId: `INV-${number}`,
    bizEntityTypeID: typeIDs[kind],
    bizEntityStatusID: chance.percent(97)
      ? statuses.Active
      : chance.between(statuses.Pending, statuses.Inactive),
    name,
    taxationCountryCode: 'AUS',
    investorTypeID: chance.percent(80)
      ? lookups.InvestorType.Retail
      : chance.between(lookups.InvestorType.Wholesale, lookups.InvestorType.Professional),
    sourceOfFundsID: chance.between(1, 9),
    communicationPreferenceID: chance.percent(75)
      ? lookups.CommunicationPreference.Email
      : lookups.CommunicationPreference.Post,
    accounts: [account(chance, number, productID)],
    addresses: [{ addressTypeID: lookups.AddressType.Postal, ...address(chance) }],
    paymentDetails: chance.percent(96) ? [paymentDetail(chance, name)] : [],
    bizEntityParties: isPeople
      ? persons.map((given, i) => ({ isPrimaryContact: i === 0, isSignatory: true, person: given }))
      : [
          {
            isPrimaryContact: true,
            organisation: organisation(chance, number, kind, name, persons),
          },
        ],
  }
}

type Person = ReturnType<typeof person>

function person(chance: Chance, number: number, lastName: string, place: number) {
  const firstName = chance.one(firstNames)
  const born = `${chance.between(1945, 2000)}-0${chance.between(1, 9)}-${chance.between(10, 28)}`
  const mail = `${firstName}.${lastName}.${number}${place === 0 ? '' : 'b'}@example.com`
  return {
    externalPersonId: `PER-${number}-${place + 1}`,
    titleID: chance.between(1, 6),
    firstName,
    lastName,
    dateOfBirth: born,
    taxationCountryCode: 'AU',
    ...(chance.percent(93) && { taxationFileNumber: tfn(chance) }),
    communications: [
      { communicationTypeID: lookups.CommunicationType.Email, name: mail.toLowerCase() },
      {
        communicationTypeID: lookups.CommunicationType.Mobile,
        name: `04${chance.between(10_000_000, 99_999_999)}`,
      },
    ],
  }
}

function nameOf(chance: Chance, kind: Kind, last: string, persons: Person[]): string {
  const names = persons.map(({ firstName, lastName }) => `${firstName} ${lastName}`)
  if (kind === 'company') return `${chance.one(companyWords)} ${chance.one(trades)} Pty Ltd`
  if (kind === 'trust') return `The ${last} Family Trust`
  if (kind === 'smsf') return `${last} Superannuation Fund`
  return names.join(kind === 'partnership' ? ' and ' : ' & ')
}

const organisation = (
  chance: Chance,
  number: number,
  kind: Kind,
  name: string,
  persons: Person[],
) => ({
  externalOrganisationId: `ORG-${number}`,
  name: kind === 'company' ? name : `${name} Trustee`,
  abn: abn(chance),
  organisationTypeID: lookups.OrganisationType['Private company'],
  isCorporateTrustee: kind === 'trust' || kind === 'smsf',
  associatedPersons: persons.map((one) => ({
    relationshipTypeID: kind === 'partnership' ? relations.Partner : relations.Director,
    isSignatory: true,
    person: one,
  })),
})

const account = (chance: Chance, number: number, productID: number) => ({
  externalAccountId: `ACC-${number}`,
  productID,
  accountStatusID: lookups.AccountStatus.Active,
  ...(chance.percent(45)
    ? { drpTypeID: lookups.DRPType.Full }
    : chance.percent(15)
      ? { drpTypeID: lookups.DRPType.Percentage, drpValue: '50' }
      : { drpTypeID: lookups.DRPType.None }),
})

const address = (chance: Chance) => {
  const [suburb, stateCode, postcode] = chance.one(suburbs)
  const addressLine = `${chance.between(1, 240)} ${chance.one(streets)} Street`
  return { addressLine, suburb, stateCode, postcode, countryCode: 'AU' }
}

const paymentDetail = (chance: Chance, accountName: string) => ({
  paymentTypeID: lookups.PaymentType['Direct credit'],
  bsb: `0${chance.between(12, 88)}-${chance.between(100, 899)}`,
  accountNumber: String(chance.between(10_000_000, 99_999_999)),
  accountName: accountName.slice(0, 100),
  currencyID: lookups.Currency.AUD,
  isForDeposit: true,
  isForDistribution: true,
  isForRedemption: true,
  isDefault: true,
})
