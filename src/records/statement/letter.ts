/** The sender of letters to investors, as stored in Product.issuer. */
export type Issuer = {
  name: string
  abn?: string | null
  address?: string | null
  phone?: string | null
  email?: string | null
  website?: string | null
  accentColour?: string | null
  statementNote?: string | null
}

export type LetterColumn = { title: string; width: number; isNumber?: boolean }

/** A table of a letter; its last `sums` rows are sums. */
export type Section = {
  heading: string
  columns: readonly LetterColumn[]
  rows: readonly (readonly (string | null)[])[]
  sums?: number
}

/** A letter to one holder about one account, in a form that every kind of letter shares. */
export type Letter = {
  title: string
  /** Name and address, as the window of an envelope shows them. */
  addressee: readonly string[]
  /** Account number, period and the like: label and value. */
  references: readonly (readonly [string, string])[]
  sections: readonly Section[]
  notes: readonly string[]
}

/** 1234567.89 → 1,234,567.89; only separators are added, the digits are not rounded. */
export const grouped = (digits: string | null | undefined) =>
  digits?.replace(/\d(?=(\d{3})+(\.|$))(?<!\.\d*)/g, '$&,') ?? null

const months =
  'January February March April May June July August September October November December'.split(' ')

/** 30 June 2026 */
export function longDate(date: string): string {
  const [year, month, day] = date.split('-')
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`
}

const shortMonths = months.map((name) => name.slice(0, 3))
/** 30 Jun 2026 */
export function shortDate(date: string): string {
  const [year, month, day] = date.split('-')
  return `${day} ${shortMonths[Number(month) - 1]} ${year}`
}

/** AustralianFrankedDividends → Australian Franked Dividends */
export const spaced = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
