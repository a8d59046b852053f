import { plainDecimal } from '../../platform/shape/decimal.ts'
import type { Cell } from './row.ts'

/** Turns the number in a cell into what the sheet shows; `firstDay` shifts the count of days. */
export type Shown = (value: string, firstDay: number) => Cell

/**
 * The digits that a sheet shows of a figure, the digits that programs write, and the most digits
 * that a figure may have after its rounding noise is removed.
 */
const [shownDigits, writtenDigits, mostOfNoisy] = [15, 17, 12]
const digitsOf = (plain: string) => plain.replace('.', '').replace(/^[-0]+/, '').length

/**
 * Removes rounding noise from a figure. A sheet holds doubles, which programs write with up to 17
 * digits: 0.10000000000000001 for 0.1, and 1.2100000000000002 for 1.1 × 1.1. If the fifteen shown
 * digits end in zeros, the digits after them are noise. Whole numbers may be identifiers and have
 * no noise. A figure that is not written like a double does not come from a sheet's calculation
 * and is kept as it is.
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

/** A percentage as the sheet shows it and a CSV file has it: 50%, where the sheet holds 0.5. */
const percentOf: Shown = (value) => {
  const figure = numberOf(value)
  return `${plainDecimal(`${figure}e2`) ?? figure}%`
}

/** Adds zeros and separators: account 012345678 and branch 062-000 are held as 12345678, 62000. */
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

/** Sheets count days from the end of 1899, including 29 February 1900, which did not exist. */
const dayOf: Shown = (value, firstDay) => {
  const number = firstDay + Number(value)
  if (!(number >= 1 && number < 2_958_466)) return value
  const days = Math.floor(number) - (number < 60 ? 0 : 1)
  return { day: new Date(Date.UTC(1899, 11, 31) + days * 86_400_000).toISOString().slice(0, 10) }
}

/** The built-in formats of every workbook that show days or percentages. */
export const builtInFormats: readonly (readonly [number, Shown])[] = [
  ...[14, 15, 16, 17, 22, 27, 30, 36, 50, 57].map((format) => [format, dayOf] as const),
  ...[9, 10].map((format) => [format, percentOf] as const),
]

/** Literal letters of a format: in quotes, or after a backslash. */
const literal = /"([^"]*)"|\\(.)/g
/** Parts of a format for a colour or currency, the width of a letter, or filling the cell. */
const unseen = /\[[^\]]*\]|[_*]./g
/** A format of digit places only, in groups or not: it shows an identifier, not a figure. */
const places = /^00+(?:[ -]0+)*$/

/** How a format shows numbers: a day if it has a year or day, a percentage, or padded digits. */
export function shownBy(code: string): Shown | undefined {
  const bare = code.replaceAll(literal, '').replaceAll(unseen, '')
  if (/[yd]/i.test(bare)) return dayOf
  if (bare.includes('%')) return percentOf
  const [first = ''] = code.replaceAll(unseen, '').replaceAll(literal, '$1$2').split(';')
  return places.test(first) ? paddedBy(first) : undefined
}
