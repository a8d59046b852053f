import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { TSchema } from 'typebox'
import type { Download } from '../../platform/http/download.ts'
import { lookupValues } from '../../platform/lookup/lookups.ts'
import { bodyOf, headOf } from './columns.ts'
import { csvLine } from './csv-write.ts'
import { typeOfFormat } from './download.ts'
import { kinds } from './kinds.ts'
import type { Format, ImportType } from './schema.ts'
import { workbookOf } from './xlsx-write.ts'

/** The usual columns with example values. Any other field may be a column, too. */
const examples: Record<ImportType, Record<string, string>> = {
  Investors: {
    externalBizEntityId: 'INV-1',
    bizEntityTypeID: 'Individual',
    bizEntityStatusID: 'Active',
    name: 'Ann Example',
    taxationCountryCode: 'AUS',
    'accounts.externalProductId': 'GROWTH',
    'accounts.externalAccountId': 'ACC-1',
    'accounts.drpTypeID': 'None',
    'bizEntityParties.isPrimaryContact': 'true',
    'bizEntityParties.person.externalPersonId': 'PER-1',
    'bizEntityParties.person.firstName': 'Ann',
    'bizEntityParties.person.lastName': 'Example',
    'bizEntityParties.person.dateOfBirth': '1980-02-29',
    'bizEntityParties.person.taxationFileNumber': '',
    'bizEntityParties.2.person.firstName': '',
    'bizEntityParties.2.person.lastName': '',
    'bizEntityParties.organisation.name': '',
    'bizEntityParties.organisation.abn': '',
    'addresses.addressTypeID': '8',
    'addresses.addressLine': '1 George Street',
    'addresses.suburb': 'Sydney',
    'addresses.stateCode': 'NSW',
    'addresses.postcode': '2000',
    'addresses.countryCode': 'AU',
    'communications.communicationTypeID': 'Email',
    'communications.name': 'ann@example.com',
    'paymentDetails.paymentTypeID': 'Direct credit',
    'paymentDetails.bsb': '062-000',
    'paymentDetails.accountNumber': '12345678',
    'paymentDetails.accountName': 'Ann Example',
    'paymentDetails.isForDistribution': 'true',
    'paymentDetails.isDefault': 'true',
  },
  Prices: {
    externalProductId: 'GROWTH',
    securityCode: 'GRA',
    priceDate: '2026-06-30',
    price: '1.0425',
    applicationPrice: '',
    redemptionPrice: '',
  },
  Transactions: {
    operation: 'Deposit',
    externalBizTransactionId: 'TX-1',
    externalProductId: 'GROWTH',
    externalAccountId: 'ACC-1',
    securityCode: 'GRA',
    transactionDate: '2026-06-30',
    amount: '1000.00',
    quantity: '',
    investmentPrice: '',
    comment: '',
    fromExternalAccountId: '',
    toExternalAccountId: '',
    fromSecurityCode: '',
    toSecurityCode: '',
  },
  OpeningBalances: {
    externalBizTransactionId: 'OPEN-1',
    externalProductId: 'GROWTH',
    externalAccountId: 'ACC-1',
    securityCode: 'GRA',
    transactionDate: '2026-06-30',
    quantity: '959.2326',
    amount: '1000.00',
  },
  PaymentResults: {
    paymentRunID: '1',
    reference: 'PAY 17',
    state: 'Paid',
    reason: '',
    date: '2026-07-02',
  },
}

/** A file with example rows for a type of import, in one of the formats. */
export async function templateOf(type: ImportType, format: Format): Promise<Download> {
  const content = await contentOf(type, format)
  const fileName = `${type}.${format}`
  const contentType = typeOfFormat[format]
  const size = content.length
  return {
    record: { fileName, contentType, size },
    fileName,
    contentType,
    size,
    open: async () => Readable.from([content], { objectMode: false }),
  }
}

async function contentOf(type: ImportType, format: Format): Promise<Buffer> {
  const example = examples[type]
  const table = [Object.keys(example), Object.values(example)]
  const lookups = [...wordsIn(type), ...lookupsIn(kinds[type].fields, Object.keys(example))]
  if (format === 'xlsx')
    return buffer(
      workbookOf([
        { name: 'Import', rows: table },
        { name: 'Lookups', rows: [['lookup', 'id', 'name'], ...lookups] },
      ]),
    )
  const notes = lookups.map(
    ([category, id, name]) => `# ${category}: ${id ? `${id} = ` : ''}${name}\r\n`,
  )
  const rows = format === 'csv' ? table.map(csvLine) : [`${jsonLine(type)}\r\n`]
  return Buffer.from(`${format === 'csv' ? '\ufeff' : ''}${[...rows, ...notes].join('')}`)
}

/** The example row as the JSON body that its columns stand for. */
function jsonLine(type: ImportType): string {
  const names = Object.keys(examples[type])
  const head = headOf(kinds[type].fields, names, [])
  return JSON.stringify(bodyOf(head, Object.values(examples[type]), 'YYYY-MM-DD').body)
}

/** The words of columns that accept only certain words; for lookup columns see lookupsIn. */
function wordsIn(type: ImportType): string[][] {
  const { fields, operations = [] } = kinds[type]
  const { columns } = headOf(fields, Object.keys(examples[type]), [])
  const enumerated = columns.flatMap((column) =>
    column?.node.enum && !column.node.lookup
      ? column.node.enum.map((word) => [column.heading, '', String(word)])
      : [],
  )
  return [...operations.map((name) => ['operation', '', name]), ...enumerated]
}

/** The values of the lookups that the columns refer to. */
function lookupsIn(fields: TSchema, names: readonly string[]): string[][] {
  const { columns } = headOf(fields, names, [])
  const categories = new Set(columns.flatMap((column) => column?.node.lookup ?? []))
  return lookupValues
    .filter(({ category }) => categories.has(category))
    .map(({ category, id, name }) => [category, String(id), name])
}
