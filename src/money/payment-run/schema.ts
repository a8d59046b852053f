import { type Static, Type } from 'typebox'
import { Bsb } from '../../parties/investor/checks.ts'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Flag,
  Id,
  LongId,
  optional,
  RegisterDate,
  requiredText,
  sensitive,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import { filterParameters, intFilter, textFilter } from '../../platform/sql/filters.ts'

const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values })

const sources = ['Distribution', 'Redemption', 'Residual'] as const
const formats = ['ABA', 'pain.001', 'cheque list'] as const
export type Format = (typeof formats)[number]
const paymentStates = ['Pending', 'Sent', 'Paid', 'Returned', 'Reissued', 'Unclaimed'] as const

const FundingAccount = Type.Object(
  {
    bsb: optional(Bsb),
    accountNumber: optional(sensitive(text(34))),
    accountName: requiredText(200),
    bankCode: optional(
      Type.String({ pattern: '^[A-Za-z]{3}$', must: 'must be three letters, like WBC' }),
    ),
    userID: optional(Type.String({ pattern: '^\\d{1,6}$', must: 'must be one to six digits' })),
    remitterName: requiredText(200),
  },
  { $id: 'FundingAccount' },
)

const product = { productID: optional(Id), externalProductId: optional(ExternalId) }

export const PaymentRunInput = Type.Object(
  {
    ...product,
    sources: Type.Array(oneOf(sources), { minItems: 1, maxItems: 3 }),
    corporateActionIDs: optional(
      Type.Array(Id, {
        maxItems: 1000,
        description:
          'Only payments of these distributions: their cash, and the residuals paid together ' +
          'with them. Redemptions, and residuals that were paid separately, are then not ' +
          'included, whatever the sources. Empty: everything that is payable.',
      }),
    ),
    currencyID: optional(lookupID('Currency')),
    upToDate: optional(RegisterDate),
    processingDate: {
      ...RegisterDate,
      description:
        'The day on which the bank pays. Distributions and residuals with a later payment date ' +
        'are left for another run. Redemptions with a date in the future are left out too.',
    },
    fundingAccount: FundingAccount,
    format: oneOf(formats),
    balanced: optional(Flag),
    minimumAmount: optional(decimal({ minimum: '0' })),
  },
  {
    $id: 'PaymentRunInput',
    example: {
      productID: 1,
      sources: ['Distribution'],
      processingDate: '2026-07-15',
      fundingAccount: {
        bsb: '033-088',
        accountNumber: '987654',
        accountName: 'Example Fund Dist Account',
        bankCode: 'WBC',
        userID: '301500',
        remitterName: 'Example Fund',
      },
      format: 'ABA',
      balanced: true,
    },
  },
)

const Total = Type.Object({ count: Type.Integer(), amount: decimal() })
const RunFile = Type.Object({
  fileNumber: Type.Integer(),
  fileName: Type.String(),
  sha256: Type.String(),
  size: Type.Integer(),
  paymentCount: Type.Integer(),
  amount: decimal(),
  warnings: Type.Array(Type.String()),
})
const RunException = Type.Object({
  accountID: Id,
  accountNumber: Type.String(),
  bizTransactionID: LongId,
  amount: decimal(),
  code: Type.String(),
})
export const PaymentRun = shown('PaymentRun', {
  paymentRunID: Id,
  productID: Id,
  state: Type.String(),
  sources: Type.Array(Type.String()),
  currencyID: lookupID('Currency'),
  upToDate: DateOnly,
  processingDate: DateOnly,
  format: Type.String(),
  balanced: Flag,
  minimumAmount: decimal(),
  reissueOf: Id,
  createdByUserID: Id,
  createdDate: DateTime,
  approvedByUserID: Id,
  approvedDate: DateTime,
  sentDate: DateTime,
  closedDate: DateTime,
  payable: Total,
  payments: Total,
  exceptions: Total,
  exceptionList: Type.Array(RunException),
  files: Type.Array(RunFile),
})
export const Payment = shown('RunPayment', {
  paymentID: LongId,
  paymentRunID: Id,
  productID: Id,
  accountID: Id,
  accountNumber: Type.String(),
  bizEntityID: Id,
  amount: decimal(),
  taxAmount: decimal(),
  reference: Type.String(),
  payeeName: Type.String(),
  payeeBsb: Type.String(),
  payeeAccountNumber: sensitive(Type.String()),
  payeeIban: sensitive(Type.String()),
  state: Type.String({ enum: paymentStates }),
  stateReason: Type.String(),
  stateDate: DateOnly,
  reissueOf: LongId,
})

const productQuery = { ProductID: optional(Id), ExternalProductId: optional(ExternalId) }
export const runFilters = {
  PaymentRunID: intFilter('t.payment_run_id'),
  State: textFilter('t.state'),
}
export const RunQuery = Type.Object({
  ...productQuery,
  ...filterParameters(runFilters),
  ...paging,
})
export const paymentFilters = {
  PaymentRunID: intFilter('t.payment_run_id'),
  PaymentID: intFilter('t.payment_id'),
  AccountID: intFilter('t.account_id'),
  State: textFilter('t.state'),
  Reference: textFilter('t.reference'),
}
export const PaymentQuery = Type.Object({
  ...productQuery,
  ...filterParameters(paymentFilters),
  ...paging,
})

export const RunKey = Type.Object(
  { paymentRunID: Id },
  { $id: 'PaymentRunKey', example: { paymentRunID: 1 } },
)
export const RunParameter = Type.Object({ PaymentRunID: Id })
export const RunResult = Type.Object(
  {
    paymentRunID: optional({
      ...Id,
      description:
        'The run of the payments, which must all be in the same run. If left out: the run of ' +
        'the first payment.',
    }),
    payments: Type.Array(
      Type.Object({
        paymentID: optional(LongId),
        reference: optional(text(18)),
        state: oneOf(['Paid', 'Returned'] as const),
        reason: optional(text(200)),
        date: optional(RegisterDate),
      }),
      { minItems: 1, maxItems: 100_000 },
    ),
  },
  {
    $id: 'PaymentRunResult',
    example: { paymentRunID: 1, payments: [{ reference: 'PAY 17', state: 'Paid' }] },
  },
)
export const Reissue = Type.Object(
  { paymentRunID: Id, paymentIDs: optional(Type.Array(LongId, { maxItems: 100_000 })) },
  { $id: 'PaymentRunReissue', example: { paymentRunID: 1 } },
)
export const Unclaimed = Type.Object(
  {
    paymentRunID: Id,
    days: Type.Integer({ minimum: 0, maximum: 36_500 }),
    paymentIDs: optional(Type.Array(LongId, { maxItems: 100_000 })),
  },
  { $id: 'PaymentRunUnclaimed', example: { paymentRunID: 1, days: 365 } },
)

export type PaymentRunInput = Static<typeof PaymentRunInput>
export type RunQuery = Static<typeof RunQuery>
export type PaymentQuery = Static<typeof PaymentQuery>
export type RunResult = Static<typeof RunResult>
export type Reissue = Static<typeof Reissue>
export type Unclaimed = Static<typeof Unclaimed>
