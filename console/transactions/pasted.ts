import { typed } from '../shared/decimal.ts'
import { dayOf } from '../shared/format.ts'
import type { Kind } from './kinds.ts'

/** A pasted line: its cells by field, and a problem that can be seen without the service. */
export type Line = { number: number; cells: Partial<Record<Field, string>>; problem?: string }

export type Field =
  | 'accountNumber'
  | 'securityCode'
  | 'transactionDate'
  | 'quantity'
  | 'amount'
  | 'investmentPrice'
  | 'externalBizTransactionId'
  | 'comment'

/** The headings that are recognised, in lower case. */
const headings: Record<string, Field> = {
  account: 'accountNumber',
  'account number': 'accountNumber',
  accountnumber: 'accountNumber',
  class: 'securityCode',
  'security code': 'securityCode',
  securitycode: 'securityCode',
  day: 'transactionDate',
  date: 'transactionDate',
  transactiondate: 'transactionDate',
  units: 'quantity',
  quantity: 'quantity',
  amount: 'amount',
  price: 'investmentPrice',
  'external id': 'externalBizTransactionId',
  externalbiztransactionid: 'externalBizTransactionId',
  comment: 'comment',
}

/** The columns that are assumed where the first line is not a header. */
export const usualOrder = ({ way }: Kind): Field[] => [
  'accountNumber',
  'securityCode',
  'transactionDate',
  way === 'in' ? 'amount' : 'quantity',
  'externalBizTransactionId',
  'comment',
]

const figures: Field[] = ['quantity', 'amount', 'investmentPrice']

function cellOf(field: Field, text: string): string {
  if (field === 'transactionDate') return dayOf(text) ?? text
  if (figures.includes(field)) return typed(text) ?? text
  return text
}

function problemOf(cells: Line['cells']): string | undefined {
  if (!cells.accountNumber) return 'No account'
  if (!cells.securityCode) return 'No class'
  if (!cells.transactionDate) return 'No day'
  if (!dayOf(cells.transactionDate)) return `“${cells.transactionDate}” is no day`
  const wrong = figures.find((field) => cells[field] && typed(cells[field] ?? '') === undefined)
  if (wrong) return `“${cells[wrong]}” is no figure`
  return cells.amount || cells.quantity ? undefined : 'Neither units nor an amount'
}

/**
 * Reads lines copied from a spreadsheet: cells separated by tabs, with or without a header line.
 */
export function readPasted(text: string, kind: Kind): Line[] {
  const rows = text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map((cell) => cell.trim()))
    .map((cells, i) => ({ cells, number: i + 1 }))
    .filter(({ cells }) => cells.some(Boolean))
  const named = (rows[0]?.cells ?? []).map((cell) => headings[cell.toLowerCase()])
  const hasHeadings = named.filter(Boolean).length >= 2
  const order = hasHeadings ? named : usualOrder(kind)
  return rows.slice(hasHeadings ? 1 : 0).map(({ cells: given, number }) => {
    const pairs = order.flatMap((field, i) =>
      field && given[i] ? [[field, cellOf(field, given[i])] as const] : [],
    )
    const cells: Line['cells'] = Object.fromEntries(pairs)
    const problem = problemOf(cells)
    return { number, cells, ...(problem && { problem }) }
  })
}
