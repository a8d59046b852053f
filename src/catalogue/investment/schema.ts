import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  clearable,
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Flag,
  FlagSet,
  Id,
  oneOrMany,
  optional,
  RegisterDate,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import { dateFilter, filterParameters } from '../../platform/sql/filters.ts'
import { reference } from '../../platform/sql/identify.ts'

const productFields = { productID: optional(Id), externalProductId: optional(ExternalId) }
const SecurityCode = requiredText(50)
export const Price = decimal({ above: '0' })

const PriceTolerance = decimal(
  { minimum: '0' },
  {
    description:
      'By how many percent a price may differ from the one before it. A price that differs by ' +
      'more is refused unless it is sent with confirm: true. Null: no limit.',
  },
)
const PriceAge = Type.Integer({
  minimum: 0,
  maximum: 36_500,
  description:
    'How many days old the price of a posting may be. A posting at an older price is refused ' +
    'unless it is sent with confirm: true. Null: no limit.',
})

const ResidualOnExit = Type.Unsafe<'Pay' | 'Carry'>({
  type: 'string',
  enum: ['Pay', 'Carry'],
  default: 'Pay',
})

const codes = { externalInvestmentId: optional(ExternalId), securityCode: optional(SecurityCode) }
const own = {
  name: optional(text(200)),
  description: optional(text(2000)),
  isActive: optional(FlagSet),
  currencyID: optional(lookupID('Currency')),
  unitDecimals: optional(Type.Integer({ minimum: 0, maximum: 8, default: 4 })),
  issuePrice: optional(Price),
  drpResidualOnExit: optional(clearable(ResidualOnExit)),
  priceTolerancePercent: optional(clearable(PriceTolerance)),
  maximumPriceAgeDays: optional(clearable(PriceAge)),
}
const fields = { ...codes, ...productFields, ...own }

export const InvestmentInput = Type.Object(fields, {
  $id: 'InvestmentInput',
  example: { productID: 1, externalInvestmentId: 'GROWTH-A', securityCode: 'GRA', name: 'Class A' },
})
export const InvestmentUpdate = Type.Object(
  { investmentID: optional(Id), ...fields },
  {
    $id: 'InvestmentUpdate',
    example: { investmentID: 1, securityCode: 'GRA', name: 'Class A', isActive: true },
  },
)
export const Investment = shown('Investment', {
  investmentID: Id,
  ...fields,
  createdDate: DateTime,
  updatedDate: DateTime,
})
/** An investment's own fields: what its table holds. */
export const InvestmentRecord = Type.Object({ investmentID: Id, productID: Id, ...codes, ...own })

const parameters = {
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  InvestmentID: optional(Id),
  ExternalInvestmentId: optional(ExternalId),
}
/** SecurityCode is known here only to refuse it by name: it names nothing to delete (4.17). */
export const InvestmentKey = Type.Object({
  ...parameters,
  SecurityCode: optional(SecurityCode),
})
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
/** A replacement keeps application and redemption prices that it leaves out; null clears them. */
const changedFigures = {
  price: Price,
  applicationPrice: optional(clearable(Price)),
  redemptionPrice: optional(clearable(Price)),
}
const priceExample = { investmentID: 1, priceDate: '2026-06-30', price: 1.0425 }

/** `confirm` accepts a price that moves further than the investment's tolerance allows. */
const Confirm = {
  ...Flag,
  description:
    'Accepts a price that differs from the one before it by more than the tolerance allows.',
}

export const PriceInput = Type.Object(
  { ...priceFields, priceDate: RegisterDate, ...priceFigures, confirm: optional(Confirm) },
  { $id: 'PriceInput', example: priceExample },
)
export const PriceInputs = oneOrMany(PriceInput)
export const PriceUpdate = Type.Object(
  {
    investmentPriceID: optional(Id),
    ...priceFields,
    priceDate: optional(RegisterDate),
    ...changedFigures,
    confirm: optional(Confirm),
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
/** A price's own fields: what its table holds. */
export const PriceRecord = Type.Object({
  investmentPriceID: Id,
  investmentID: Id,
  priceDate: DateOnly,
  ...changedFigures,
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
/** A conversion names two investments. */
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
