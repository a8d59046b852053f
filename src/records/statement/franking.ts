import { plainDecimal, wholeUnits } from '../../platform/shape/decimal.ts'

/** A franked amount, and the percentage of company tax that its credit is worked out with. */
export type Franked = readonly [amount: string, percentage: string]

/**
 * The credit for the tax that a company paid on franked amounts. For each amount it is amount ×
 * rate ÷ (100 − rate), rounded half up to the decimals of the amount, and then added up, so that
 * the credit of a year is the sum of the credits on its distribution statements. Whole numbers
 * (bigint) keep the arithmetic exact.
 */
export function frankingCredit(franked: readonly Franked[]): string {
  const decimals = franked[0]?.[0].split('.')[1]?.length ?? 0
  const credit = franked.reduce((sum, each) => sum + creditOf(each, decimals), 0n)
  const digits = String(credit).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

function creditOf([amount, percentage]: Franked, decimals: number): bigint {
  const [points = '0', part = ''] = (plainDecimal(percentage) ?? '0').split('.')
  const rate = BigInt(points + part)
  const rest = 100n * 10n ** BigInt(part.length) - rate
  return rest > 0n ? (2n * wholeUnits(amount, decimals) * rate + rest) / (2n * rest) : 0n
}
