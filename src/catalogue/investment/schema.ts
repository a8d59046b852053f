import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Flag,
  Id,
  oneOrMany,
  optional,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import { dateFilter, filterParameters } from '../../platform/sql/filters.ts'
import { reference } from '../../platform/sql/identify.ts'

const productFields = { productID: optional(Id), externalProductId: optional(ExternalId) }
const SecurityCode = requiredText(50)
export const Price = decimal({ above: '0' })

const fields = {
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(SecurityCode),
  ...productFields,
  name: optional(text(200)),
  description: optional(text(2000)),
  isActive: optional(Flag),
  currencyID: optional(lookupID('Currency')),
  unitDecimals: optional(Type.Integer({ minimum: 0, maximum: 8, default: 4 })),
  issuePrice: optional(Price),
  drpResidualOnExit: optional(
    Type.Unsafe<'Pay' | 'Carry'>({ type: 'string', enum: ['Pay', 'Carry'] }),
  ),
}

export const InvestmentInput = Type.Object(fields, {
  $id: 'InvestmentInput',
  example: { productID: 1, externalInvestmentId: 'GROWTH-A', securityCode: 'GRA', name: 'Class A' },
})
export const InvestmentUpdate = Type.Object(
  { investmentID: optional(Id), ...fields },
  {
    $id: 'InvestmentUpdate',
    example: { investmentID: 1, securityCode: 'GRA', name: 'Class A', isActive: false },
  },
)
export const Investment = shown('Investment', {
  investmentID: Id,
  ...fields,
  createdDate: DateTime,
  updatedDate: DateTime,
})

const parameters = {
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  InvestmentID: optional(Id),
  ExternalInvestmentId: optional(ExternalId),
}
/** SecurityCode is not among them: the specification does not take it here (4.17). */
export const InvestmentKey = Type.Object(parameters)
export const InvestmentQuery = Type.Object({
  ...parameters,
  SecurityCode: optional(SecurityCode),
  IsActive: optional(Flag),
  ...paging,
})

const priceFields = {
  ...productFields,
  investmentID: optional(Id),
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(SecurityCode),
}
const priceFigures = {
  price: Price,
  applicationPrice: optional(Price),
  redemptionPrice: optional(Price),
}
const priceExample = { investmentID: 1, priceDate: '2026-06-30', price: 1.0425 }

export const PriceInput = Type.Object(
  { ...priceFields, priceDate: DateOnly, ...priceFigures },
  { $id: 'PriceInput', example: priceExample },
)
export const PriceInputs = oneOrMany(PriceInput)
export const PriceUpdate = Type.Object(
  {
    investmentPriceID: optional(Id),
    ...priceFields,
    priceDate: optional(DateOnly),
    ...priceFigures,
  },
  { $id: 'PriceUpdate', example: { investmentPriceID: 1, price: 1.05 } },
)
export const InvestmentPrice = shown('InvestmentPrice', {
  investmentPriceID: Id,
  investmentID: Id,
  externalInvestmentId: ExternalId,
  securityCode: SecurityCode,
  productID: Id,
  externalProductId: ExternalId,
  priceDate: DateOnly,
  ...priceFigures,
})

export const priceFilters = { PriceDate: dateFilter('v.price_date') }
export const PriceKey = Type.Object({
  InvestmentPriceID: optional(Id),
  ...parameters,
  SecurityCode: optional(SecurityCode),
  PriceDate: optional(DateOnly),
})
const { PriceDate: _filtered, ...priceParameters } = PriceKey.properties
export const PriceQuery = Type.Object({
  ...priceParameters,
  ...filterParameters(priceFilters),
  ...paging,
})

export type InvestmentInput = Static<typeof InvestmentInput>
export type InvestmentUpdate = Static<typeof InvestmentUpdate>
export type InvestmentKey = Static<typeof InvestmentKey>
export type InvestmentQuery = Static<typeof InvestmentQuery>
export type PriceInput = Static<typeof PriceInput>
export type PriceUpdate = Static<typeof PriceUpdate>
export type PriceKey = Static<typeof PriceKey>
export type PriceQuery = Static<typeof PriceQuery>

export const investmentIdentity = {
  what: 'investment',
  table: 'investment',
  columns: ['investment_id', 'external_investment_id', 'security_code'],
  inProduct: true,
} as const
/** An investment as bodies and as query strings name it. */
export const investmentReference = reference(investmentIdentity, [
  'investmentID',
  'externalInvestmentId',
  'securityCode',
])
export const investmentParameter = reference(investmentIdentity, [
  'InvestmentID',
  'ExternalInvestmentId',
  'SecurityCode',
])
/** A conversion names two. */
export const fromInvestmentReference = reference(investmentIdentity, [
  'fromInvestmentID',
  'fromExternalInvestmentId',
  'fromSecurityCode',
])
export const toInvestmentReference = reference(investmentIdentity, [
  'toInvestmentID',
  'toExternalInvestmentId',
  'toSecurityCode',
])
