import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import { DateOnly, decimal, ExternalId, Id, LongId, shown } from '../../platform/shape/fields.ts'
import { Price, PriceKey } from './schema.ts'

/** A transaction that used a price, with the price as it is now (currentPrice). */
export const AffectedTransaction = shown('AffectedTransaction', {
  bizTransactionID: LongId,
  externalBizTransactionId: ExternalId,
  bizTransactionTypeID: lookupID('BizTransactionType'),
  productID: Id,
  accountID: Id,
  externalAccountId: ExternalId,
  investmentID: Id,
  transactionDate: DateOnly,
  quantity: decimal(),
  amount: decimal(),
  investmentPrice: Price,
  currentPrice: Price,
})
export const AffectedQuery = Type.Object({ ...PriceKey.properties, ...paging })

/** What a price said before it was corrected. */
export const CorrectionRecord = Type.Object({
  investmentPriceCorrectionID: Id,
  investmentPriceID: Id,
  priceDate: DateOnly,
  price: Price,
  applicationPrice: Price,
  redemptionPrice: Price,
})

export type AffectedQuery = Static<typeof AffectedQuery>
