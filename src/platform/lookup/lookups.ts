import { Type } from 'typebox'
import { countries } from './countries.ts'

/** Every lookup value of the platform. Ids never change: add values, never renumber. */
export const lookups = {
  BizEntityType: { Individual: 1, Company: 2, Trust: 3, SMSF: 4, Partnership: 5 },
  BizEntityStatus: { Active: 1, Pending: 2, Inactive: 3, Closed: 4 },
  AccountStatus: { Active: 1, Suspended: 2, Closed: 3 },
  AddressType: { Other: 3, Physical: 6, Postal: 8 },
  CommunicationType: { Email: 1, Phone: 2, Mobile: 3, Fax: 4, Website: 5 },
  PaymentType: { 'Direct credit': 1, Cheque: 2, BPAY: 3, 'International transfer': 4 },
  Currency: { AUD: 1, NZD: 2, USD: 3, GBP: 4, EUR: 5, SGD: 6, HKD: 7, JPY: 8 },
  DRPType: { None: 1, Full: 2, Percentage: 3, Units: 4 },
  DRPIndicator: { 'Not offered': 1, Offered: 2 },
  DistributionStatus: { Configured: 1, Declared: 2, Paid: 3, Completed: 4 },
  DistributionTerm: { Income: 1, Capital: 2, Special: 3 },
  DistributionPeriod: {
    Monthly: 1,
    Quarterly: 2,
    'Half-yearly': 3,
    Yearly: 4,
    Interim: 5,
    Final: 6,
  },
  BizEventType: { Deposit: 1, Redemption: 2, Allotment: 3 },
  BizEventStatus: { Pending: 1, Completed: 2, Cancelled: 3 },
  BizTransactionType: {
    Deposit: 1,
    Allotment: 2,
    Redemption: 3,
    'Conversion out': 4,
    'Conversion in': 5,
    Adjustment: 6,
    'Set quantity': 7,
    'Transfer out': 8,
    'Transfer in': 9,
    'Distribution payment': 10,
    'DRP allotment': 11,
    'Withholding tax': 12,
    'Residual payment': 13,
  },
  BizTransactionStatus: { Complete: 1, Updated: 2, RolledBack: 3 },
  ConversionMethod: { Factor: 1, Price: 2 },
  ReportType: {
    'Register of members': 1,
    Holdings: 2,
    Transactions: 3,
    Distribution: 4,
    'Top holders': 5,
    'Holding ranges': 6,
    'Holding statement': 7,
    'Distribution statement': 8,
    'Annual tax statement': 9,
    'Payment reconciliation': 10,
    'Unclaimed money': 11,
    'Withholding summary': 12,
    'Data quality': 13,
    'Units on issue': 14,
    'Transaction confirmation': 15,
  },
  ReportStatus: { Queued: 1, Running: 2, Complete: 3, Failed: 4 },
  Title: { Mr: 1, Mrs: 2, Ms: 3, Miss: 4, Mx: 5, Dr: 6, Prof: 7, Rev: 8, Sir: 9, Dame: 10 },
  InvestorType: { Retail: 1, Wholesale: 2, Sophisticated: 3, Professional: 4, Institutional: 5 },
  SourceOfFunds: {
    'Employment income': 1,
    'Business income': 2,
    'Investment income': 3,
    Savings: 4,
    Inheritance: 5,
    'Sale of assets': 6,
    Superannuation: 7,
    Gift: 8,
    Other: 9,
  },
  PurposeOfInvestment: { Income: 1, Growth: 2, Retirement: 3, Savings: 4, Estate: 5, Other: 6 },
  CustomerCategory: { Standard: 1, Priority: 2, Staff: 3, 'Related party': 4 },
  TaxOfficeType: {
    Individual: 1,
    Company: 2,
    Trust: 3,
    'Superannuation fund': 4,
    Partnership: 5,
    Exempt: 6,
    'Non-resident': 7,
  },
  CommunicationPreference: { Email: 1, Post: 2, 'Email and post': 3, None: 4 },
  IdentificationType: {
    Passport: 1,
    'Driver licence': 2,
    'Medicare card': 3,
    'Birth certificate': 4,
    'Citizenship certificate': 5,
    Other: 6,
  },
  CRSFATCAParticipation: {
    'Not reportable': 1,
    'CRS reportable': 2,
    'FATCA reportable': 3,
    'CRS and FATCA reportable': 4,
    'Not certified': 5,
  },
  RelationshipType: {
    Director: 1,
    Secretary: 2,
    Shareholder: 3,
    Trustee: 4,
    Beneficiary: 5,
    Partner: 6,
    Member: 7,
    'Beneficial owner': 8,
    'Authorised representative': 9,
    Other: 10,
  },
  OrganisationType: {
    'Private company': 1,
    'Public company': 2,
    'Incorporated association': 3,
    'Government body': 4,
    'Financial institution': 5,
    'Financial adviser': 6,
    Other: 7,
  },
  DocumentType: {
    'Application form': 1,
    Identification: 2,
    'Trust deed': 3,
    Statement: 4,
    'Tax statement': 5,
    'Product disclosure statement': 6,
    Correspondence: 7,
    Report: 8,
    Other: 9,
  },
  SophisticatedInvestorEligibility: {
    'Accountant Certificate': 1,
    'Income Test': 2,
    'Net Assets Test': 3,
    'Professional Investor': 4,
  },
  Country: Object.fromEntries(countries.map(([alpha2], i) => [alpha2, i + 1])),
  State: { NSW: 1, VIC: 2, QLD: 3, SA: 4, WA: 5, TAS: 6, NT: 7, ACT: 8 },
} as const

