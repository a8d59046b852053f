import sql, { raw } from 'sql-template-tag'
import { priceOn, worthOf } from '../../catalogue/investment/price-on.ts'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import type { Holding, StatementKind, StatementSubject } from './kind.ts'
import { grouped, type Letter, longDate, type Section, shortDate } from './letter.ts'
import { className, currency, itsClass, money, shownPrice, typeName, wanted } from './parts.ts'

/** Transaction id, date, type, units, price, amount, entry fee, units afterwards. */
type Line = [string, string, string, string | null, string | null, string, string | null, string]

const lineOf = sql`json_build_array(b.biz_transaction_id::text, b.transaction_date, ${typeName},
  case when b.quantity <> 0 then round(b.quantity, i.unit_decimals)::text end,
  ${shownPrice('b.investment_price')}::text, ${raw(money('b.amount'))},
  case when b.entry_fee_amount > 0 then ${raw(money('b.entry_fee_amount'))} end,
  round(b.closing_quantity, i.unit_decimals)::text)`

/**
 * A condition for the transactions b of a holding h in the period; rolled-back ones do not count.
 */
const inPeriod = ({ toDate }: StatementSubject, fromDate: string | null): Fragment => sql`
  b.product_id = h.product_id and b.account_id = h.account_id
  and b.investment_id = h.investment_id and ${raw(counts('b'))}
  and b.transaction_date <= ${toDate}::date
  and b.transaction_date >= ${fromDate ?? '-infinity'}::date`

const stateAt = (day: Fragment) => sql`(
  select round(b.closing_quantity, i.unit_decimals) from transaction_line b
  where b.product_id = h.product_id and b.account_id = h.account_id
    and b.investment_id = h.investment_id and ${raw(counts('b'))} and b.transaction_date <= ${day}
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1)`

const ofClass = ({ investmentID }: StatementSubject) =>
  investmentID ? sql`h.investment_id = ${investmentID}` : sql`true`

const heldBy = (subject: StatementSubject) => sql`
  from holding h ${itsClass('h')}
  where h.product_id = ${subject.productID} and h.account_id = a.account_id
    and ${ofClass(subject)}`

const accountsOf = (subject: StatementSubject) => sql`
  from account a where a.product_id = ${subject.productID} and ${wanted(subject)}`

const tableOf = (heading: string, rows: (string | null)[][], sums = 0): Section => ({
  heading,
  columns: [
    { title: 'Date', width: 12 },
    { title: 'Transaction', width: 24 },
    { title: 'Number', width: 9 },
    { title: 'Units', width: 14, isNumber: true },
    { title: 'Price', width: 9, isNumber: true },
    { title: 'Amount', width: 13, isNumber: true },
    { title: 'Entry fee', width: 8, isNumber: true },
    { title: 'Balance', width: 14, isNumber: true },
  ],
  rows,
  sums,
})

const shownLine = ([number, date, type, units, at, amount, fee, after]: Line) => [
  shortDate(date),
  type,
  number,
  ...[units, at, amount, fee, after].map(grouped),
]

const periodOf = ({ fromDate, toDate }: Period): [string, string][] => [
  ...(fromDate ? ([['From', longDate(fromDate)]] as [string, string][]) : []),
  ['To', longDate(toDate)],
]
type Period = { fromDate: string | null; toDate: string }
const shared = async (_snapshot: unknown, { fromDate, toDate }: StatementSubject) => ({
  fromDate,
  toDate,
  day: toDate,
})

/** Each tuple: class, currency, lines. */
type Confirmed = [string, string, Line[]][]

export const transactionConfirmation: StatementKind<Period, Confirmed> = {
  shared,
  accounts: (subject) => sql`
    select x.account_id, x.data from (
      select a.account_id, (
        select json_agg(json_build_array(${className}, ${currency}, (
          select json_agg(${lineOf} order by b.transaction_date, b.biz_transaction_id)
          from transaction_line b where ${inPeriod(subject, subject.fromDate)}))
          order by h.investment_id)
        ${heldBy(subject)} and exists (
          select 1 from biz_transaction b where ${inPeriod(subject, subject.fromDate)})) as data
      ${accountsOf(subject)}) x
    where x.data is not null`,
  letter: (period, { accountNumber, addressee, data }: Holding<Confirmed>): Letter => ({
    title: 'Transaction confirmation',
    addressee,
    references: [['Account', accountNumber], ...periodOf(period)],
    sections: data.map(([of, code, lines]) => tableOf(`${of} (${code})`, lines.map(shownLine))),
    notes: ['Units and money that went out have a minus. Tell us at once if something is wrong.'],
  }),
}

/** Each tuple: class, currency, opening units, lines, closing units, price, value. */
type Held = [
  string,
  string,
  string | null,
  Line[] | null,
  string | null,
  string | null,
  string | null,
][]

const worth = (day: Fragment) => sql`(
  select ${raw(money(worthOf('b.closing_quantity', 'b.closing_amount')))}
  from transaction_line b
  where b.product_id = h.product_id and b.account_id = h.account_id
    and b.investment_id = h.investment_id and ${raw(counts('b'))} and b.transaction_date <= ${day}
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1)`

export const holdingStatement: StatementKind<Period, Held> = {
  shared,
  accounts: (subject) => {
    const end = sql`${subject.toDate}::date`
    const before = subject.fromDate
      ? stateAt(sql`${subject.fromDate}::date - 1`)
      : sql`null::numeric`
    return sql`
      select x.account_id, x.data from (
        select a.account_id, (
          select json_agg(json_build_array(q.class, q.currency, q.opening::text, q.lines,
            q.closing::text, q.price, q.value) order by q.investment_id)
          from (
            select h.investment_id, ${className} as class, ${currency} as currency,
              ${before} as opening, (
                select json_agg(${lineOf} order by b.transaction_date, b.biz_transaction_id)
                from transaction_line b where ${inPeriod(subject, subject.fromDate)}) as lines,
              ${stateAt(end)} as closing, ${shownPrice('v.price')}::text as price,
              ${worth(end)} as value
            from holding h ${itsClass('h')}
            left join lateral (${priceOn('i.investment_id', end)}) v on true
            where h.product_id = ${subject.productID} and h.account_id = a.account_id
              and ${ofClass(subject)}
          ) q
          where q.lines is not null or q.opening > 0) as data
        ${accountsOf(subject)}) x
      where x.data is not null`
  },
  letter: (period, { accountNumber, addressee, data }: Holding<Held>): Letter => ({
    title: 'Holding statement',
    addressee,
    references: [['Account', accountNumber], ...periodOf(period)],
    sections: data.map(([of, code, opening, lines, closing, at, value]) =>
      tableOf(
        `${of} (${code})`,
        [
          ['', 'Opening balance', null, null, null, null, null, grouped(opening) ?? '0'],
          ...(lines ?? []).map(shownLine),
          [
            shortDate(period.toDate),
            'Closing balance, value',
            null,
            null,
            grouped(at),
            grouped(value),
            null,
            grouped(closing) ?? '0',
          ],
        ],
        1,
      ),
    ),
    notes: ['What goes out has a minus; a distribution paid moves no units.'],
  }),
}
