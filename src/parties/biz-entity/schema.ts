import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  ExternalId,
  Flag,
  Id,
  Integer,
  oneOrMany,
  optional,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import {
  codeFilter,
  dateTimeFilter,
  filterParameters,
  intFilter,
  lookupFilter,
  textFilter,
} from '../../platform/sql/filters.ts'
import { Account, AccountInput } from '../account/schema.ts'
import { Address, NestedAddress } from '../address/schema.ts'
import { Communication, NestedCommunication } from '../communication/schema.ts'
import { countryAlpha3 } from '../investor/checks.ts'
import { bizEntityFields } from '../investor/identities.ts'
import { NestedPaymentDetail, PaymentDetail } from '../payment-detail/schema.ts'
import { BizEntityParent, NestedParent } from './parent-schema.ts'
import { BizEntityParty, PartyInput } from './party-schema.ts'

const fields = {
  bizEntityTypeID: lookupID('BizEntityType'),
  bizEntityStatusID: lookupID('BizEntityStatus'),
  name: requiredText(500),
  legalName: optional(text(500)),
  description: optional(text(2000)),
  customerCode: optional(text(100)),
  advisorNumber: optional(text(100)),
  authorizedNomineePersonID: optional(Id),
  bizEntityTaxOfficeTypeID: optional(lookupID('TaxOfficeType')),
  communicationPreferenceCopyParentBizEntity: optional(Flag),
  communicationPreferenceID: optional(lookupID('CommunicationPreference')),
  contactPerson: optional(text(200)),
  controllingPID: optional(Id),
  corporateRepresentative: optional(text(200)),
  customerCategoryID: optional(lookupID('CustomerCategory')),
  groupedWithBizEntityID: optional(Id),
  investorTypeID: optional(lookupID('InvestorType')),
  isDirectorInterest: optional(Flag),
  isExecutiveInterest: optional(Flag),
  marginLenderOrganisationID: optional(Id),
  powerOfAttorney: optional(text(200)),
  purposeOfInvestmentID: optional(lookupID('PurposeOfInvestment')),
  salesPersonID: optional(Integer),
  salutation: optional(text(100)),
  signatureParty: optional(Id),
  sophisticatedInvestorCertificateDate: optional(DateOnly),
  sophisticatedInvestorComment: optional(text(2000)),
  sophisticatedInvestorEligibility: optional(text(200)),
  sourceOfFundsID: optional(lookupID('SourceOfFunds')),
  specialConditions: optional(text(2000)),
  standingProxy: optional(text(200)),
  taxationCountryCode: optional(countryAlpha3),
}
const nested = {
  accounts: Type.Array(AccountInput, { minItems: 1 }),
  addresses: optional(Type.Array(NestedAddress)),
  communications: optional(Type.Array(NestedCommunication)),
  paymentDetails: optional(Type.Array(NestedPaymentDetail)),
  bizEntityParties: Type.Array(PartyInput, { minItems: 1 }),
  bizEntityParents: optional(Type.Array(NestedParent)),
}

const example = {
  externalBizEntityId: 'ENT-1',
  bizEntityTypeID: 1,
  bizEntityStatusID: 1,
  name: 'Ann Example',
  taxationCountryCode: 'AUS',
  accounts: [{ productID: 1, externalAccountId: 'ACC-1' }],
  bizEntityParties: [
    { isPrimaryContact: true, person: { externalPersonId: 'PER-1', firstName: 'Ann' } },
  ],
}
export const BizEntityInput = Type.Object(
  { externalBizEntityId: optional(ExternalId), ...fields, ...nested },
  { $id: 'BizEntityInput', example },
)
export const BizEntityInputs = oneOrMany(BizEntityInput)
export const BizEntityUpdate = Type.Object(
  { ...bizEntityFields, ...fields, ...nested },
  { $id: 'BizEntityUpdate', example: { bizEntityID: 1, ...example } },
)
export const BizEntity = shown('BizEntity', {
  ...bizEntityFields,
  ...fields,
  createdDate: DateTime,
  accounts: Type.Array(Account),
  addresses: Type.Array(Address),
  communications: Type.Array(Communication),
  paymentDetails: Type.Array(PaymentDetail),
  bizEntityParties: Type.Array(BizEntityParty),
  bizEntityParents: Type.Array(BizEntityParent),
})
/** An entity's own fields: the columns of its table, except its product. */
export const BizEntityRecord = Type.Object({ ...bizEntityFields, ...fields })

export const entityFilters = {
  BizEntityTypeID: lookupFilter('b.biz_entity_type_id', lookups.BizEntityType),
  CreatedDate: dateTimeFilter('b.created_date'),
  UpdatedDate: dateTimeFilter('b.updated_date'),
  UpdatedDateFull: dateTimeFilter('b.updated_date_full', 'greaterThanOrEqual'),
}
/** Filters by account. If several are given, one account must match them all. */
export const accountFilters = {
  AccountID: intFilter('a.account_id'),
  AccountNumber: codeFilter('a.account_number'),
  ExternalAccountId: textFilter('a.external_account_id'),
}
export const BizEntityKey = Type.Object({
  BizEntityID: optional(Id),
  ExternalBizEntityId: optional(ExternalId),
})
export const BizEntityQuery = Type.Object({
  ...BizEntityKey.properties,
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  InvestmentID: optional(Id),
  ExternalInvestmentId: optional(ExternalId),
  SecurityCode: optional(requiredText(50)),
  PersonID: optional(Id),
  ExternalPersonId: optional(ExternalId),
  OrganisationID: optional(Id),
  ExternalOrganisationId: optional(ExternalId),
  ...filterParameters(entityFilters),
  ...filterParameters(accountFilters),
  ...paging,
})

export type BizEntityInput = Static<typeof BizEntityInput>
export type BizEntityUpdate = Static<typeof BizEntityUpdate>
export type BizEntityKey = Static<typeof BizEntityKey>
export type BizEntityQuery = Static<typeof BizEntityQuery>
