import sql, { raw } from 'sql-template-tag'
import { priceOn, worthOf } from '../../catalogue/investment/price-on.ts'
import { counts } from '../../platform/lookup/counts.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import {
  className,
  currency,
  itsAccount,
  itsClass,
  knownThen,
  shownPrice,
  typeName,
  wanted,
} from '../statement/parts.ts'
import { aboutProduct, inPeriod, type Label, signs } from './about.ts'
import { addressOfEntity } from './register.ts'
import type { Subject } from './subject.ts'
import type { Chart, Column, Sketch } from './table.ts'
import { countedIn } from './transactions.ts'

const columns: Column[] = [
  { key: 'accountNumber', title: 'Account', kind: 'text', width: 9 },
  { key: 'class', title: 'Class', kind: 'text', width: 9 },
  { key: 'date', title: 'Date', kind: 'date', width: 9 },
  { key: 'description', title: 'Description', kind: 'text', width: 17 },
  { key: 'units', title: 'Units', kind: 'number', width: 13, decimals: 4 },
  { key: 'price', title: 'Price', kind: 'number', width: 9, decimals: 4 },
  { key: 'amount', title: 'Amount', kind: 'number', width: 13, decimals: 2 },
  { key: 'fee', title: 'Entry fee', kind: 'number', width: 9, decimals: 2 },
  { key: 'balance', title: 'Balance', kind: 'number', width: 13, decimals: 4 },
  { key: 'value', title: 'Value', kind: 'number', width: 13, decimals: 2, total: 'currency' },
  { key: 'currency', title: 'Currency', kind: 'text', width: 8 },
]

/** The holdings of the investor, in the class where the order names one. */
const held = (subject: Subject) => sql`
  select h.product_id, h.account_id, h.investment_id, a.account_number,
    ${className} as class, ${currency} as currency, i.unit_decimals,
    minor_units(i.currency_id) as decimals
  from holding h ${itsAccount('h')} ${itsClass('h')}
  where h.product_id = ${subject.productID} and ${wanted(subject, 'h')}
    ${subject.investmentID ? sql`and h.investment_id = ${subject.investmentID}` : sql``}`

/** The holdings that had units when the period began, or transactions within it. */
const heldIn = (subject: Subject, fromDate: string) => {
  const own = sql`b.product_id = o.product_id and b.account_id = o.account_id
    and b.investment_id = o.investment_id and ${raw(counts('b'))}`
  return sql`
    select o.* from (${held(subject)}) o
    where exists (select 1 from biz_transaction b
        where ${own} and b.transaction_date between ${fromDate} and ${subject.toDate})
      or (select b.closing_quantity from transaction_line b
        where ${own} and b.transaction_date < ${fromDate}
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1) > 0`
}

/** Joins the units of a holding o at the end of a day, and the price of that day. */
const stateAt = (day: ReturnType<typeof sql>) => sql`
  left join lateral (
    select b.closing_quantity as quantity, b.closing_amount as invested from transaction_line b
    where b.product_id = o.product_id and b.account_id = o.account_id
      and b.investment_id = o.investment_id and b.transaction_date <= ${day}
      and ${raw(counts('b'))}
    order by b.transaction_date desc, b.biz_transaction_id desc limit 1) s on true
  left join lateral (${priceOn('o.investment_id', day)}) v on true`

const worth = raw(`round(coalesce(${worthOf('s.quantity', 's.invested', 'o.decimals')}, 0),
  o.decimals)`)

