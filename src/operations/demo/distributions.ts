import { lookups } from '../../platform/lookup/lookups.ts'
import { addDays, quarterEnds } from './days.ts'
import type { Perform } from './perform.ts'
import type { ProductPlan } from './plan.ts'
import { type Days, priceOf } from './prices.ts'

const { DistributionPeriod: periods } = lookups

type Names = { productID: number; investmentID: number; securityCode: string }

/** The record dates of a product's distributions, oldest first. */
export const recordDates = (plan: ProductPlan, days: Days) =>
  quarterEnds(addDays(days.from, 60), days.to).filter(
    (end) => plan.everyQuarters === 1 || /-(06|12)-/.test(end),
  )

/** Distributions are paid two weeks after they are on record. */
export const paidOn = (recordDate: string) => addDays(recordDate, 14)

/**
 * Runs the distributions of a class, oldest first, through all stages except the last one, which is
 * only configured.
 */
export async function distribute(perform: Perform, plan: ProductPlan, names: Names, days: Days) {
  const ends = recordDates(plan, days)
  for (const [i, recordDate] of ends.entries()) {
    const last = i === ends.length - 1
    await run(perform, configuration(plan, names, recordDate), last)
  }
}

function configuration(plan: ProductPlan, names: Names, recordDate: string) {
  const { productID, investmentID, securityCode } = names
  return {
    productID,
    investmentID,
    externalCorporateActionId: `${securityCode}-${recordDate}`,
    name: `${quarterName(recordDate)} distribution`,
    recordDate,
    accrualDate: recordDate,
    paymentDate: paidOn(recordDate),
    distributionAmountPerUnit: plan.rate,
    distributionTermID: lookups.DistributionTerm.Income,
    distributionPeriodID: plan.everyQuarters === 1 ? periods.Quarterly : periods['Half-yearly'],
    drpIndicatorID: lookups.DRPIndicator.Offered,
    drpInvestmentID: investmentID,
    drpPrice: drpPrice(plan),
    drpAllotmentDate: paidOn(recordDate),
    taxComponents: plan.components,
  }
}

/** The start price of the product's first class, so that figures are easy to follow. */
const drpPrice = ({ classes: [first] }: ProductPlan) => priceOf(first?.startPrice ?? 10_000)

const quarterName = (recordDate: string) => {
  const [year, month] = recordDate.split('-')
  const names: Record<string, string> = { '03': 'March', '06': 'June', '09': 'September' }
  return `${names[month ?? ''] ?? 'December'} ${year}`
}

async function run(perform: Perform, body: { productID: number }, last: boolean) {
  const [made] = await perform.do('POST /Distribution', body)
  const key = { productID: body.productID, corporateActionID: made?.corporateActionID }
  if (last) return
  await perform.do('POST /Distribution/Declare', key)
  await perform.do('POST /Distribution/Payment', key)
  await perform.do('POST /Distribution/DrpAllotment', key)
}
