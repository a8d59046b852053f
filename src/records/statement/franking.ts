import { plainDecimal, wholeUnits } from '../../platform/shape/decimal.ts'

/** An amount, and the rate of company tax that it carries a credit for. */
export type Franked = readonly [amount: string, percentage: string]

/**
 * The credit for tax that a company has paid on franked amounts: of each, amount × rate ÷ (100 −
 * rate), half up in the decimals that the amounts have; then added up, so that a year's credit is
 * the sum of those that its distributions told. In whole numbers, which are exact.
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
