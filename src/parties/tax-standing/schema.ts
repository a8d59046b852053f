import { Type } from 'typebox'
import {
  DateOnly,
  decimal,
  ExternalId,
  Flag,
  Id,
  optional,
  shown,
} from '../../platform/shape/fields.ts'
import { WithholdingOverride } from '../account/schema.ts'

/** The rules by which tax is withheld from what an account gets. */
const withholdingRules = ['Override', 'NoTfn', 'NonResident', 'None'] as const

const TaxParty = shown('TaxParty', {
  bizEntityPartyID: Id,
  name: Type.String(),
  counts: {
    ...Flag,
    description: 'Whether the tax standing of the account depends on this party.',
  },
  isResident: {
    ...Flag,
    description: 'Whether the party is an Australian resident for tax purposes.',
  },
  countryCode: { ...Type.String(), description: 'The country of residence, if it is known.' },
  residenceBy: {
    ...Type.String({
      enum: ['TaxOfficeType', 'TaxCountry', 'EntityTaxCountry', 'PostalAddress', 'Assumed'],
    }),
    description: 'The information from which the residence was determined.',
  },
  isQuoted: { ...Flag, description: 'Whether a tax file number, ABN or exemption is on record.' },
  quotedBy: {
    ...Type.String({ enum: ['Exemption', 'TaxFileNumber', 'Abn'] }),
    description: 'What was quoted.',
  },
})

export const TaxStanding = shown('TaxStanding', {
  accountID: Id,
  externalAccountId: ExternalId,
  accountNumber: Type.String(),
  productID: Id,
  bizEntityID: Id,
  date: DateOnly,
  rule: {
    ...Type.String({ enum: [...withholdingRules] }),
    description: 'The rule by which tax is withheld from the distributions of the account.',
  },
  countryCodes: Type.Array(Type.String(), {
    description: 'The countries of the parties that are not resident in Australia.',
  }),
  overridePercentage: {
    ...decimal(),
    description: 'The percentage of the override that applies on the date.',
  },
  withholdingOverride: WithholdingOverride,
  reasons: Type.Array(Type.String(), { description: 'Why the rule applies, in words.' }),
  parties: Type.Array(TaxParty),
})

export const TaxStandingQuery = Type.Object({
  AccountID: optional(Id),
  ExternalAccountId: optional(ExternalId),
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  Date: optional(DateOnly),
})
