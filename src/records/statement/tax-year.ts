import sql, { raw } from 'sql-template-tag'
import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'
import { financialYear, type Year } from './financial-year.ts'
import { type Franked, frankingCredit } from './franking.ts'
import type { Holding, StatementKind, StatementSubject } from './kind.ts'
import { grouped, type Letter, longDate, type Section, shortDate, spaced } from './letter.ts'
import {
  className,
  companyTax,
  currency,
  isPaid,
  itsClass,
  itsProduct,
  kindOfComponent,
  money,
  wanted,
} from './parts.ts'

type Shared = Year & { class: string | null }

type Data = {
  /** Each tuple: payment date, name, class, currency, gross, tax, reinvested, cash. */
  lines: [string, string, string, string, string, string, string, string][]
  /**
   * Each tuple: currency, gross, tax, reinvested, cash, and cash of posted distribution payments.
   */
  sums: [string, string, string, string, string, string][]
  /** Each tuple: currency, and reinvestment residuals paid out in the year. */
  paidOut: [string, string][]
  /**
   * Each tuple: component name, kind, currency, amount, tax withheld, and for each distribution its
   * amount and company tax percentage.
   */
  components: [string, string | null, string, string, string, Franked[]][]
}

async function shared(snapshot: Snapshot, { productID, investmentID, date }: StatementSubject) {
  const year = await financialYear(snapshot, productID, date)
  const [row] = await snapshot.query<{ class: string }>(sql`
    select ${className} as class from investment i where i.investment_id = ${investmentID}`)
  return { ...year, class: row?.class ?? null, day: year.to }
}

/** Entitlements t that were paid in the year, with their distribution d and its class i. */
const paidInYear = ({ from, to }: Shared) => sql`
  from entitlement t
  cross join lateral (
    select d.* from distribution d where d.product_id = t.product_id
      and d.corporate_action_id = t.corporate_action_id
      and ${isPaid} and d.payment_date between ${from} and ${to} offset 0) d
  ${itsClass('t')}`

/** A condition for rows t of the account x, and of the class where the order names one. */
const ofAccount = ({ productID, investmentID }: StatementSubject) => sql`
  t.product_id = ${productID} and t.account_id = x.account_id
  ${investmentID ? sql`and t.investment_id = ${investmentID}` : sql``}`

/** Reinvestment residuals that were paid out, for example to accounts that are closed. */
const paidOutIn = ({ from, to }: Shared, own: Fragment) => sql`
  select coalesce(json_agg(json_build_array(s.currency, s.amount) order by s.currency), '[]')
  from (
    select ${currency} as currency, ${raw(money('sum(t.amount)'))} as amount
    from residual_payment t ${itsClass('t')}
    where ${own} and t.reversed_date is null and t.payment_date between ${from} and ${to}
    group by i.currency_id) s`

const accounts = (subject: StatementSubject, year: Shared) => {
  const { productID } = subject
  const [paid, wantedOf] = [paidInYear(year), ofAccount(subject)]
  return sql`
    select x.account_id, json_build_object(
      'lines', (
        select json_agg(json_build_array(d.payment_date, coalesce(d.name, ''), ${className},
          ${currency}, ${raw(money('t.gross_amount'))}, ${raw(money('t.tax_amount'))},
          ${raw(money('t.drp_amount'))}, ${raw(money('t.cash_amount'))})
          order by d.payment_date, d.corporate_action_id)
        ${paid} where ${wantedOf}),
      'sums', (
        select json_agg(json_build_array(s.currency, s.gross, s.tax, s.drp, s.cash, s.posted)
          order by s.currency)
        from (
          select ${currency} as currency, ${raw(money('sum(t.gross_amount)'))} as gross,
            ${raw(money('sum(t.tax_amount)'))} as tax, ${raw(money('sum(t.drp_amount)'))} as drp,
            ${raw(money('sum(t.cash_amount)'))} as cash,
            ${raw(money('coalesce(sum(b.amount), 0)'))} as posted
          ${paid}
          left join biz_transaction b on b.product_id = t.product_id
            and b.account_id = t.account_id and b.investment_id = t.investment_id
            and b.biz_transaction_id = t.payment_transaction_id
            and b.biz_transaction_type_id in ${raw(idsOf('Distribution payment'))}
            and ${raw(counts('b'))}
          where ${wantedOf}
          group by i.currency_id) s),
      'paidOut', (${paidOutIn(year, wantedOf)}),
      'components', (
        select json_agg(json_build_array(s.name, s.kind, s.currency, s.amount, s.tax,
          s.amounts) order by s.currency, s.name, s.kind)
        from (
          select c.tax_component_name as name, ${kindOfComponent} as kind,
            ${currency} as currency, ${raw(money('sum(t.component_amounts[c.ordinal])'))} as amount,
            ${raw(money('coalesce(sum(w.amount), 0)'))} as tax,
            json_agg(json_build_array(${raw(money('t.component_amounts[c.ordinal]'))},
              ${companyTax})) as amounts
          ${paid}
          ${itsProduct('t')}
          cross join lateral (
            select c.* from distribution_component c where c.product_id = t.product_id
              and c.corporate_action_id = t.corporate_action_id offset 0) c
          left join lateral (
            select w.amount from withholding w where w.product_id = t.product_id
              and w.corporate_action_id = t.corporate_action_id
              and w.account_id = t.account_id and w.ordinal = c.ordinal offset 0) w on true
          where ${wantedOf}
          group by 1, 2, i.currency_id) s)) as data
    from (
      select a.account_id from account a
      where a.product_id = ${productID} and ${wanted(subject)}) x
    where exists (select 1 ${paid} where ${wantedOf})`
}

