import { typed } from '../shared/decimal.ts'
import { dayOf } from '../shared/format.ts'

type Line = { priceDate: string; price: string } | { problem: string }

/** Reads a pasted line: a date, 30/06/2026 or 2026-06-30, and the price in the rest of the line. */
export function readPrice(line: string, number: number): Line {
  const [, date = '', figure = ''] = /^\s*(.*?)(?:[\t;]|,?\s|$)(.*)$/.exec(line) ?? []
  const priceDate = dayOf(date)
  const value = typed(figure)
  if (priceDate === undefined) return { problem: `Line ${number}: no date in “${date}”` }
  if (value === undefined) return { problem: `Line ${number}: no price in “${figure}”` }
  return { priceDate, price: value }
}
