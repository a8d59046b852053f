import { plainDecimal } from '../../platform/shape/decimal.ts'
import type { Cell } from './row.ts'

/** What one sees of a number in a cell; days are counted from the first that the book has. */
export type Shown = (value: string, firstDay: number) => Cell

/** Digits that a sheet shows of a figure, and that programs write; what may be left of noise. */
const [shownDigits, writtenDigits, mostOfNoisy] = [15, 17, 12]
const digitsOf = (plain: string) => plain.replace('.', '').replace(/^[-0]+/, '').length

/**
 * A sheet holds doubles, of which programs write up to 17 digits: 0.10000000000000001 for what its
 * reader sees, and means, as 0.1, and 1.2100000000000002 for 1.1 × 1.1. What makes the fifteen that
 * are shown end in zeros is noise. Whole numbers may be somebody's, and have none; a figure that no
 * double is written as was not worked out by a sheet, and is meant as it stands.
 */
export function numberOf(value: string): string {
  const own = plainDecimal(value)
  if (own === value && value.length <= shownDigits) return value // as nearly all are
  const number = Number(value)
  if (!Number.isFinite(number)) return value
  const [exact, long, seen] = [
    String(number),
    number.toPrecision(writtenDigits),
    number.toPrecision(shownDigits),
  ].map(plainDecimal)
  const isOfSheet = own === undefined || (own.includes('.') && digitsOf(own) <= writtenDigits)
  if (isOfSheet && seen !== undefined && digitsOf(seen) <= mostOfNoisy) return seen
  return (own === long ? exact : own) ?? value
}

/** As it is seen, and as it would stand in a file of CSV: 50%, where the sheet holds 0.5. */
const percentOf: Shown = (value) => {
  const figure = numberOf(value)
  return `${plainDecimal(`${figure}e2`) ?? figure}%`
}

/** 012345678 of an account, 062-000 of a branch: where the sheet holds 12345678 and 62000. */
const paddedBy =
  (places: string): Shown =>
  (value) => {
    const figure = numberOf(value)
    if (!/^\d+$/.test(figure)) return figure
    const wanted = places.replaceAll(/[^0]/g, '').length
    const digits = [...figure.padStart(wanted, '0')]
    const before = digits.splice(0, digits.length - wanted).join('')
    return before + places.replaceAll('0', () => digits.shift() ?? '')
  }

/** Sheets count days from the end of 1899, and have a 29 February 1900 that never was. */
const dayOf: Shown = (value, firstDay) => {
  const number = firstDay + Number(value)
  if (!(number >= 1 && number < 2_958_466)) return value
  const days = Math.floor(number) - (number < 60 ? 0 : 1)
  return { day: new Date(Date.UTC(1899, 11, 31) + days * 86_400_000).toISOString().slice(0, 10) }
}

/** Of the formats that every workbook has, those of days and of percentages. */
export const builtInFormats: readonly (readonly [number, Shown])[] = [
  ...[14, 15, 16, 17, 22, 27, 30, 36, 50, 57].map((format) => [format, dayOf] as const),
  ...[9, 10].map((format) => [format, percentOf] as const),
]

/** Letters of a format that stand for themselves: in quotes, or behind a stroke. */
const literal = /"([^"]*)"|\\(.)/g
/** A colour or a currency, the width of a letter, and what fills the cell. */
const unseen = /\[[^\]]*\]|[_*]./g
/** Places of digits alone, in groups or not: a number of somebody's, and no figure. */
const places = /^00+(?:[ -]0+)*$/

/** By the format of a cell: a day by its year, a percentage by its sign, a number by its places. */
export function shownBy(code: string): Shown | undefined {
  const bare = code.replaceAll(literal, '').replaceAll(unseen, '')
  if (/[yd]/i.test(bare)) return dayOf
  if (bare.includes('%')) return percentOf
  const [first = ''] = code.replaceAll(unseen, '').replaceAll(literal, '$1$2').split(';')
  return places.test(first) ? paddedBy(first) : undefined
}
