/**
 * The fields of answers that hold exact decimals: JSON numbers on the wire, text in the browser.
 * test/console/decimals.test.ts holds this list to the service's own schemas.
 */
export const decimalFields = [
  'accountClosingAmount',
  'accountClosingQuantity',
  'amount',
  'applicationPrice',
  'availableQuantity',
  'averageCost',
  'balance',
  'baseAmount',
  'cashAmount',
  'centsPerUnitPerDay',
  'closingCost',
  'closingGain',
  'closingQuantity',
  'conversionFactor',
  'costAmount',
  'costChange',
  'currentPrice',
  'distributionAmountPerUnit',
  'distributionAmountTotal',
  'distributionEntitlement',
  'distributionsPaid',
  'drpAmount',
  'drpPrice',
  'drpResidual',
  'drpUnits',
  'drpValue',
  'entitledUnits',
  'gainChange',
  'grossAmount',
  'heldUnits',
  'investmentPrice',
  'issuePrice',
  'marketValue',
  'minimumAmount',
  'overridePercentage',
  'percentage',
  'price',
  'priceTolerancePercent',
  'proRataPercentPerAnnum',
  'quantity',
  'quantityChange',
  'rate',
  'realisedGain',
  'redemptionPrice',
  'score',
  'taxAmount',
  'transactionClosingAmount',
  'transactionClosingQuantity',
  'unitDays',
  'unitValue',
  'units',
  'unrealisedGain',
  'unrealisedGainPercent',
] as const

/**
 * A quote inside a text is written \" in JSON, so `"amount":` with bare quotes is a field's name
 * and nothing else; the digits behind it go between quotes before any number is made of them.
 */
const written = new RegExp(`("(?:${decimalFields.join('|')})"\\s*:\\s*)(-?\\d[\\d.eE+-]*)`, 'g')

export const readJson = (text: string): unknown => JSON.parse(text.replace(written, '$1"$2"'))