export type Category = keyof typeof lookups
export type LookupID<C extends Category> = (typeof lookups)[C][keyof (typeof lookups)[C]]

/** A field that holds one id of a lookup category. 0 means "not given". */
export const lookupID = <C extends Category>(category: C) =>
  Type.Unsafe<LookupID<C>>({
    type: 'integer',
    enum: Object.values(lookups[category]),
    lookup: category,
    description: `Lookup category ${category}.`,
  })

/** Names and descriptions of the values whose key is a code. */
const described: Partial<Record<Category, Record<string, [name: string, description?: string]>>> = {
  Currency: {
    AUD: ['Australian dollar', 'minor units 2'],
    NZD: ['New Zealand dollar', 'minor units 2'],
    USD: ['United States dollar', 'minor units 2'],
    GBP: ['Pound sterling', 'minor units 2'],
    EUR: ['Euro', 'minor units 2'],
    SGD: ['Singapore dollar', 'minor units 2'],
    HKD: ['Hong Kong dollar', 'minor units 2'],
    JPY: ['Japanese yen', 'minor units 0'],
  },
  Country: Object.fromEntries(countries.map(([alpha2, alpha3, name]) => [alpha2, [name, alpha3]])),
  State: {
    NSW: ['New South Wales'],
    VIC: ['Victoria'],
    QLD: ['Queensland'],
    SA: ['South Australia'],
    WA: ['Western Australia'],
    TAS: ['Tasmania'],
    NT: ['Northern Territory'],
    ACT: ['Australian Capital Territory'],
  },
  DRPType: {
    None: ['None'],
    Full: ['Full'],
    Percentage: ['Percentage', 'drpValue is a percentage of the holding'],
    Units: ['Units', 'the distribution on drpValue units is reinvested'],
  },
}

export type LookupValue = {
  category: string
  id: number
  code: string
  name: string
  description: string | null
}

/** Every value as the lookup table stores it. Its code is the key without spaces. */
export const lookupValues: LookupValue[] = Object.entries(lookups).flatMap(([category, values]) =>
  Object.entries(values).map(([key, id]) => {
    const [name, description] = described[category as Category]?.[key] ?? [key]
    return { category, id, code: key.replaceAll(' ', ''), name, description: description ?? null }
  }),
)

/** The code of each currency, by its id. */
export const currencyCodes: Record<number, string> = Object.fromEntries(
  Object.entries(lookups.Currency).map(([code, id]) => [id, code]),
)
