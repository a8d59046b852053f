import { plainDecimal } from '../../src/platform/shape/decimal.ts'

/** Decimals as whole numbers of 10^-18, so that the tests calculate without rounding errors. */
const places = 18
const one = 10n ** BigInt(places)

const halfAway = (numerator: bigint, denominator: bigint): bigint => {
  const negative = numerator < 0n !== denominator < 0n
  const [n, d] = [numerator, denominator].map((x) => (x < 0n ? -x : x)) as [bigint, bigint]
  const rounded = (2n * n + d) / (2n * d)
  return negative ? -rounded : rounded
}
const step = (decimals: number) => 10n ** BigInt(places - decimals)

/** Reads 12.5, "12.5", or a number that kept its digits as written. */
export function dec(value: unknown): bigint {
  const plain = plainDecimal(value)
  if (plain === undefined) throw new Error(`Not a decimal: ${value}`)
  const [whole = '0', fraction = ''] = plain.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(places, '0'))
  return plain.startsWith('-') ? -units : units
}

/** Writes a decimal as answers do, without trailing zeros. */
export function shown(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -places)}${fraction && `.${fraction}`}`
}

/** These functions all round half away from zero. */
export const round = (a: bigint, decimals: number) => halfAway(a, step(decimals)) * step(decimals)
export const times = (a: bigint, b: bigint, decimals: number) =>
  halfAway(a * b, one * step(decimals)) * step(decimals)
export const over = (a: bigint, b: bigint, decimals: number) =>
  halfAway(a * 10n ** BigInt(decimals), b) * step(decimals)
/** a × b ÷ c, rounded once. */
export const timesOver = (a: bigint, b: bigint, c: bigint, decimals: number) =>
  halfAway(a * b, c * step(decimals)) * step(decimals)
/** a × percent ÷ 100 × (1 − discount ÷ 100), rounded once. */
export const percentOf = (a: bigint, percent: bigint, discount: bigint, decimals: number) =>
  halfAway(a * percent * (100n * one - discount), 10_000n * one * one * step(decimals)) *
  step(decimals)
