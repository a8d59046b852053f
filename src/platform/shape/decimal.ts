import { WrittenNumber } from './json.ts'

/** The most digits of a decimal on either side of the point: 18 significant digits always fit. */
export const decimalDigits = 18
/** Whether a figure that PostgreSQL computed has more than 18 digits before the point. */
export const isTooLong = (figure: string) => tooLong.test(figure)
const tooLong = new RegExp(`^-?\\d{${decimalDigits + 1}}`)
/** The form in which nearly all decimals are sent: it needs no further work. */
const plainly = /^(?:0|-?[1-9]\d{0,17}|-?(?:0|[1-9]\d{0,17})\.\d{0,17}[1-9])$/
const written = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/**
 * The plain digits of a decimal in whichever form it was sent (12.50, "12.50", 1.25e1); undefined
 * for anything else. A JavaScript number never holds the value.
 */
export function plainDecimal(value: unknown): string | undefined {
  const source = sourceOf(value)
  if (plainly.test(source)) return source
  const match = written.exec(source)
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent)
  const digits = shift < 0 ? '0'.repeat(-shift) + whole + fraction : whole + fraction
  const point = shift < 0 ? whole.length : whole.length + shift
  const padded = digits.padEnd(point, '0')
  const before = padded.slice(0, point).replace(/^0+(?=\d)/, '')
  const after = padded.slice(point).replace(/0+$/, '')
  if (before.length > decimalDigits || after.length > decimalDigits) return undefined
  const plain = after ? `${before}.${after}` : before
  return /[1-9]/.test(plain) ? sign + plain : plain
}

function sourceOf(value: unknown): string {
  if (value instanceof WrittenNumber) return value.text
  return typeof value === 'number' || typeof value === 'string' ? String(value) : ''
}

/** Compares two plain decimals: negative, zero or positive as a is below, equal to or above b. */
export function compareDecimals(a: string, b: string): number {
  if (a === b) return 0
  if (a === '0') return b.startsWith('-') ? 1 : -1
  if (b === '0') return a.startsWith('-') ? -1 : 1
  const difference = scaled(a) - scaled(b)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

const scaled = (plain: string): bigint => {
  const [whole = '0', fraction = ''] = plain.split('.')
  return BigInt(whole + fraction.padEnd(decimalDigits, '0'))
}

/** The exact sum of plain decimals, computed in units of the last decimal place. */
export function sumDecimals(decimals: readonly string[]): string {
  const total = decimals.reduce((sum, plain) => sum + scaled(plain), 0n)
  const digits = String(total < 0n ? -total : total).padStart(decimalDigits + 1, '0')
  const fraction = digits.slice(-decimalDigits).replace(/0+$/, '')
  return `${total < 0n ? '-' : ''}${digits.slice(0, -decimalDigits)}${fraction && `.${fraction}`}`
}

/**
 * A plain decimal in units of a decimal place (12.345 to 2 places: 1235), half rounded away from 0.
 */
export function wholeUnits(plain: string, decimals: number): bigint {
  const unit = 10n ** BigInt(decimalDigits - decimals)
  const exact = scaled(plain)
  return (exact + (exact < 0n ? -unit : unit) / 2n) / unit
}