const componentsOf = ({ components }: Data): Section => ({
  heading: 'Components of the year',
  columns: [
    { title: 'Component', width: 40 },
    { title: '', width: 8 },
    { title: 'Amount', width: 18, isNumber: true },
    { title: 'Franking credit', width: 17, isNumber: true },
    { title: 'Tax withheld', width: 17, isNumber: true },
  ],
  rows: components.map(([name, kind, code, amount, tax, amounts]) => [
    spaced(name),
    code,
    grouped(amount),
    kind === 'FrankedDividend' ? grouped(frankingCredit(amounts)) : null,
    grouped(tax),
  ]),
})

const paymentsOf = ({ lines, sums }: Data): Section => ({
  heading: 'Distributions of the year',
  columns: [
    { title: 'Paid on', width: 13 },
    { title: 'Distribution', width: 27 },
    { title: '', width: 6 },
    { title: 'Gross', width: 15, isNumber: true },
    { title: 'Tax withheld', width: 13, isNumber: true },
    { title: 'Reinvested', width: 13, isNumber: true },
    { title: 'Cash', width: 15, isNumber: true },
  ],
  rows: [
    ...lines.map(([date, name, of, code, gross, tax, drp, cash]) => [
      shortDate(date),
      [of, name].filter(Boolean).join(' · '),
      code,
      ...[gross, tax, drp, cash].map(grouped),
    ]),
    ...sums.map(([code, gross, tax, drp, cash]) => [
      'Total',
      null,
      code,
      ...[gross, tax, drp, cash].map(grouped),
    ]),
  ],
  sums: sums.length,
})

/**
 * The cash of the distributions, beside the payments posted for them and the residuals paid out.
 */
function reconciled({ sums, paidOut }: Data): Section {
  const codes = [...new Set([...sums, ...paidOut].map(([code]) => code))].sort()
  const others = new Map(paidOut)
  const width = paidOut.length > 0 ? 30 : 45
  const figure = (title: string) => ({ title, width, isNumber: true })
  return {
    heading: 'Cash and payments',
    columns: [
      { title: '', width: 10 },
      figure('Gross less tax and reinvested'),
      figure('Paid to you in the year'),
      ...(paidOut.length > 0 ? [figure('Paid out of reinvestments')] : []),
    ],
    rows: codes.map((code) => {
      const [, , , , cash, posted] = sums.find(([of]) => of === code) ?? []
      const also = paidOut.length > 0 ? [grouped(others.get(code))] : []
      return [code, grouped(cash), grouped(posted), ...also]
    }),
  }
}

/** 2025–26, or 2025 where the financial year is the calendar year. */
const nameOf = ({ from, to }: Year) =>
  from.slice(0, 4) === to.slice(0, 4) ? to.slice(0, 4) : `${from.slice(0, 4)}–${to.slice(2, 4)}`

const letter = (year: Shared, { accountNumber, addressee, data }: Holding<Data>): Letter => ({
  title: `Annual tax statement ${nameOf(year)}`,
  addressee,
  references: [
    ['Account', accountNumber],
    ...(year.class ? [['Class', year.class] as const] : []),
    ['From', longDate(year.from)],
    ['To', longDate(year.to)],
  ],
  sections: [componentsOf(data), paymentsOf(data), reconciled(data)],
  notes: ['Keep this statement for your tax return.'],
})

export const annualTaxStatement: StatementKind<Shared, Data> = { shared, accounts, letter }