/** For every holding: opening balance, transactions, and closing balance with its value. */
export async function statementSketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  const { toDate } = subject
  const first = await firstDay(snapshot, subject)
  const fromDate = subject.fromDate ?? first ?? toDate
  const period = { ...subject, fromDate }
  const before = sql`(${fromDate}::date - 1)`
  const head = sql`o.account_id as "accountID", o.investment_id as "investmentID",
    o.account_number as "accountNumber", o.class`
  const shownHere = heldIn(subject, fromDate)
  const lines = sql`
    select ${head}, 1 as part, ${fromDate}::date as date, 0::bigint as id,
      'Opening balance' as description, null::numeric as units, null::numeric as price,
      null::numeric as amount, null::numeric as fee,
      round(coalesce(s.quantity, 0), o.unit_decimals) as balance,
      null::numeric as value, o.currency
    from (${shownHere}) o ${stateAt(before)}
    union all
    select ${head}, 2, b.transaction_date, b.biz_transaction_id, ${typeName},
      case when b.quantity <> 0 then round(b.quantity, o.unit_decimals) end,
      ${shownPrice('b.investment_price')},
      round(b.amount, o.decimals),
      case when b.entry_fee_amount > 0 then round(b.entry_fee_amount, o.decimals) end,
      round(b.closing_quantity, o.unit_decimals), null, o.currency
    from (${shownHere}) o
    join transaction_line b on b.product_id = o.product_id and b.account_id = o.account_id
      and b.investment_id = o.investment_id
    where ${countedIn({ ...period, bizEntityID: null })}
    union all
    select ${head}, 3, ${toDate}::date, 0, 'Closing balance', null, ${shownPrice('v.price')},
      null, null,
      round(coalesce(s.quantity, 0), o.unit_decimals), ${worth}, o.currency
    from (${shownHere}) o ${stateAt(sql`${toDate}::date`)}`
  const chart = await chartOf(snapshot, subject, fromDate)
  return {
    title: 'Holding statement',
    about: [
      ...(await aboutHolder(snapshot, subject)),
      ...(await aboutProduct(snapshot, subject)),
      inPeriod(period),
      signs,
    ],
    columns,
    select: sql`select l.* from (${lines}) l`,
    order: sql`l."accountID", l."investmentID", l.part, l.date, l.id`,
    ...(chart && { chart }),
  }
}

async function firstDay(snapshot: Snapshot, subject: Subject): Promise<string | null> {
  const [row] = await snapshot.query<{ first: string | null }>(sql`
    select min(b.transaction_date) as first from (${held(subject)}) o
    join biz_transaction b on b.product_id = o.product_id and b.account_id = o.account_id
      and b.investment_id = o.investment_id
    where ${raw(counts('b'))} and b.transaction_date <= ${subject.toDate}`)
  return row!.first
}

async function aboutHolder(snapshot: Snapshot, { bizEntityID }: Subject): Promise<Label[]> {
  const [row] = await snapshot.query<{ name: string; address: string | null }>(sql`
    select e.name, (${addressOfEntity}) as address
    from biz_entity e where e.biz_entity_id = ${bizEntityID}`)
  const { name, address } = knownThen(row, 'investor')
  return [['Holder', name], ...(address ? [['Address', address] as const] : [])]
}

/** The most evenly spread points of the chart, and the most points for days with transactions. */
const mostPoints = 60
const mostDays = 100

/**
 * The value of all the investor's holdings in the report: at even steps from the first day of the
 * period, and on days with transactions, so that a deposit shows on its day and not before.
 */
async function chartOf(
  snapshot: Snapshot,
  subject: Subject,
  start: string,
): Promise<Chart | undefined> {
  const { toDate } = subject
  if (start >= toDate) return undefined
  const points = await snapshot.query<{ date: string; value: string; currency: string }>(sql`
    with days as (
      select distinct least(${start}::date + n * greatest(1,
        ceil((${toDate}::date - ${start}::date)::numeric / ${mostPoints - 1})::int),
        ${toDate}::date) as date
      from generate_series(0, ${mostPoints - 1}) n
      union
      (select distinct b.transaction_date from (${held(subject)}) o
      join biz_transaction b on b.product_id = o.product_id and b.account_id = o.account_id
        and b.investment_id = o.investment_id
      where ${raw(counts('b'))} and b.transaction_date between ${start} and ${toDate}
      order by 1 desc limit ${mostDays}))
    select d.date, sum(${worth}) as value, min(o.currency) as currency
    from days d cross join (${held(subject)}) o ${stateAt(sql`d.date`)}
    group by d.date having min(o.currency) = max(o.currency) order by d.date`)
  if (points.length < 2) return undefined
  return { title: `Value over time (${points[0]!.currency})`, points }
}
