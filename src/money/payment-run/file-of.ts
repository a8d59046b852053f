import { currencyCodes } from '../../platform/lookup/lookups.ts'
import { sumDecimals, wholeUnits } from '../../platform/shape/decimal.ts'
import { harmless } from '../../platform/shape/harmless.ts'
import { abaFile, plain } from './aba.ts'
import { painFile } from './pain.ts'
import type { Format } from './schema.ts'

export type FileRun = {
  id: number
  format: Format
  balanced: boolean
  processingDate: string
  bsb: string | null
  accountNumber: string | null
  accountName: string
  bankCode: string | null
  userID: string | null
  remitterName: string
  created: string
  currencyID: number
  decimals: number
}

export type FilePayment = {
  id: number
  amount: string
  tax: string
  reference: string
  name: string
  bsb: string | null
  accountNumber: string | null
  iban: string | null
  swift: string | null
  code: string
  /** W, X or Y where tax was withheld from a non-resident. */
  indicator: string | null
}

type Spelling = (name: string) => string
const asItIs: Spelling = (name) => name

/** Warns of names that are cut because they are too long as spelt in the file, where ß is SS. */
const cutNames = (payments: FilePayment[], most: number, spelt: Spelling) =>
  payments.flatMap(({ name, reference }) => cut(`${reference}: the name`, name, most, spelt))

const cut = (what: string, name: string, most: number, spelt: Spelling) =>
  spelt(name).length > most ? [`${what} ${name} is cut to ${most} characters.`] : []

/** Warns of cut names of the payer: in the header and the records, and in the contra record. */
const cutOwnNames = ({ remitterName, accountName, balanced }: FileRun) => [
  ...cut('The remitter’s name', remitterName, 16, plain),
  ...(balanced ? cut('The name of the funding account', accountName, 32, plain) : []),
]

function aba(run: FileRun, payments: FilePayment[]) {
  // create.ts refuses an ABA run without the fields asserted here.
  const trace = { bsb: run.bsb!, accountNumber: run.accountNumber! }
  const header = {
    bankCode: run.bankCode!,
    userName: run.remitterName,
    userID: run.userID!,
    description: payments.every(({ code }) => code === '56') ? 'DISTRIBUTION' : 'PAYMENTS',
    processingDate: run.processingDate,
    trace,
    remitterName: run.remitterName,
  }
  const details = payments.map((one) => ({
    bsb: one.bsb!,
    accountNumber: one.accountNumber!,
    code: one.code,
    cents: wholeUnits(one.amount, 2),
    title: one.name,
    reference: one.reference,
    taxCents: wholeUnits(one.tax, 2),
    ...(one.indicator && { indicator: one.indicator }),
  }))
  const contra = run.balanced
    ? { title: run.accountName, reference: `RUN ${run.id} BALANCE` }
    : undefined
  const warnings = [...cutOwnNames(run), ...cutNames(payments, 32, plain)]
  return { text: abaFile(header, details, contra), warnings }
}

function pain(run: FileRun, payments: FilePayment[]) {
  const initiation = {
    messageID: `RUN-${run.id}-${run.created.replaceAll(/\D/g, '')}`,
    created: run.created,
    initiator: run.remitterName,
    executionDate: run.processingDate,
    currency: currencyCodes[run.currencyID]!,
    debtor: {
      name: run.accountName,
      bsb: run.bsb,
      accountNumber: run.accountNumber!, // create.ts refuses a pain.001 run without it
      bic: null,
    },
    total: sumDecimals(payments.map(({ amount }) => amount)),
  }
  const transfers = payments.map((one) => ({ ...one, bic: one.swift }))
  return { text: painFile(initiation, transfers), warnings: cutNames(payments, 140, asItIs) }
}

const cell = (value: string) => {
  const safe = harmless(value)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function cheques(payments: FilePayment[]) {
  const rows = payments.map(({ reference, name, amount }) => [reference, cell(name), amount])
  const lines = [['Reference', 'Payee', 'Amount'], ...rows].map((row) => `${row.join(',')}\r\n`)
  return { text: `\ufeff${lines.join('')}`, warnings: [] as string[] }
}

const kinds: Record<Format, { ending: string; contentType: string }> = {
  ABA: { ending: 'aba', contentType: 'text/plain' },
  'pain.001': { ending: 'xml', contentType: 'application/xml' },
  'cheque list': { ending: 'csv', contentType: 'text/csv' },
}

/** One file of a run, under a name by which an operator can recognise it. */
export function fileOf(run: FileRun, payments: FilePayment[], part: number | undefined) {
  const { ending, contentType } = kinds[run.format]
  const made =
    run.format === 'ABA'
      ? aba(run, payments)
      : run.format === 'pain.001'
        ? pain(run, payments)
        : cheques(payments)
  const suffix = part === undefined ? '' : `-${part}`
  return {
    ...made,
    contentType,
    fileName: `payment-run-${run.id}-${run.processingDate}${suffix}.${ending}`,
  }
}
