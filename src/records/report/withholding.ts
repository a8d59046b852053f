import sql from 'sql-template-tag'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { currency, isPaid, itsClass, wanted } from '../statement/parts.ts'
import { aboutProduct, inPeriod } from './about.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'incomeKind', title: 'Kind of income', kind: 'text', width: 16 },
  { key: 'rule', title: 'Rule', kind: 'text', width: 10 },
  { key: 'country', title: 'Country', kind: 'text', width: 14 },
  { key: 'percentage', title: 'Rate', kind: 'number', width: 7, decimals: 2 },
  { key: 'accounts', title: 'Accounts', kind: 'number', width: 8, decimals: 0 },
  { key: 'base', title: 'Income', kind: 'number', width: 14, decimals: 2, total: 'currency' },
  { key: 'tax', title: 'Tax withheld', kind: 'number', width: 14, decimals: 2, total: 'currency' },
  { key: 'currency', title: 'Currency', kind: 'text', width: 7 },
]

/**
 * Tax withheld by kind of income, rule, country and rate: of one distribution, or of the
 * distributions paid in a period.
 */
export const withholdingSketch = async (snapshot: Snapshot, subject: Subject): Promise<Sketch> => {
  const { productID, corporateActionID, investmentID, fromDate, toDate } = subject
  const paidIn = sql`d.payment_date <= ${toDate}::date
    ${fromDate ? sql`and d.payment_date >= ${fromDate}::date` : sql``}`
  return {
    title: 'Withholding summary',
    about: [
      ...(await aboutProduct(snapshot, subject)),
      ...(corporateActionID ? [] : [inPeriod(subject)]),
    ],
    columns,
    select: sql`
      select w.income_kind as "incomeKind", w.rule, l.name as country,
        trim_scale(w.percentage) as percentage, count(distinct w.account_id)::int as accounts,
        round(sum(w.base_amount), minor_units(i.currency_id)) as base,
        round(sum(w.amount), minor_units(i.currency_id)) as tax, ${currency} as currency
      from withholding w
      join distribution d on d.product_id = w.product_id
        and d.corporate_action_id = w.corporate_action_id
        and ${isPaid}
      ${itsClass('d')}
      left join lookup l on l.category = 'Country' and w.country_code in (l.code, l.description)
      where w.product_id = ${productID} and ${wanted(subject, 'w')}
        and ${corporateActionID ? sql`d.corporate_action_id = ${corporateActionID}` : paidIn}
        ${investmentID ? sql`and d.investment_id = ${investmentID}` : sql``}
      group by w.income_kind, w.rule, l.name, w.percentage, i.currency_id`,
    order: sql`"incomeKind", rule, country nulls first, percentage, currency`,
  }
}
