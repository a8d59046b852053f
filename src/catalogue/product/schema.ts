import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  DateTime,
  ExternalId,
  Flag,
  Id,
  optional,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import { reference } from '../../platform/sql/identify.ts'

const fields = {
  externalProductId: optional(ExternalId),
  name: requiredText(200),
  currencyID: optional(lookupID('Currency')),
  description: optional(text(2000)),
  isActive: optional(Flag),
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
    createdDate: '2026-01-01T00:00:00Z',
    updatedDate: '2026-01-01T00:00:00Z',
  },
)
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
export const productParameter = reference(product, ['ProductID', 'ExternalProductId'])
