import { type Static, type TProperties, Type } from 'typebox'
import { Price } from '../../catalogue/investment/schema.ts'
import { knownAt, paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  clearable,
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Flag,
  Id,
  LongId,
  oneOrMany,
  optional,
  RegisterDate,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import {
  codeFilter,
  dateFilter,
  dateTimeFilter,
  filterParameters,
  intFilter,
  lookupFilter,
  textFilter,
} from '../../platform/sql/filters.ts'

const Decimal = decimal()
const Positive = decimal({ above: '0' })
const NotNegative = decimal({ minimum: '0' })
const Percentage = decimal({ minimum: '0', maximum: '100' })

const productFields = { productID: optional(Id), externalProductId: optional(ExternalId) }
const accountFields = { accountID: optional(Id), externalAccountId: optional(ExternalId) }
const investmentFields = {
  investmentID: optional(Id),
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(requiredText(50)),
}
const entryFeeFields = {
  entryFeeAmount: optional(NotNegative),
  entryFeeDiscountPercentage: optional(Percentage),
  entryFeeOverridePercentage: optional(Percentage),
  entryFeePercentage: optional(Percentage),
}
/** How a posting names the notice that it settles; it may leave out what the notice says. */
const eventFields = {
  bizEventID: optional(LongId),
  externalTransactionId: optional(ExternalId),
}
/** `confirm` posts despite a price that is older than the investment allows. */
const confirmation = { confirm: optional(Flag) }
const common = {
  ...productFields,
  ...confirmation,
  partial: optional(Flag),
  externalBizTransactionId: optional(ExternalId),
  transactionDate: optional(RegisterDate),
  comment: optional(text(2000)),
  ...eventFields,
}
const oneLeg = { ...common, ...accountFields, ...investmentFields }

const posting = <P extends TProperties>(name: string, properties: P, example: object) =>
  Type.Object(properties, { $id: name, example })

const example = {
  productID: 1,
  accountID: 1,
  securityCode: 'GRA',
  transactionDate: '2026-06-30',
}

export const Deposit = posting(
  'Deposit',
  {
    ...oneLeg,
    amount: optional(Positive),
    quantity: optional(Positive),
    investmentPrice: optional(Price),
    ...entryFeeFields,
  },
  { ...example, amount: 1000, externalBizTransactionId: 'D-1' },
)
export const Allotment = posting(
  'Allotment',
  {
    ...oneLeg,
    amount: optional(Positive),
    quantity: optional(Positive),
    investmentPrice: optional(Price),
  },
  { ...example, quantity: 250 },
)
export const Redemption = posting(
  'Redemption',
  {
    ...oneLeg,
    amount: optional(Positive),
    quantity: optional(Positive),
    investmentPrice: optional(Price),
  },
  { ...example, quantity: 100.5 },
)
export const Adjustment = posting(
  'Adjustment',
  { ...oneLeg, quantity: Decimal, amount: optional(Decimal), investmentPrice: optional(Price) },
  { ...example, quantity: -0.25, comment: 'Rounding of the migration' },
)
export const SetQuantity = posting(
  'SetQuantity',
  {
    ...oneLeg,
    quantity: {
      ...NotNegative,
      description: 'The units that the account is to hold at the end of the day.',
    },
    amount: optional({
      ...NotNegative,
      description:
        'The amount of the change, without a sign: the cost of units that are added, or the ' +
        'proceeds of units that are removed. If left out, units are added at the price of the ' +
        'day, or removed at their cost without a realised gain.',
    }),
    investmentPrice: optional(Price),
  },
  { ...example, quantity: 1000 },
)
export const Conversion = posting(
  'Conversion',
  {
    ...productFields,
    ...accountFields,
    ...confirmation,
    partial: optional(Flag),
    fromExternalBizTransactionId: optional(ExternalId),
    toExternalBizTransactionId: optional(ExternalId),
    fromInvestmentID: optional(Id),
    fromExternalInvestmentId: optional(ExternalId),
    fromSecurityCode: optional(requiredText(50)),
    toInvestmentID: optional(Id),
    toExternalInvestmentId: optional(ExternalId),
    toSecurityCode: optional(requiredText(50)),
    amount: optional(Positive),
    quantity: optional(Positive),
    fromInvestmentPrice: optional(Price),
    toInvestmentPrice: optional(Price),
    conversionFactor: optional(Positive),
    conversionMethod: optional(
      Type.Unsafe<'Factor' | 'Price'>({
        type: 'string',
        enum: Object.keys(lookups.ConversionMethod),
      }),
    ),
    transactionDate: optional(RegisterDate),
    comment: optional(text(2000)),
    ...eventFields,
  },
  {
    productID: 1,
    accountID: 1,
    fromSecurityCode: 'GRA',
    toSecurityCode: 'GRB',
    quantity: 100,
    conversionMethod: 'Price',
    transactionDate: '2026-06-30',
  },
)
export const Transfer = posting(
  'Transfer',
  {
    ...productFields,
    ...investmentFields,
    externalBizTransactionId: optional(ExternalId),
    fromAccountID: optional(Id),
    fromExternalAccountId: optional(ExternalId),
    toAccountID: optional(Id),
    toExternalAccountId: optional(ExternalId),
    quantity: Positive,
    amount: optional(NotNegative),
    investmentPrice: optional(Price),
    costBasis: optional(
      Type.Unsafe<'Market' | 'Carry'>({
        type: 'string',
        enum: ['Market', 'Carry'],
        description: 'Carry: the receiving account takes over the cost, and no gain is realised.',
      }),
    ),
    ...confirmation,
    transactionDate: DateOnly,
    comment: optional(text(2000)),
  },
  {
    productID: 1,
    fromAccountID: 1,
    toAccountID: 2,
    securityCode: 'GRA',
    quantity: 50,
    transactionDate: '2026-06-30',
  },
)

export const Deposits = oneOrMany(Deposit)
export const Allotments = oneOrMany(Allotment)
export const Redemptions = oneOrMany(Redemption)
export const Adjustments = oneOrMany(Adjustment)
export const SetQuantities = oneOrMany(SetQuantity)

export const TransactionUpdate = Type.Object(
  {
    bizTransactionID: optional(LongId),
    ...productFields,
    externalBizTransactionId: optional(ExternalId),
    comment: optional(clearable(text(2000))),
    transactionDate: optional(RegisterDate),
    amount: optional(Decimal),
    quantity: optional(Decimal),
    investmentPrice: optional(Price),
  },
  {
    $id: 'TransactionUpdate',
    description:
      'Amounts and quantities have the same signs as in the answers of GET. Fields that are ' +
      'left out keep their values; null clears the comment. If only one of amount and quantity ' +
      'is given, the other is calculated at the price. The other leg of a transfer or ' +
      'conversion is recalculated too.',
    example: { bizTransactionID: 1, transactionDate: '2026-06-29', comment: 'Date corrected' },
  },
)
export const Rollback = Type.Object(
  {
    bizTransactionID: optional(LongId),
    bizTransactionIDs: optional(Type.Array(LongId, { minItems: 1, maxItems: 1000 })),
    releaseExternalId: optional(Flag),
    reason: optional(text(500, { description: 'The reason. It is kept in the audit trail.' })),
  },
  { $id: 'Rollback', example: { bizTransactionID: 1, reason: 'Posted twice' } },
)

export const BizTransaction = shown('BizTransaction', {
  bizTransactionID: LongId,
  externalBizTransactionId: ExternalId,
  bizTransactionTypeID: lookupID('BizTransactionType'),
  typeName: Type.String(),
  movementReasonCode: Type.String(),
  parentBizTransactionID: LongId,
  transactionDate: DateTime,
  productID: Id,
  externalProductId: ExternalId,
  accountID: Id,
  externalAccountId: ExternalId,
  accountNumber: Type.String(),
  bizEntityName: Type.String(),
  investmentID: Id,
  externalInvestmentId: ExternalId,
  securityCode: Type.String(),
  investmentName: Type.String(),
  investmentPrice: Decimal,
  comment: Type.String(),
  corporateActionID: Id,
  externalCorporateActionId: ExternalId,
  corporateActionName: Type.String(),
  amount: Decimal,
  quantity: Decimal,
  entryFeeAmount: Decimal,
  transactionClosingAmount: Decimal,
  transactionClosingQuantity: Decimal,
  accountClosingAmount: Decimal,
  accountClosingQuantity: Decimal,
  createdDate: DateTime,
  updatedDate: DateTime,
  bizTransactionStatusID: lookupID('BizTransactionStatus'),
  statusName: Type.String(),
})

export const transactionFilters = {
  BizTransactionID: intFilter('t.biz_transaction_id'),
  BizTransactionTypeID: lookupFilter('t.biz_transaction_type_id', lookups.BizTransactionType),
  AccountID: intFilter('t.account_id'),
  InvestmentID: intFilter('t.investment_id'),
  ExternalBizTransactionId: textFilter('t.external_biz_transaction_id'),
  TransactionDate: dateFilter('t.transaction_date'),
  CreatedDate: dateTimeFilter('t.created_date', 'greaterThanOrEqual'),
}
/** Filters by the investor of the account. */
export const ownerFilters = {
  ExternalBizEntityId: textFilter('e.external_biz_entity_id'),
}
export const accountFilters = {
  ExternalAccountId: textFilter('a.external_account_id'),
  AccountNumber: codeFilter('a.account_number'),
  BizEntityID: intFilter('a.biz_entity_id'),
}
export const transactionInvestmentFilters = {
  ExternalInvestmentId: textFilter('i.external_investment_id'),
}
export const TransactionQuery = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  Status: optional(
    Type.Unsafe<keyof typeof lookups.BizTransactionStatus>({
      type: 'string',
      enum: Object.keys(lookups.BizTransactionStatus),
    }),
  ),
  ShowClosing: optional(Flag),
  ...knownAt,
  ...filterParameters({
    ...transactionFilters,
    ...accountFilters,
    ...ownerFilters,
    ...transactionInvestmentFilters,
  }),
  ...paging,
})

export type Deposit = Static<typeof Deposit>
export type Conversion = Static<typeof Conversion>
export type Transfer = Static<typeof Transfer>
export type Adjustment = Static<typeof Adjustment>
export type TransactionUpdate = Static<typeof TransactionUpdate>
export type Rollback = Static<typeof Rollback>
export type TransactionQuery = Static<typeof TransactionQuery>
