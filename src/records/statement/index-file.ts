import { lookups } from '../../platform/lookup/lookups.ts'
import { harmless } from '../../platform/shape/harmless.ts'
import { latin } from '../../platform/shape/latin.ts'
import type { HolderRow } from './parts.ts'

/**
 * An investor statement in the zip: its account, where its file begins, and the size of the file.
 */
export type Printed = { row: HolderRow; fileName: string; offset: number; size: number }

/** Reduces a text to letters and digits that every system accepts in a file name. */
const plain = (text: string) =>
  latin(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)

/**
 * 1000123-smith-2026-06-30.pdf; adds the account's id where the account number is unfit for a file
 * name.
 */
export function fileNameOf({ accountNumber, accountID, surname }: HolderRow, day: string) {
  const number = /^[A-Za-z0-9-]+$/.test(accountNumber)
    ? accountNumber
    : `${plain(accountNumber)}-id${accountID}`
  return `${[number, plain(surname), day].filter(Boolean).join('-')}.pdf`
}

const { Email } = lookups.CommunicationPreference
const both = lookups.CommunicationPreference['Email and post']

/** How an investor statement is delivered, from the holder's preference and e-mail address. */
export function wayOf({ email, preferenceID }: HolderRow): 'Email' | 'Print' | 'NoAddress' {
  if (preferenceID === both) return email ? 'Email' : 'Print'
  if (preferenceID !== null && preferenceID !== Email) return 'Print'
  return email ? 'Email' : 'NoAddress'
}

/** Whether the holder wants a paper copy as well as the e-mail. */
export const isAlsoPrinted = (row: HolderRow) => row.preferenceID === both && wayOf(row) === 'Email'

export const indexHead = '\ufefffile,accountNumber,name,accountID,delivery\r\n'
const cell = (text: string) => {
  const safe = harmless(text)
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
export const indexLine = ({ row, fileName }: Printed) =>
  `${[fileName, row.accountNumber, row.name, String(row.accountID), deliveryOf(row)]
    .map(cell)
    .join(',')}\r\n`
const deliveryOf = (row: HolderRow) => (isAlsoPrinted(row) ? 'EmailAndPrint' : wayOf(row))
