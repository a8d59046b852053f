import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  clearable,
  DateTime,
  ExternalId,
  FlagSet,
  Id,
  optional,
  RegisterDate,
  requiredText,
  shown,
  text,
  textThat,
} from '../../platform/shape/fields.ts'
import { reference } from '../../platform/sql/identify.ts'
import { isTimeZone } from '../../time-zone.ts'
import {
  CompanyTax,
  CoolOff,
  FinancialYearEnd,
  Issuer,
  TaxComponentKinds,
  Withholding,
} from './money-schema.ts'

const TimeZone = textThat(
  64,
  isTimeZone,
  'must be a time zone of the IANA, like Australia/Sydney',
  {
    description:
      'The time zone that decides which day it is for the product: what today is, which dates ' +
      'are in the future, and when a record date has ended. If left out when a product is ' +
      'created: REGISTRY_TIME_ZONE.',
  },
)
const LockedDate = {
  ...RegisterDate,
  description:
    'Nothing dated on or before this day can be posted, updated, rolled back or priced. Moving ' +
    'it forward, up to today, needs Product.Write. Moving it past today or back, or removing it ' +
    '(null), needs Product.Unlock.',
}

const fields = {
  externalProductId: optional(ExternalId),
  name: requiredText(200),
  currencyID: optional({ ...lookupID('Currency'), default: lookups.Currency.AUD }),
  description: optional(text(2000)),
  isActive: optional(FlagSet),
  timeZone: optional(clearable(TimeZone)),
  lockedDate: optional(clearable(LockedDate)),
  withholding: optional(clearable(Withholding)),
  taxComponentKinds: optional(clearable(TaxComponentKinds)),
  bankDetailCoolOffDays: optional(clearable(CoolOff)),
  financialYearEnd: optional(clearable(FinancialYearEnd)),
  companyTaxPercentage: optional(clearable(CompanyTax)),
  issuer: optional(clearable(Issuer)),
}

export const ProductInput = Type.Object(fields, {
  $id: 'ProductInput',
  example: { externalProductId: 'GROWTH', name: 'Growth Fund', currencyID: 1 },
})
export const ProductUpdate = Type.Object(
  { productID: optional(Id), ...fields },
  { $id: 'ProductUpdate', example: { productID: 1, name: 'Growth Fund', currencyID: 1 } },
)
export const Product = shown(
  'Product',
  { productID: Id, ...fields, createdDate: DateTime, updatedDate: DateTime },
  {
    productID: 1,
    externalProductId: 'GROWTH',
    name: 'Growth Fund',
    currencyID: 1,
    description: null,
    isActive: true,
    timeZone: 'Australia/Sydney',
    lockedDate: null,
    withholding: false,
    taxComponentKinds: [{ taxComponentName: 'Bank interest', incomeKind: 'Interest' }],
    bankDetailCoolOffDays: 0,
    financialYearEnd: '06-30',
    companyTaxPercentage: 30,
    issuer: null,
    createdDate: '2026-01-01T00:00:00Z',
    updatedDate: '2026-01-01T00:00:00Z',
  },
)
/** A product's own fields: what its table holds. */
export const ProductRecord = Type.Object({ productID: Id, ...fields })
export const ProductKey = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
})
export const ProductQuery = Type.Object({ ...ProductKey.properties, ...paging })

export type ProductInput = Static<typeof ProductInput>
export type ProductUpdate = Static<typeof ProductUpdate>
export type ProductKey = Static<typeof ProductKey>
export type ProductQuery = Static<typeof ProductQuery>

const product = {
  what: 'product',
  table: 'product',
  columns: ['product_id', 'external_product_id'],
} as const
/** A product as bodies and as query strings name it. */
export const productReference = reference(product, ['productID', 'externalProductId'])
/** A product as an item of the list productIDs, which holds plain ids. */
export const oneOfProducts = reference(product, ['productIDs'])
export const productParameter = reference(product, ['ProductID', 'ExternalProductId'])
