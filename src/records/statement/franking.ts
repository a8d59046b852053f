import { plainDecimal, wholeUnits } from '../../platform/shape/decimal.ts'

/**
 * The credit for tax that a company has paid on franked amounts: of each, amount × rate ÷ (100 −
 * rate), half up in the decimals that the amounts have; then added up, so that a year's credit is
 * the sum of those that its distributions told. In whole numbers, which are exact.
 */
export function frankingCredit(amounts: readonly string[], percentage: string): string {
  const decimals = amounts[0]?.split('.')[1]?.length ?? 0
  const [points = '0', part = ''] = (plainDecimal(percentage) ?? '0').split('.')
  const rate = BigInt(points + part.padEnd(4, '0').slice(0, 4))
  const rest = 1_000_000n - rate
  const creditOf = (amount: string) =>
    (2n * wholeUnits(amount, decimals) * rate + rest) / (2n * rest)
  const credit = rest > 0n ? amounts.reduce((sum, amount) => sum + creditOf(amount), 0n) : 0n
  const digits = String(credit).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
