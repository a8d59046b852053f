import sql, { empty } from 'sql-template-tag'
import { type Reconciled, reconciliationLines } from '../../money/reconciliation/lines.ts'
import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'
import { currency } from '../statement/parts.ts'
import { aboutProduct, inPeriod } from './about.ts'
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

const inPeriodOf = ({ fromDate, toDate }: Subject) =>
  sql`between ${fromDate ?? '-infinity'}::date and ${toDate}::date`

/**
 * The distributions d: the one that the order names, at any date, else those paid in its period, of
 * the class where it names one.
 */
function distributionsOf(subject: Subject): Fragment {
  const { investmentID, corporateActionID } = subject
  if (corporateActionID) return sql`d.corporate_action_id = ${corporateActionID}`
  const ofClass = investmentID ? sql`and d.investment_id = ${investmentID}` : empty
  return sql`d.payment_date ${inPeriodOf(subject)} ${ofClass}`
}

/**
 * The payment runs r: those that pay any of the distribution, else those of the period that pay any
 * of the class.
 */
function runsOf(subject: Subject): Fragment {
  const { productID, investmentID, corporateActionID } = subject
  const pays = (which: Fragment) => sql`r.payment_run_id in (
    select m.payment_run_id from biz_transaction t
    join payment_item m on m.product_id = t.product_id
      and m.biz_transaction_id = t.biz_transaction_id
    where t.product_id = ${productID} and ${which})`
  if (corporateActionID) return pays(sql`t.corporate_action_id = ${corporateActionID}`)
  const ofClass = investmentID ? sql`and ${pays(sql`t.investment_id = ${investmentID}`)}` : empty
  return sql`r.processing_date ${inPeriodOf(subject)} ${ofClass}`
}

async function reconciledBy(snapshot: Snapshot, subject: Subject): Promise<Reconciled> {
  const { productID } = subject
  const ids = async (select: Fragment) =>
    (await snapshot.query<{ id: number }>(select)).map(({ id }) => id)
  const distributions = await ids(sql`
    select d.corporate_action_id as id from distribution d
    where d.product_id = ${productID} and ${distributionsOf(subject)}`)
  const runs = await ids(sql`
    select r.payment_run_id as id from payment_run r
    where r.product_id = ${productID} and ${runsOf(subject)}`)
  return { productID, distributions, runs }
}

/**
 * Each figure of distributions and payment runs beside the figure it must equal, as `verify`
 * checks.
 */
export const reconciliationSketch = async (
  snapshot: Snapshot,
  subject: Subject,
): Promise<Sketch> => {
  const { corporateActionID, fromDate, toDate } = subject
  const isOfPeriod = !corporateActionID && (fromDate !== null || toDate !== forEver)
  const only = await reconciledBy(snapshot, subject)
  return {
    title: 'Payment reconciliation',
    about: [...(await aboutProduct(snapshot, subject)), ...(isOfPeriod ? [inPeriod(subject)] : [])],
    columns,
    select: sql`
      select l.of, l.id::text as number, l.name, l.date, l.item, l.count, l.place,
        round(l.amount, i.decimals) as amount, round(l.should_be, i.decimals) as "shouldBe",
        round(l.amount - l.should_be, i.decimals) as difference, ${currency} as currency, l.id
      from (${reconciliationLines(only)}) l
      cross join lateral (
        select l.currency_id, minor_units(l.currency_id) as decimals) i`,
    order: sql`of, id, place`,
  }
}
