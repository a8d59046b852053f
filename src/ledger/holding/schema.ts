import { type Static, Type } from 'typebox'
import { knownAt, paging } from '../../platform/http/paging.ts'
import { DateOnly, decimal, ExternalId, Id, optional, shown } from '../../platform/shape/fields.ts'
import { filterParameters, intFilter, textFilter } from '../../platform/sql/filters.ts'
import { accountFilters, ownerFilters } from '../biz-transaction/schema.ts'

const Decimal = decimal()

export const Holding = shown('Holding', {
  bizEntityID: Id,
  externalBizEntityId: ExternalId,
  bizEntityName: Type.String(),
  accountID: Id,
  externalAccountId: ExternalId,
  accountNumber: Type.String(),
  productID: Id,
  externalProductId: ExternalId,
  investmentID: Id,
  externalInvestmentId: ExternalId,
  securityCode: Type.String(),
  investmentName: Type.String(),
  date: DateOnly,
  quantity: Decimal,
  costAmount: Decimal,
  averageCost: Decimal,
  price: Decimal,
  priceDate: DateOnly,
  marketValue: Decimal,
  unrealisedGain: Decimal,
  unrealisedGainPercent: Decimal,
  realisedGain: Decimal,
  distributionEntitlement: Decimal,
  distributionsPaid: Decimal,
  drpResidual: Decimal,
  // Not in the specification, so it follows the fields that are.
  availableQuantity: Decimal,
})

export const holdingFilters = {
  AccountID: intFilter('h.account_id'),
  InvestmentID: intFilter('h.investment_id'),
}
export const holdingInvestmentFilters = {
  ExternalInvestmentId: textFilter('i.external_investment_id'),
  SecurityCode: textFilter('i.security_code'),
}
export const HoldingQuery = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  ...filterParameters({
    ...holdingFilters,
    ...accountFilters,
    ...ownerFilters,
    ...holdingInvestmentFilters,
  }),
  Date: optional(DateOnly),
  ...knownAt,
  ...paging,
})
export type HoldingQuery = Static<typeof HoldingQuery>
