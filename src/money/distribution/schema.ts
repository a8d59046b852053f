import { type Static, Type } from 'typebox'
import { investmentIdentity } from '../../catalogue/investment/schema.ts'
import { IncomeKindName } from '../../catalogue/product/money-schema.ts'
import { paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Flag,
  Id,
  LongId,
  nullable,
  optional,
  RegisterDate,
  requiredText,
  sensitive,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import {
  codeFilter,
  dateFilter,
  filterParameters,
  intFilter,
  lookupFilter,
  textFilter,
} from '../../platform/sql/filters.ts'
import { reference } from '../../platform/sql/identify.ts'

/** 0 and null both mean "not given". */
const Rate = decimal(
  { minimum: '0' },
  { conformed: (rate: string) => (rate === '0' ? undefined : rate) },
)

const TaxComponent = Type.Object(
  { taxComponentName: requiredText(100), percentage: decimal({ minimum: '0', maximum: '100' }) },
  { $id: 'TaxComponent' },
)

export const valuationMethods = ['ClosingPrice', 'VWAP', 'Fixed'] as const

const own = {
  externalCorporateActionId: optional(ExternalId),
  productID: optional(Id),
  externalProductId: optional(ExternalId),
  investmentID: optional(Id),
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(requiredText(50)),
}
/** Fields that a distribution stores as given, except the references to its DRP target. */
const stored = {
  name: optional(text(200)),
  description: optional(text(2000)),
  accrualDate: optional(RegisterDate),
  recordDate: optional(RegisterDate),
  paymentDate: optional(RegisterDate),
  distributionAmountPerUnit: optional(Rate),
  distributionAmountTotal: optional(Rate),
  centsPerUnitPerDay: optional(Rate),
  distributionTermID: optional(lookupID('DistributionTerm')),
  distributionPeriodID: optional(lookupID('DistributionPeriod')),
  drpIndicatorID: optional(lookupID('DRPIndicator')),
  drpPrice: optional(Rate),
  drpInvestmentID: optional(Id),
  drpAllotmentDate: optional(RegisterDate),
  fileName: optional(text(255)),
  proRataPercentPerAnnum: optional(Rate),
  proRataStartDate: optional(RegisterDate),
  proRataEndDate: optional(RegisterDate),
  unitValuationMethod: optional(
    Type.Unsafe<(typeof valuationMethods)[number]>({ type: 'string', enum: valuationMethods }),
  ),
}
const details = {
  ...stored,
  drpExternalInvestmentId: optional(ExternalId),
  drpSecurityCode: optional(requiredText(50)),
  taxComponents: Type.Array(TaxComponent, { maxItems: 50 }),
}

const example = {
  productID: 1,
  securityCode: 'GRA',
  name: 'June quarter 2026',
  recordDate: '2026-06-30',
  paymentDate: '2026-07-15',
  distributionAmountPerUnit: 0.0325,
  drpIndicatorID: 2,
  drpSecurityCode: 'GRA',
  taxComponents: [
    { taxComponentName: 'AustralianFrankedDividends', percentage: 60 },
    { taxComponentName: 'CapitalGains', percentage: 40 },
  ],
}

/** The columns of the table that requests write; the stages write the others. */
export const DistributionRecord = Type.Object({
  corporateActionID: Id,
  productID: Id,
  externalCorporateActionId: own.externalCorporateActionId,
  investmentID: Id,
  ...stored,
})
export const DistributionInput = Type.Object(
  { ...own, ...details },
  { $id: 'DistributionInput', example },
)
export const DistributionUpdate = Type.Object(
  { corporateActionID: optional(Id), ...own, ...details },
  { $id: 'DistributionUpdate', example: { corporateActionID: 1, ...example } },
)
const StageProgress = Type.Object({
  stage: Type.String(),
  progressPercent: Type.Integer(),
  accountCount: Type.Integer(),
  startedDate: DateTime,
  errorMessage: nullable(Type.String()),
})
export const Distribution = shown('Distribution', {
  corporateActionID: Id,
  ...own,
  distributionStatusID: lookupID('DistributionStatus'),
  ...details,
  stageProgress: StageProgress,
})
/** The answer while a stage runs as a job; GET /Distribution shows its progress. */
export const StageUnderWay = Type.Object(
  {
    corporateActionID: Id,
    productID: Id,
    distributionStatusID: lookupID('DistributionStatus'),
    progressPercent: Type.Integer(),
    stageProgress: StageProgress,
  },
  { $id: 'StageUnderWay' },
)

const key = {
  corporateActionID: optional(Id),
  externalCorporateActionId: optional(ExternalId),
  productID: optional(Id),
  externalProductId: optional(ExternalId),
}
const keyExample = { productID: 1, corporateActionID: 1 }

/** As many accounts as fit a request; a list of any length takes one SQL statement. */
const mostAccounts = 100_000
const AccountKey = Type.Object({
  accountID: optional(Id),
  externalAccountId: optional(ExternalId),
})
const PreCalculated = Type.Object({
  ...AccountKey.properties,
  amount: decimal({ minimum: '0' }),
})
export const Declaration = Type.Object(
  {
    ...key,
    preCalculatedAccounts: optional(Type.Array(PreCalculated, { maxItems: mostAccounts })),
    includeAccounts: optional(Type.Array(AccountKey, { maxItems: mostAccounts })),
    excludeAccounts: optional(Type.Array(AccountKey, { maxItems: mostAccounts })),
    confirmSecond: optional(Flag),
  },
  { $id: 'Declaration', example: { ...keyExample, excludeAccounts: [{ accountID: 2 }] } },
)
export const PreviewRequest = Type.Object(
  {
    ...Declaration.properties,
    compareWithLast: optional({
      ...Flag,
      description: 'Also shows the differences from the previous distribution of the class.',
    }),
  },
  { $id: 'PreviewRequest', example: { ...keyExample, compareWithLast: true } },
)
export const Payment = Type.Object(key, { $id: 'Payment', example: keyExample })
export const DrpAllotment = Type.Object(
  { ...key, drpPrice: optional(decimal({ above: '0' })), drpAllotmentDate: optional(RegisterDate) },
  { $id: 'DrpAllotment', example: { ...keyExample, drpPrice: 1.0425 } },
)
export const Reversal = Type.Object(
  { ...key, fromStatusID: lookupID('DistributionStatus'), reason: requiredText(500) },
  { $id: 'Reversal', example: { ...keyExample, fromStatusID: 3, reason: 'Wrong rate' } },
)
export const ResidualPayout = Type.Object(
  {
    productID: key.productID,
    externalProductId: key.externalProductId,
    investmentID: own.investmentID,
    externalInvestmentId: own.externalInvestmentId,
    securityCode: own.securityCode,
    date: RegisterDate,
  },
  { $id: 'ResidualPayout', example: { productID: 1, investmentID: 1, date: '2026-07-15' } },
)
export const ResidualPayment = shown('ResidualPayment', {
  residualPaymentID: LongId,
  accountID: Id,
  accountNumber: Type.String(),
  investmentID: Id,
  amount: decimal(),
  paymentDate: DateOnly,
  bizTransactionID: LongId,
})
export const DistributionKey = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  CorporateActionID: optional(Id),
  ExternalCorporateActionId: optional(ExternalId),
})

