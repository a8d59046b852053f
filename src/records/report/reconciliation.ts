import sql, { join } from 'sql-template-tag'
import { reconciliationLines } from '../../money/reconciliation/lines.ts'
import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'
import { aboutProduct, inPeriod } from './about.ts'
import { currency } from './positions.ts'
import { forEver, type Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'of', title: 'Of', kind: 'text', width: 10 },
  { key: 'number', title: 'Number', kind: 'text', width: 6 },
  { key: 'name', title: 'Name or state', kind: 'text', width: 14 },
  { key: 'date', title: 'Date', kind: 'date', width: 9 },
  { key: 'item', title: 'Item', kind: 'text', width: 14 },
  { key: 'count', title: 'Count', kind: 'number', width: 7, decimals: 0 },
  { key: 'amount', title: 'Amount', kind: 'number', width: 12, decimals: 2 },
  { key: 'shouldBe', title: 'Compared with', kind: 'number', width: 12, decimals: 2 },
  { key: 'difference', title: 'Difference', kind: 'number', width: 9, decimals: 2 },
  { key: 'currency', title: 'Currency', kind: 'text', width: 7 },
]

/** The payment runs that pay any of the transactions t. */
const runsOf = (productID: number, which: Fragment) => sql`
  select m.payment_run_id from biz_transaction t
  join payment_item m on m.product_id = t.product_id
    and m.biz_transaction_id = t.biz_transaction_id
  where t.product_id = ${productID} and ${which}`

/**
 * The lines of a distribution at any date, where the order names one; else the lines of a period,
 * and of a class where the order names one.
 */
function wantedOf({ productID, investmentID, corporateActionID, fromDate, toDate }: Subject) {
  const of = (which: Fragment, runs: Fragment) => sql`case when l.of = 'Distribution' then ${which}
    else l.id in (${runsOf(productID, runs)}) end`
  if (corporateActionID)
    return [of(sql`l.id = ${corporateActionID}`, sql`t.corporate_action_id = ${corporateActionID}`)]
  const distributions = sql`
    select d.corporate_action_id from distribution d
    where d.product_id = ${productID} and d.investment_id = ${investmentID}`
  return [
    sql`l.date between ${fromDate ?? '-infinity'}::date and ${toDate}::date`,
    ...(investmentID
      ? [of(sql`l.id in (${distributions})`, sql`t.investment_id = ${investmentID}`)]
      : []),
  ]
}

/**
 * Each figure of distributions and payment runs beside the figure it must equal, as `verify`
 * checks.
 */
export const reconciliationSketch = async (
  snapshot: Snapshot,
  subject: Subject,
): Promise<Sketch> => {
  const { productID, corporateActionID, fromDate, toDate } = subject
  const isOfPeriod = !corporateActionID && (fromDate !== null || toDate !== forEver)
  return {
    title: 'Payment reconciliation',
    about: [...(await aboutProduct(snapshot, subject)), ...(isOfPeriod ? [inPeriod(subject)] : [])],
    columns,
    select: sql`
      select l.of, l.id::text as number, l.name, l.date, l.item, l.count, l.place,
        round(l.amount, i.decimals) as amount, round(l.should_be, i.decimals) as "shouldBe",
        round(l.amount - l.should_be, i.decimals) as difference, ${currency} as currency, l.id
      from (${reconciliationLines(productID)}) l
      cross join lateral (
        select l.currency_id, minor_units(l.currency_id) as decimals) i
      where ${join(wantedOf(subject), ' and ')}`,
    order: sql`of, id, place`,
  }
}
