import { wholeUnits } from '../../platform/shape/decimal.ts'
import { latin } from '../../platform/shape/latin.ts'

/**
 * The Direct Entry (CEMTEX) file of Australian banks: records of 120 characters, CRLF after each.
 * Amounts are whole cents in bigints.
 */
export type AbaHeader = {
  bankCode: string
  userName: string
  userID: string
  description: string
  /** YYYY-MM-DD */
  processingDate: string
  trace: { bsb: string; accountNumber: string }
  remitterName: string
}

export type AbaDetail = {
  bsb: string
  accountNumber: string
  indicator?: string
  code: string
  cents: bigint
  title: string
  reference: string
  taxCents: bigint
}

/** The most cents and the most records that fit the totals of one file. */
const mostCents = 9_999_999_999n
const mostRecords = 999_999

/** Splits payments, in order, into as many files as they need; a contra takes a record of each. */
export function splitForAba<P extends { amount: string }>(payments: P[], balanced: boolean): P[][] {
  const parts: P[][] = []
  const most = balanced ? mostRecords - 1 : mostRecords
  let left = -1n
  for (const payment of payments) {
    const cents = wholeUnits(payment.amount, 2)
    if (cents > left || parts.at(-1)!.length === most) {
      parts.push([])
      left = mostCents
    }
    parts.at(-1)!.push(payment)
    left -= cents
  }
  return parts
}

/**
 * A text in the characters that banks take: letters without accents, Łukasz Ørsted as LUKASZ
 * ORSTED. Anything else becomes a blank, and blanks in front are dropped: a field begins with text.
 */
export const plain = (value: string) =>
  latin(value)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9 ^_[\]',?;:=#/.*()&%!$@+-]/g, ' ')
    .trim()
const left = (value: string, width: number) => plain(value).slice(0, width).padEnd(width)
const right = (value: string, width: number) => value.padStart(width)
const digits = (value: bigint | number, width: number) => String(value).padStart(width, '0')
const bsbOf = (bsb: string) => `${bsb.slice(0, 3)}-${bsb.replace('-', '').slice(3)}`

function descriptive({ bankCode, userName, userID, description, processingDate }: AbaHeader) {
  const [year, month, day] = processingDate.split('-') as [string, string, string]
  return [
    '0'.padEnd(18),
    '01',
    left(bankCode, 3),
    ''.padEnd(7),
    left(userName, 26),
    digits(Number(userID), 6),
    left(description, 12),
    `${day}${month}${year.slice(2)}`,
    ''.padEnd(40),
  ].join('')
}

const detail = (one: AbaDetail, { trace, remitterName }: AbaHeader) =>
  [
    '1',
    bsbOf(one.bsb),
    right(one.accountNumber, 9),
    one.indicator ?? ' ',
    one.code,
    digits(one.cents, 10),
    left(one.title, 32),
    left(one.reference, 18),
    bsbOf(trace.bsb),
    right(trace.accountNumber, 9),
    left(remitterName, 16),
    digits(one.taxCents, 8),
  ].join('')

function total(credit: bigint, debit: bigint, count: number) {
  const net = credit > debit ? credit - debit : debit - credit
  return [
    '7999-999'.padEnd(20),
    digits(net, 10),
    digits(credit, 10),
    digits(debit, 10),
    ''.padEnd(24),
    digits(count, 6),
    ''.padEnd(40),
  ].join('')
}

/** The file; with a contra, one more record debits the funding account by the total. */
export function abaFile(
  header: AbaHeader,
  details: readonly AbaDetail[],
  contra: { title: string; reference: string } | undefined,
): string {
  const credit = details.reduce((sum, { cents }) => sum + cents, 0n)
  const debits = contra
    ? [{ ...header.trace, ...contra, code: '13', cents: credit, taxCents: 0n }]
    : []
  const lines = [
    descriptive(header),
    ...[...details, ...debits].map((one) => detail(one, header)),
    total(credit, contra ? credit : 0n, details.length + debits.length),
  ]
  return lines.map((line) => `${line}\r\n`).join('')
}