export const distributionFilters = {
  CorporateActionID: intFilter('t.corporate_action_id'),
  InvestmentID: intFilter('t.investment_id'),
  ExternalCorporateActionId: textFilter('t.external_corporate_action_id'),
  RecordDate: dateFilter('t.record_date'),
  DistributionStatusID: lookupFilter('t.distribution_status_id', lookups.DistributionStatus),
}
export const distributionInvestmentFilters = {
  ExternalInvestmentId: textFilter('i.external_investment_id'),
}
const product = { ProductID: optional(Id), ExternalProductId: optional(ExternalId) }
export const DistributionQuery = Type.Object({
  ...product,
  ...filterParameters({ ...distributionFilters, ...distributionInvestmentFilters }),
  ...paging,
})

const Withheld = Type.Object({
  taxComponentName: Type.String(),
  incomeKind: IncomeKindName,
  rule: Type.String({
    enum: ['Override', 'NoTfn', 'NonResident'],
    description: 'The rule by which the tax was withheld.',
  }),
  countryCode: nullable(
    Type.String({ description: 'The country of residence that decided the rate.' }),
  ),
  baseAmount: decimal({}, { description: 'The amount that the tax was withheld from.' }),
  percentage: decimal(),
  rounding: Type.String({ enum: ['WholeDollar', 'Cent'], description: 'How the tax was rounded.' }),
  amount: decimal(),
})
export const EntitledAccount = shown('EntitledAccount', {
  corporateActionID: Id,
  externalCorporateActionId: ExternalId,
  productID: Id,
  externalProductId: ExternalId,
  investmentID: Id,
  accountID: Id,
  externalAccountId: ExternalId,
  accountNumber: Type.String(),
  bizEntityID: Id,
  externalBizEntityId: ExternalId,
  bizEntityName: Type.String(),
  units: decimal(),
  unitDays: decimal(),
  method: Type.String({
    enum: ['PerUnit', 'Total', 'CentsPerUnitPerDay', 'PercentPerAnnum', 'PreCalculated'],
  }),
  rate: decimal(),
  unitValue: decimal(),
  grossAmount: decimal(),
  taxComponents: Type.Array(
    Type.Object({
      taxComponentName: Type.String(),
      percentage: decimal(),
      amount: decimal(),
    }),
  ),
  taxAmount: {
    ...decimal(),
    description:
      'The tax withheld at Payment. grossAmount is the sum of taxAmount, drpAmount and cashAmount.',
  },
  withholding: Type.Array(Withheld, {
    description: 'The tax withheld from each tax component to which a rule applied.',
  }),
  drpAmount: decimal(),
  drpUnits: decimal(),
  drpResidual: decimal(),
  cashAmount: decimal(),
  paymentDetailID: Id,
  payeeName: Type.String(),
  payeeBsb: Type.String(),
  payeeAccountNumber: sensitive(Type.String()),
  payeeIban: sensitive(Type.String()),
  isPaid: Flag,
  isAllotted: Flag,
  statusID: lookupID('DistributionStatus'),
})
export const accountFilters = {
  CorporateActionID: intFilter('t.corporate_action_id'),
  AccountID: intFilter('t.account_id'),
}
export const entitledDistributionFilters = {
  ExternalCorporateActionId: textFilter('d.external_corporate_action_id'),
  InvestmentID: intFilter('d.investment_id'),
}
export const entitledAccountFilters = {
  ExternalAccountId: textFilter('a.external_account_id'),
  AccountNumber: codeFilter('a.account_number'),
}
export const EntitledQuery = Type.Object({
  ...product,
  ...filterParameters({
    ...accountFilters,
    ...entitledDistributionFilters,
    ...entitledAccountFilters,
  }),
  ...paging,
})

export type DistributionInput = Static<typeof DistributionInput>
export type DistributionUpdate = Static<typeof DistributionUpdate>
export type Declaration = Static<typeof Declaration>
export type PreviewRequest = Static<typeof PreviewRequest>
export type Payment = Static<typeof Payment>
export type Reversal = Static<typeof Reversal>
export type ResidualPayout = Static<typeof ResidualPayout>
export type DrpAllotment = Static<typeof DrpAllotment>
export type DistributionKey = Static<typeof DistributionKey>
export type DistributionQuery = Static<typeof DistributionQuery>
export type EntitledQuery = Static<typeof EntitledQuery>

const distribution = {
  what: 'distribution',
  table: 'distribution',
  columns: ['corporate_action_id', 'external_corporate_action_id'],
  inProduct: true,
  inLedger: true,
} as const
export const distributionReference = reference(distribution, [
  'corporateActionID',
  'externalCorporateActionId',
])
export const distributionParameter = reference(distribution, [
  'CorporateActionID',
  'ExternalCorporateActionId',
])
export const drpInvestmentReference = reference(investmentIdentity, [
  'drpInvestmentID',
  'drpExternalInvestmentId',
  'drpSecurityCode',
])
