import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  ExternalId,
  Flag,
  Id,
  oneOrMany,
  optional,
  sensitive,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import { reference } from '../../platform/sql/identify.ts'
import { AccountNumber, Bic, Bsb, Iban } from '../investor/checks.ts'
import { bizEntityFields } from '../investor/identities.ts'

const ids = { paymentDetailID: optional(Id), externalPaymentDetailId: optional(ExternalId) }
const paymentTypeID = optional(lookupID('PaymentType'))
// Answers show bank numbers to callers with PaymentDetail.Read and masks to others. Logs and the
// audit trail never show them.
const BankAccount = sensitive({ ...AccountNumber, writeOnly: false })
const fields = {
  bsb: optional(Bsb),
  accountNumber: optional(BankAccount),
  accountName: optional(text(200)),
  address: optional(text(500)),
  comments: optional(text(2000)),
  currencyID: optional(lookupID('Currency')),
  iban: optional(sensitive(Iban({ writeOnly: false }))),
  swift: optional(Bic),
  intermediaryBankAccountName: optional(text(200)),
  intermediaryBankAccountNumber: optional(BankAccount),
  intermediaryBankAddress: optional(text(500)),
  intermediaryBankName: optional(text(200)),
  intermediaryBankSWIFT: optional(Bic),
  isForDeposit: optional(Flag),
  isForDistribution: optional(Flag),
  isForRedemption: optional(Flag),
  isForOther: optional(Flag),
  isDefault: optional(Flag),
  message: optional(text(500)),
  personalName: optional(text(200)),
  reference: optional(text(200)),
}

/** A payment detail inside its entity. */
export const NestedPaymentDetail = Type.Object(
  { ...ids, paymentTypeID, ...fields },
  { $id: 'NestedPaymentDetail' },
)

const example = {
  paymentTypeID: 1,
  bizEntityID: 1,
  bsb: '062-000',
  accountNumber: '12345678',
  accountName: 'Ann Example',
  isForDistribution: true,
  isDefault: true,
}
export const PaymentDetailInput = Type.Object(
  {
    externalPaymentDetailId: ids.externalPaymentDetailId,
    paymentTypeID,
    ...bizEntityFields,
    ...fields,
  },
  { $id: 'PaymentDetailInput', example },
)
export const PaymentDetailInputs = oneOrMany(PaymentDetailInput)
export const PaymentDetailUpdate = Type.Object(
  { ...ids, paymentTypeID, ...bizEntityFields, ...fields },
  { $id: 'PaymentDetailUpdate', example: { paymentDetailID: 1, ...example } },
)
export const PaymentDetail = shown('PaymentDetail', {
  ...ids,
  paymentTypeID,
  ...bizEntityFields,
  ...fields,
})
export const PaymentDetailKey = Type.Object({
  PaymentDetailID: optional(Id),
  ExternalPaymentDetailId: optional(ExternalId),
})

export const PaymentDetailQuery = Type.Object({
  ...PaymentDetailKey.properties,
  BizEntityID: optional(Id),
  ExternalBizEntityId: optional(ExternalId),
  ...paging,
})

export type PaymentDetailQuery = Static<typeof PaymentDetailQuery>
export type PaymentDetailKey = Static<typeof PaymentDetailKey>

const paymentDetail = {
  what: 'payment detail',
  table: 'payment_detail',
  columns: ['payment_detail_id', 'external_payment_detail_id'],
} as const
export const paymentDetailReference = reference(paymentDetail, [
  'paymentDetailID',
  'externalPaymentDetailId',
])
export const paymentDetailParameter = reference(paymentDetail, [
  'PaymentDetailID',
  'ExternalPaymentDetailId',
])
