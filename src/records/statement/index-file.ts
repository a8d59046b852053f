import { lookups } from '../../platform/lookup/lookups.ts'
import { harmless } from '../../platform/shape/harmless.ts'
import { latin } from '../../platform/shape/latin.ts'
import type { HolderRow } from './parts.ts'

/** A statement that is in the zip, by its account: where it begins, and how long it is. */
export type Printed = { row: HolderRow; fileName: string; offset: number; size: number }

/** Letters and digits that any system takes in the name of a file. */
const plain = (text: string) =>
  latin(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)

/** 1000123-smith-2026-06-30.pdf; the account's id where its number is not fit for a name. */
export function fileNameOf({ accountNumber, accountID, surname }: HolderRow, day: string) {
  const number = /^[A-Za-z0-9-]+$/.test(accountNumber)
    ? accountNumber
    : `${plain(accountNumber)}-id${accountID}`
  return `${[number, plain(surname), day].filter(Boolean).join('-')}.pdf`
}

const { Email } = lookups.CommunicationPreference
const both = lookups.CommunicationPreference['Email and post']

/** How a statement is to go out, by what its holder prefers and can be reached by. */
export function wayOf({ email, preferenceID }: HolderRow): 'Email' | 'Print' | 'NoAddress' {
  if (preferenceID === both) return email ? 'Email' : 'Print'
  if (preferenceID !== null && preferenceID !== Email) return 'Print'
  return email ? 'Email' : 'NoAddress'
}

/** Whether paper is wanted beside the e-mail. */
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
