import { typed } from '../shared/decimal.ts'
import type { Kind } from './kinds.ts'

/** One pasted line: its cells by field, and what is wrong with it as it stands. */
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

/** The headings a spreadsheet may have, in small letters. */
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

/** The columns where the first line names none. */
export const usualOrder = ({ way }: Kind): Field[] => [
  'accountNumber',
  'securityCode',
  'transactionDate',
  way === 'in' ? 'amount' : 'quantity',
  'externalBizTransactionId',
  'comment',
]

/** 30/06/2026 and 2026-06-30 are days; anything else is left as it is, for the service to judge. */
function dayOf(text: string): string {
  const [, day, month, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  return year ? `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}` : text
}

const figures: Field[] = ['quantity', 'amount', 'investmentPrice']

function cellOf(field: Field, text: string): string {
  if (field === 'transactionDate') return dayOf(text)
  if (figures.includes(field)) return typed(text) ?? text
  return text
}

function problemOf(cells: Line['cells']): string | undefined {
  if (!cells.accountNumber) return 'No account'
  if (!cells.securityCode) return 'No class'
  if (!/^\d{4}-\d\d-\d\d$/.test(cells.transactionDate ?? '')) return 'No day'
  const wrong = figures.find((field) => cells[field] && typed(cells[field] ?? '') === undefined)
  if (wrong) return `“${cells[wrong]}” is no figure`
  return cells.amount || cells.quantity ? undefined : 'Neither units nor an amount'
}

/** The lines of a spreadsheet as it copies them: cells between tabs, with or without headings. */
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
