import type { Chance } from './chance.ts'
import { addDays, daysBetween } from './days.ts'
import type { Days } from './prices.ts'

export type Postings = {
  deposits: object[]
  redemptions: object[]
  pending: { deposits: object[]; redemptions: object[] }
}

type Holder = { accountID: number; productID: number; investmentID: number }

/** The history of one account over the years: deposits, some redemptions, and pending notices. */
export function historyOf(chance: Chance, holder: Holder, number: number, days: Days): Postings {
  const length = daysBetween(days.from, days.to)
  // Most investors joined in the first two years.
  const start = addDays(days.from, 1 + Math.floor((chance.below(length) * chance.below(100)) / 130))
  const first = 1000 * chance.between(5, 250)
  const deposits = [posting(holder, `D-${number}-1`, start, first)]
  for (let i = 2; chance.percent(38) && i <= 4; i++) {
    const date = later(chance, start, days.to)
    deposits.push(posting(holder, `D-${number}-${i}`, date, 500 * chance.between(2, 60)))
  }
  const out = chance.percent(24)
    ? [posting(holder, `R-${number}`, later(chance, start, days.to), Math.floor(first * 0.3))]
    : []
  const notice = (name: string, amount: number) =>
    posting(holder, `N-${name}-${number}`, addDays(days.to, -chance.below(9)), amount)
  return {
    deposits,
    redemptions: out,
    pending: {
      deposits: chance.percent(2) ? [notice('D', 500 * chance.between(4, 80))] : [],
      redemptions: chance.percent(1) ? [notice('R', Math.floor(first * 0.1))] : [],
    },
  }
}

const posting = (holder: Holder, id: string, transactionDate: string, dollars: number) => ({
  ...holder,
  externalBizTransactionId: id,
  transactionDate,
  amount: `${dollars}.00`,
})

/** A random day after `from` and before `to`. */
const later = (chance: Chance, from: string, to: string) =>
  addDays(from, 1 + chance.below(Math.max(1, daysBetween(from, to) - 1)))
