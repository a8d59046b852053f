/**
 * Fields of answers that are never null, by record, beside the record's id and its lists: columns
 * that must have a value, and fields computed from such columns. The OpenAPI document says of every
 * other field that it may be null; openapi.test.ts compares this list with the columns.
 */
const fields: Readonly<Record<string, string>> = {
  Account: 'productID accountNumber currencyID drpTypeID accountStatusID',
  AffectedTransaction:
    'bizTransactionTypeID productID accountID investmentID transactionDate quantity amount',
  Audit: 'occurredDate operation resource requestID',
  BizEntity:
    'bizEntityTypeID bizEntityStatusID name communicationPreferenceCopyParentBizEntity ' +
    'isDirectorInterest isExecutiveInterest createdDate',
  BizEntityParent: 'bizEntityID parentBizEntityID',
  BizEntityParty:
    'isPrimaryContact isIncomeReceiving isSignatory isAuthorisedNominee isPowerOfAttorney',
  BizEvent:
    'bizEventTypeID bizEventStatusID productID investmentID accountID accountNumber ' +
    'bizEntityName bizEventDate createdDate',
  BizTransaction:
    'bizTransactionTypeID typeName movementReasonCode transactionDate productID accountID ' +
    'accountNumber bizEntityName investmentID amount quantity entryFeeAmount createdDate ' +
    'bizTransactionStatusID statusName',
  Distribution: 'productID investmentID distributionStatusID',
  DistributionException: 'productID accountID accountNumber bizEntityID bizEntityName',
  Document: 'documentTypeID showInDocumentsInPortal isPublic hasPassword createdDate updatedDate',
  EntitledAccount: 'productID accountID accountNumber bizEntityID bizEntityName',
  Event: 'cursor type occurredDate resource',
  Holding:
    'bizEntityName accountID accountNumber productID investmentID quantity costAmount ' +
    'realisedGain',
  Import:
    'type format mode status fileName fileSize rowsRead rowsAccepted rowsRefused ' +
    'progressPercent username createdDate',
  Investment:
    'productID isActive currencyID unitDecimals drpResidualOnExit createdDate updatedDate',
  InvestmentPrice: 'investmentID productID priceDate price applicationPrice redemptionPrice',
  Organisation: 'isCorporateTrustee licenceActive',
  PaymentDetail: 'bizEntityID isForDeposit isForDistribution isForRedemption isForOther isDefault',
  PaymentRun:
    'productID state currencyID processingDate format balanced minimumAmount ' +
    'createdByUserID createdDate',
  Person: 'isDirectorOfCorporateTrustee isPEP isSophisticatedInvestor isTrustee',
  Product: 'name currencyID isActive withholding bankDetailCoolOffDays createdDate updatedDate',
  Report: 'reportTypeID reportStatusID name format productID progressPercent username createdDate',
  ResidualPayment: 'accountID accountNumber investmentID amount paymentDate bizTransactionID',
  RunPayment:
    'paymentRunID productID accountID accountNumber bizEntityID amount taxAmount ' +
    'reference payeeName state',
  TaxStanding: 'accountNumber productID bizEntityID',
  User: 'username isActive createdDate',
  Webhook: 'url isActive failureCount userID createdDate updatedDate',
  WebhookDelivery: 'webhookID type status attempts createdDate',
  WebhookWithSecret: 'url isActive failureCount userID createdDate updatedDate secret',
  WithholdingRate: 'rule incomeKind percentage rounding validFrom',
}

export const presentFields: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(fields).map(([record, names]) => [record, new Set(names.split(' '))]),
)
