import sql, { join, raw } from 'sql-template-tag'
import { nameArray } from '../../ledger/biz-transaction/sql.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { lastThree } from '../../platform/sql/render.ts'
import { spaced } from '../statement/letter.ts'
import {
  currency,
  itsAccount,
  itsClass,
  itsDistribution,
  itsOwner,
  knownThen,
  refuseUnderWay,
  residualPaid,
  stageUnderWay,
  wanted,
} from '../statement/parts.ts'
import { aboutProduct, type Label, longDate } from './about.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

type Declared = {
  name: string | null
  class: string | null
  recordDate: string | null
  paymentDate: string | null
  perUnit: string | null
  status: string
  decimals: number
  components: string[]
  /** Whether residuals were paid out, for example to accounts that have been closed since. */
  paidResiduals: boolean
  underWay: string | null
}

async function readDeclared(snapshot: Snapshot, subject: Subject): Promise<Declared> {
  const { productID, corporateActionID } = subject
  const [row] = await snapshot.query<Declared>(sql`
    select d.name, concat_ws(' – ', i.security_code, i.name) as class,
      d.record_date as "recordDate", d.payment_date as "paymentDate",
      trim_scale(d.distribution_amount_per_unit) as "perUnit",
      ${raw(nameArray(lookups.DistributionStatus))}[d.distribution_status_id] as status,
      minor_units(i.currency_id) as decimals,
      array(select c.tax_component_name from distribution_component c
        where c.product_id = d.product_id and c.corporate_action_id = d.corporate_action_id
        order by c.ordinal) as components,
      exists (select 1 from residual_payment r where r.product_id = d.product_id
        and r.corporate_action_id = d.corporate_action_id and r.reversed_date is null)
        as "paidResiduals", ${stageUnderWay} as "underWay"
    from distribution d join investment i on i.investment_id = d.investment_id
    where d.product_id = ${productID} and d.corporate_action_id = ${corporateActionID}`)
  const declared = knownThen(row, 'distribution')
  refuseUnderWay(declared)
  return declared
}

const money = (key: string, title: string, width = 13): Column => ({
  key,
  title,
  kind: 'number',
  width,
  decimals: 2,
  total: 'currency',
})

const columnsOf = ({ components, paidResiduals }: Declared): Column[] => [
  { key: 'accountNumber', title: 'Account', kind: 'text', width: 10 },
  { key: 'name', title: 'Name', kind: 'text', width: 22 },
  { key: 'units', title: 'Units', kind: 'number', width: 13, decimals: 4, total: true },
  money('gross', 'Gross'),
  ...components.map((name, i) => money(`component${i + 1}`, spaced(name))),
  money('tax', 'Tax withheld', 11),
  money('drp', 'Reinvested', 12),
  { key: 'drpUnits', title: 'DRP units', kind: 'number', width: 11, decimals: 4, total: true },
  money('residual', 'Residual', 9),
  ...(paidResiduals ? [money('residualPaid', 'Residual paid', 9)] : []),
  money('cash', 'Cash'),
  { key: 'paidTo', title: 'Paid to', kind: 'text', width: 14 },
  { key: 'currency', title: 'Currency', kind: 'text', width: 8 },
]

/**
 * The amounts of each account. The payment of a distribution also pays out the residuals of
 * accounts that hold nothing any more: these accounts have no entitlement and get a line of their
 * own.
 */
const linesOf = ({ productID, corporateActionID }: Subject, { components }: Declared) => sql`
  select t.product_id, t.corporate_action_id, t.account_id, t.investment_id, t.units,
    t.gross_amount, t.component_amounts, t.tax_amount, t.drp_amount, t.drp_units, t.drp_residual,
    t.cash_amount, t.payee_bsb, coalesce(t.payee_account_number, t.payee_iban) as payee_number
  from entitlement t
  where t.product_id = ${productID} and t.corporate_action_id = ${corporateActionID}
  union all
  select r.product_id, r.corporate_action_id, r.account_id, r.investment_id, 0, 0,
    array_fill(0::numeric, array[${components.length}::int]), 0, 0, null, null, 0, r.payee_bsb,
    coalesce(r.payee_account_number, r.payee_iban)
  from residual_payment r
  where r.product_id = ${productID} and r.corporate_action_id = ${corporateActionID}
    and r.reversed_date is null and not exists (
      select 1 from entitlement x where x.product_id = ${productID}
        and x.corporate_action_id = ${corporateActionID} and x.account_id = r.account_id)`

/** Each account's amounts by component, and how each account was paid. */
export async function distributionSketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  const declared = await readDeclared(snapshot, subject)
  const { decimals } = declared
  const components = declared.components.map(
    (_, i) =>
      sql`round(t.component_amounts[${i + 1}], ${decimals}) as ${raw(`component${i + 1}`)},`,
  )
  return {
    title: 'Distribution',
    // The class comes from the distribution, even where the order names it.
    about: [
      ...(await aboutProduct(snapshot, { ...subject, investmentID: null })),
      ...aboutDistribution(declared),
    ],
    columns: columnsOf(declared),
    select: sql`
      select a.account_number as "accountNumber", e.name, round(t.units, i.unit_decimals) as units,
        round(t.gross_amount, ${decimals}) as gross,
        ${components.length > 0 ? join(components, ' ') : sql``}
        round(t.tax_amount, ${decimals}) as tax,
        round(t.drp_amount, ${decimals}) as drp,
        round(coalesce(t.drp_units, 0), coalesce(r.unit_decimals, i.unit_decimals)) as "drpUnits",
        round(coalesce(t.drp_residual - coalesce(o.amount, 0), 0), ${decimals}) as residual,
        round(coalesce(o.amount, 0), ${decimals}) as "residualPaid",
        round(t.cash_amount, ${decimals}) as cash,
        nullif(concat_ws(' ', t.payee_bsb, ${raw(lastThree('t.payee_number'))}), '') as "paidTo",
        ${currency} as currency
      from (${linesOf(subject, declared)}) t
      ${residualPaid}
      ${itsDistribution('t')} ${itsClass('t')} ${itsAccount('t')} ${itsOwner}
      left join lateral (
        select r.unit_decimals from investment r
        where r.investment_id = d.drp_investment_id offset 0) r on true
      where ${wanted(subject, 't')}`,
    order: sql`lower(e.name), a.account_id`,
  }
}

function aboutDistribution(declared: Declared): Label[] {
  const { name, class: of, recordDate, paymentDate, perUnit, status } = declared
  const known: [string, string | null][] = [
    ['Class', of],
    ['Distribution', name],
    ['Record date', recordDate && longDate(recordDate)],
    ['Payment date', paymentDate && longDate(paymentDate)],
    ['Amount per unit', perUnit],
    ['Status', status],
  ]
  return known.flatMap(([label, value]): Label[] => (value ? [[label, value]] : []))
}
