import type { Chance } from './chance.ts'
import { addDays } from './days.ts'
import type { ClassPlan } from './plan.ts'

const week = 7

/** A price in ten-thousandths as a decimal: 10425 is 1.0425. */
export const priceOf = (tenThousandths: number) =>
  `${Math.floor(tenThousandths / 10_000)}.${String(tenThousandths % 10_000).padStart(4, '0')}`

/** Weekly prices: a random walk with a drift, which never falls below 85 % of the start price. */
export function pricesOf(chance: Chance, plan: ClassPlan, investmentID: number, days: Days) {
  const rows: { investmentID: number; priceDate: string; price: string }[] = []
  let now = plan.startPrice
  for (let day = days.from; day <= days.to; day = addDays(day, week)) {
    rows.push({ investmentID, priceDate: day, price: priceOf(now) })
    const move = chance.between(-plan.swing, plan.swing) + plan.drift
    now = Math.max(Math.floor(plan.startPrice * 0.85), now + Math.round((now * move) / 10_000))
  }
  return rows
}

export type Days = { from: string; to: string }
