import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Id,
  LongId,
  optional,
  RegisterDate,
  requiredText,
  sensitive,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import {
  codeFilter,
  filterParameters,
  intFilter,
  lookupFilter,
  textFilter,
} from '../../platform/sql/filters.ts'

const Positive = decimal({ above: '0' })
const Percentage = decimal({ minimum: '0', maximum: '100' })

const product = { productID: optional(Id), externalProductId: optional(ExternalId) }
const account = { accountID: optional(Id), externalAccountId: optional(ExternalId) }
const investment = {
  investmentID: optional(Id),
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(requiredText(50)),
}
const when = { comment: optional(text(2000)), transactionDate: RegisterDate }

const example = { productID: 1, accountID: 1, securityCode: 'GRA', transactionDate: '2026-06-30' }

export const NoticeOfDeposit = Type.Object(
  {
    ...product,
    externalBizTransactionId: optional(ExternalId),
    ...investment,
    ...account,
    amount: Positive,
    ...when,
    paymentMethodID: optional(lookupID('PaymentType')),
    chequeBankName: optional(text(200)),
    chequeBSB: optional(
      Type.String({ pattern: '^\\d{3}-?\\d{3}$', must: 'must be six digits, as in 062-000' }),
    ),
    chequeAccountNumber: optional(sensitive(text(50))),
    chequeChequeNo: optional(text(50)),
    chequeDrawer: optional(text(200)),
    entryFeeAmount: optional(decimal({ minimum: '0' })),
    entryFeeDiscountPercentage: optional(Percentage),
    entryFeeOverridePercentage: optional(Percentage),
    entryFeePercentage: optional(Percentage),
  },
  { $id: 'NoticeOfDeposit', example: { ...example, amount: 1000 } },
)

export const NoticeOfRedemption = Type.Object(
  {
    ...product,
    externalBizTransactionId: optional(ExternalId),
    ...investment,
    ...account,
    amount: optional(Positive),
    quantity: optional(Positive),
    ...when,
  },
  { $id: 'NoticeOfRedemption', example: { ...example, quantity: 100 } },
)

export const NoticeOfConversion = Type.Object(
  {
    ...product,
    fromExternalBizTransactionId: optional(ExternalId),
    toExternalBizTransactionId: optional(ExternalId),
    fromInvestmentID: optional(Id),
    fromExternalInvestmentId: optional(ExternalId),
    fromSecurityCode: optional(requiredText(50)),
    toInvestmentID: optional(Id),
    toExternalInvestmentId: optional(ExternalId),
    toSecurityCode: optional(requiredText(50)),
    ...account,
    amount: optional(Positive),
    quantity: optional(Positive),
    ...when,
    conversionFactor: optional(Positive),
    conversionMethod: optional(
      Type.Unsafe<keyof typeof lookups.ConversionMethod>({
        type: 'string',
        enum: Object.keys(lookups.ConversionMethod),
      }),
    ),
  },
  {
    $id: 'NoticeOfConversion',
    example: {
      productID: 1,
      accountID: 1,
      fromSecurityCode: 'GRA',
      toSecurityCode: 'GRB',
      quantity: 100,
      conversionMethod: 'Factor',
      conversionFactor: 1.25,
      transactionDate: '2026-06-30',
    },
  },
)

export const Cancel = Type.Object(
  {
    bizEventID: optional(LongId),
    bizEventIDs: optional(Type.Array(LongId, { minItems: 1, maxItems: 1000 })),
    comment: optional(text(2000)),
  },
  { $id: 'Cancel', example: { bizEventID: 1, comment: 'Cheque dishonoured' } },
)

export const BizEvent = shown('BizEvent', {
  bizEventID: LongId,
  parentBizTransactionID: LongId,
  parentBizEventID: LongId,
  bizEventTypeID: lookupID('BizEventType'),
  bizEventStatusID: lookupID('BizEventStatus'),
  productID: Id,
  externalProductId: ExternalId,
  investmentID: Id,
  externalInvestmentId: ExternalId,
  securityCode: Type.String(),
  accountID: Id,
  externalAccountId: ExternalId,
  accountNumber: Type.String(),
  bizEntityName: Type.String(),
  bizEventDate: DateOnly,
  amount: decimal(),
  quantity: decimal(),
  comment: Type.String(),
  conversionMethodID: lookupID('ConversionMethod'),
  conversionFactor: decimal(),
  createdDate: DateTime,
  updatedDate: DateTime,
  externalTransactionId: ExternalId,
})

export const eventFilters = {
  BizEventID: intFilter('t.biz_event_id'),
  BizEventTypeID: lookupFilter('t.biz_event_type_id', lookups.BizEventType),
  BizEventStatusID: lookupFilter('t.biz_event_status_id', lookups.BizEventStatus),
  AccountID: intFilter('t.account_id'),
}
export const eventAccountFilters = {
  AccountNumber: codeFilter('a.account_number'),
  ExternalAccountId: textFilter('a.external_account_id'),
}
export const EventQuery = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  ...filterParameters({ ...eventFilters, ...eventAccountFilters }),
  ...paging,
})

export type NoticeOfDeposit = Static<typeof NoticeOfDeposit>
export type NoticeOfRedemption = Static<typeof NoticeOfRedemption>
export type NoticeOfConversion = Static<typeof NoticeOfConversion>
export type Cancel = Static<typeof Cancel>
export type EventQuery = Static<typeof EventQuery>
