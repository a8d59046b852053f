import { plainDecimal } from '../../platform/shape/decimal.ts'

/**
 * The credit for tax that a company has paid on a franked amount: amount × rate ÷ (100 − rate), to
 * the cent, half up. In whole hundredths, which are exact.
 */
export function frankingCredit(amount: string, percentage: string): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  const cents = BigInt(whole + fraction.padEnd(2, '0').slice(0, 2))
  const [points = '0', part = ''] = (plainDecimal(percentage) ?? '0').split('.')
  const rate = BigInt(points + part.padEnd(4, '0').slice(0, 4))
  const rest = 1_000_000n - rate
  if (rest <= 0n) return '0.00'
  const credit = (2n * cents * rate + rest) / (2n * rest)
  const digits = credit.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
