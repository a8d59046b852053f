import { compareDecimals, plainDecimal, sumDecimals } from '../../src/platform/shape/decimal.ts'

/** Exact arithmetic on decimal texts for previews and totals, with the rules of the service. */

const places = 18

const scaled = (plain: string): bigint => {
  const [whole = '0', fraction = ''] = plain.split('.')
  return BigInt(whole + fraction.padEnd(places, '0').slice(0, places))
}

const text = (value: bigint, scale: number): string => {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const whole = scale === 0 ? digits : digits.slice(0, -scale)
  const fraction = scale === 0 ? '' : digits.slice(-scale).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`
}

/** Half away from zero, as the service rounds. */
const rounded = (value: bigint, divisor: bigint): bigint =>
  (value + (value < 0n ? -divisor : divisor) / 2n) / divisor

const power = (exponent: number) => 10n ** BigInt(exponent)

export const multiply = (a: string, b: string, decimals: number): string =>
  text(rounded(scaled(a) * scaled(b), power(2 * places - decimals)), decimals)

export const divide = (a: string, b: string, decimals: number): string =>
  text(rounded(scaled(a) * power(decimals), scaled(b)), decimals)

export const sum = (values: readonly (string | null | undefined)[]): string =>
  sumDecimals(values.filter((value): value is string => Boolean(value)))

export const negated = (value: string) => (value.startsWith('-') ? value.slice(1) : `-${value}`)
export const subtract = (a: string, b: string) => sum([a, negated(b)])
export const isNegative = (value: string) => compareDecimals(value, '0') < 0
export const isZero = (value: string | null | undefined) =>
  !value || compareDecimals(value, '0') === 0
/**
 * A whole part grouped in thousands: 1,250 or 1 250, with any kind of space except a line break.
 */
const inThousands = /^(-?[1-9]\d*(?:[, \u00a0\u2009\u202f]\d{3})+)(?=\.|$)/

/**
 * A figure without thousands separators and surrounding spaces, and with the hyphen as minus sign.
 * Any other comma or space is kept and makes the figure invalid: 12,5 may mean twelve and a half.
 */
export const ungrouped = (value: string) =>
  value
    .trim()
    .replace('−', '-')
    .replace(inThousands, (whole) => whole.replaceAll(/[^-\d]/g, ''))

/** Typed text ("1,250.50") as a plain decimal; undefined where it is not a number. */
export const typed = (value: string) => plainDecimal(ungrouped(value))
export { compareDecimals }
