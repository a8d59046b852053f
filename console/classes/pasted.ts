import { typed } from '../shared/decimal.ts'

type Line = { priceDate: string; price: string } | { problem: string }

/** Reads a pasted line: a date, 30/06/2026 or 2026-06-30, and the price in the rest of the line. */
export function readPrice(line: string, number: number): Line {
  const [, date = '', figure = ''] = /^\s*(.*?)(?:[\t;]|,?\s|$)(.*)$/.exec(line) ?? []
  const [, dayOf, month, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(date) ?? []
  const iso = year ? `${year}-${month?.padStart(2, '0')}-${dayOf?.padStart(2, '0')}` : date
  const value = typed(figure)
  if (!/^\d{4}-\d\d-\d\d$/.test(iso)) return { problem: `Line ${number}: no date in “${date}”` }
  if (value === undefined) return { problem: `Line ${number}: no price in “${figure}”` }
  return { priceDate: iso, price: value }
}
