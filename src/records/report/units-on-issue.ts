import sql, { raw } from 'sql-template-tag'
import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { counts } from '../../platform/lookup/counts.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { className } from '../statement/parts.ts'
import { aboutProduct, inPeriod } from './about.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const units = (key: string, title: string, total?: 'class'): Column => ({
  key,
  title,
  kind: 'number',
  width: 13,
  decimals: 4,
  ...(total && { total }),
})

const columns: Column[] = [
  { key: 'class', title: 'Class', kind: 'text', width: 9 },
  { key: 'date', title: 'Date', kind: 'date', width: 9 },
  units('opening', 'Opening'),
  units('issued', 'Issued', 'class'),
  units('redeemed', 'Redeemed', 'class'),
  units('transferred', 'Transferred', 'class'),
  units('adjusted', 'Adjusted', 'class'),
  units('closing', 'Closing'),
]

/** The columns by transaction type; a type that is not listed here is an adjustment. */
const ways = {
  issued: idsOf('Deposit', 'Allotment', 'DRP allotment'),
  redeemed: idsOf('Redemption'),
  transferred: idsOf('Transfer in', 'Transfer out', 'Conversion in', 'Conversion out'),
}
const named = Object.values(ways).join(', ').replaceAll(/[()]/g, '')
const sums = raw(
  [
    ...Object.entries(ways).map(([name, ids]) => [name, `in ${ids}`]),
    ['adjusted', `not in (${named})`],
  ]
    .map(
      ([name, test]) =>
        `coalesce(sum(b.quantity) filter (where b.biz_transaction_type_id ${test}), 0) as ${name}`,
    )
    .join(', '),
)

/**
 * The units of each class day by day: opening, movements, closing. Units that go out are negative,
 * so that each line adds up; transfers between accounts of a class cancel out.
 */
export const unitsOnIssueSketch = async (snapshot: Snapshot, subject: Subject): Promise<Sketch> => {
  const { productID, investmentID, toDate } = subject
  const fromDate = subject.fromDate ?? `${toDate.slice(0, 8)}01`
  const own = sql`b.product_id = ${productID} and ${raw(counts('b'))} and b.quantity <> 0
    ${investmentID ? sql`and b.investment_id = ${investmentID}` : sql``}`
  return {
    title: 'Units on issue',
    about: [...(await aboutProduct(snapshot, subject)), inPeriod({ ...subject, fromDate })],
    columns,
    select: sql`
      with moved as materialized (
        select b.investment_id, b.transaction_date as date, sum(b.quantity) as net, ${sums}
        from biz_transaction b
        where ${own} and b.transaction_date between ${fromDate}::date and ${toDate}::date
        group by b.investment_id, b.transaction_date),
      before as materialized (
        select b.investment_id, sum(b.quantity) as quantity from biz_transaction b
        where ${own} and b.transaction_date < ${fromDate}::date group by b.investment_id),
      daily as (
        select i.investment_id, i.unit_decimals, ${className} as class, d.date::date,
          coalesce(o.quantity, 0) + sum(coalesce(m.net, 0)) over (
            partition by i.investment_id order by d.date) as closing,
          coalesce(m.net, 0) as net, coalesce(m.issued, 0) as issued,
          coalesce(m.redeemed, 0) as redeemed, coalesce(m.transferred, 0) as transferred,
          coalesce(m.adjusted, 0) as adjusted
        from investment i
        cross join generate_series(${fromDate}::date, ${toDate}::date, interval '1 day') d (date)
        left join moved m on m.investment_id = i.investment_id and m.date = d.date
        left join before o on o.investment_id = i.investment_id
        where i.product_id = ${productID}
          ${investmentID ? sql`and i.investment_id = ${investmentID}` : sql``})
      select class, date, round(closing - net, unit_decimals) as opening,
        round(issued, unit_decimals) as issued, round(redeemed, unit_decimals) as redeemed,
        round(transferred, unit_decimals) as transferred,
        round(adjusted, unit_decimals) as adjusted, round(closing, unit_decimals) as closing,
        investment_id
      from daily`,
    order: sql`investment_id, date`,
    byClass: true,
  }
}
