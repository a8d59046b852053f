import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { lastThree } from '../../platform/sql/render.ts'
import { frankingCredit } from './franking.ts'
import type { Holding, StatementKind, StatementSubject } from './kind.ts'
import { grouped, type Letter, longDate, type Section, spaced } from './letter.ts'
import {
  className,
  companyTax,
  currency,
  itsClass,
  itsDistribution,
  itsProduct,
  kindOfComponent,
  knownThen,
  money,
  refuseUnderWay,
  residualPaid,
  stageUnderWay,
  wanted,
} from './parts.ts'

type Shared = {
  name: string | null
  class: string
  currency: string
  recordDate: string
  paymentDate: string
  /** The amount for each unit, or for each unit and day. */
  rate: string | null
  percentPerAnnum: string | null
  unitValue: string | null
  drpPrice: string | null
  drpClass: string | null
  drpDate: string | null
  companyTax: string
  isPaid: boolean
  withholds: boolean
  underWay: string | null
}

type Data = {
  units: string
  /** For a distribution of a period: the units held on each of its days, added up. */
  unitDays: string | null
  isPreCalculated: boolean
  gross: string
  tax: string
  drp: string
  cash: string
  /** Each tuple: name, kind, amount. */
  components: [string, string | null, string][]
  /** Each tuple: name, rule, base, percentage, amount. */
  withheld: [string, string, string, string, string][]
  residualBefore: string | null
  drpUnits: string | null
  drpCost: string | null
  drpResidual: string | null
  residualPaid: string | null
  payee: string | null
}

async function shared(snapshot: Snapshot, subject: StatementSubject) {
  const [row] = await snapshot.query<Shared>(sql`
    select d.name, ${className} as class, ${currency} as currency, d.record_date as "recordDate",
      d.payment_date as "paymentDate", trim_scale(coalesce(d.distribution_amount_per_unit,
        d.declared_rate, d.cents_per_unit_per_day * 0.01))::text as rate,
      trim_scale(d.pro_rata_percent_per_annum)::text as "percentPerAnnum",
      trim_scale(round(d.declared_unit_value, 8))::text as "unitValue",
      trim_scale(d.drp_price)::text as "drpPrice",
      coalesce(r.security_code, r.name) as "drpClass", d.drp_allotment_date as "drpDate",
      ${companyTax} as "companyTax",
      d.distribution_status_id >= ${lookups.DistributionStatus.Paid} as "isPaid",
      p.withholding as withholds, ${stageUnderWay} as "underWay"
    from distribution d join investment i on i.investment_id = d.investment_id
    join product p on p.product_id = d.product_id
    left join investment r on r.investment_id = d.drp_investment_id
    where d.product_id = ${subject.productID}
      and d.corporate_action_id = ${subject.corporateActionID}`)
  const declared = knownThen(row, 'distribution')
  refuseUnderWay(declared)
  return { ...declared, day: declared.paymentDate }
}

const payee = raw(`nullif(concat_ws(' ', t.payee_name, t.payee_bsb,
  ${lastThree('coalesce(t.payee_account_number, t.payee_iban)')}), '')`)

const accounts = (subject: StatementSubject) => sql`
  select t.account_id, json_build_object(
    'units', round(t.units, i.unit_decimals)::text, 'unitDays', trim_scale(t.unit_days)::text,
    'isPreCalculated', t.pre_calculated, 'gross', ${raw(money('t.gross_amount'))},
    'tax', ${raw(money('t.tax_amount'))}, 'drp', ${raw(money('t.drp_amount'))},
    'cash', ${raw(money('t.cash_amount'))},
    'components', (
      select json_agg(json_build_array(c.tax_component_name, ${kindOfComponent},
        ${raw(money('t.component_amounts[c.ordinal]'))}) order by c.ordinal)
      from distribution_component c where c.product_id = t.product_id
        and c.corporate_action_id = t.corporate_action_id),
    'withheld', (
      select coalesce(json_agg(json_build_array(c.tax_component_name, w.rule,
        ${raw(money('w.base_amount'))}, trim_scale(w.percentage)::text,
        ${raw(money('w.amount'))}) order by w.ordinal), '[]')
      from withholding w join distribution_component c on c.product_id = w.product_id
        and c.corporate_action_id = w.corporate_action_id and c.ordinal = w.ordinal
      where w.product_id = t.product_id and w.corporate_action_id = t.corporate_action_id
        and w.account_id = t.account_id and w.amount > 0),
    'residualBefore', ${raw(money('t.residual_before'))},
    'drpUnits', trim_scale(t.drp_units)::text, 'drpCost', ${raw(money('t.drp_cost'))},
    'drpResidual', ${raw(money('t.drp_residual - coalesce(o.amount, 0)'))},
    'residualPaid', ${raw(money('o.amount'))}, 'payee', ${payee}) as data
  from entitlement t
  ${residualPaid}
  ${itsDistribution('t')} ${itsClass('t')} ${itsProduct('t')}
  where t.product_id = ${subject.productID}
    and t.corporate_action_id = ${subject.corporateActionID} and ${wanted(subject, 't')}`

const rules: Record<string, string> = {
  NoTfn: 'no tax file number quoted',
  NonResident: 'non-resident',
  Override: 'as directed',
}

type Pair = readonly [string, string | null]

const pairs = (heading: string, rows: (Pair | false)[], sums = 0) => ({
  heading,
  columns: [
    { title: '', width: 70 },
    { title: '', width: 30, isNumber: true },
  ],
  rows: rows.filter((row) => row !== false),
  sums,
})

/**
 * The factors of the gross amount. A pre-calculated amount was worked out elsewhere and has none.
 */
function ratesOf(
  { rate, percentPerAnnum, unitValue }: Shared,
  { unitDays, isPreCalculated }: Data,
): Pair[] {
  if (isPreCalculated) return []
  const days: Pair[] = unitDays
    ? [['Units held on each day of the period, added up', grouped(unitDays)]]
    : []
  return rate
    ? [...days, [unitDays ? 'Amount per unit and day' : 'Amount per unit', grouped(rate)]]
    : [...days, ['Value of a unit', grouped(unitValue)], ['Rate per annum', `${percentPerAnnum}%`]]
}

/**
 * How the gross amount is split. Before the payment no tax is shown, since the payment withholds
 * it.
 */
const partsOf = ({ isPaid }: Shared, { tax, drp, cash }: Data): Pair[] =>
  isPaid
    ? [
        ['Less tax withheld', grouped(tax)],
        ['Less reinvested', grouped(drp)],
        ['Paid to you', grouped(cash)],
      ]
    : [
        ['To be reinvested', grouped(drp)],
        ['To be paid to you', grouped(cash)],
      ]

const notYetPaid = ({ withholds }: Shared) =>
  `This distribution is not paid yet.${
    withholds ? ' Tax that has to be withheld comes off when it is paid.' : ''
  }`

function componentsOf({ components }: Data, { currency: code, companyTax: rate }: Shared): Section {
  const credits = components.map(([, kind, amount]) =>
    kind === 'FrankedDividend' ? frankingCredit([[amount, rate]]) : null,
  )
  return {
    heading: 'Components',
    columns: [
      { title: 'Component', width: 50 },
      { title: `Amount (${code})`, width: 25, isNumber: true },
      { title: 'Franking credit', width: 25, isNumber: true },
    ],
    rows: components.map(([name, , amount], i) => [
      spaced(name),
      grouped(amount),
      grouped(credits[i]),
    ]),
  }
}

const withheldOf = ({ withheld }: Data): Section => ({
  heading: 'Tax withheld',
  columns: [
    { title: 'Of', width: 30 },
    { title: 'Reason', width: 26 },
    { title: 'Base', width: 16, isNumber: true },
    { title: 'Rate', width: 10, isNumber: true },
    { title: 'Tax', width: 18, isNumber: true },
  ],
  rows: withheld.map(([name, rule, base, rate, amount]) => [
    spaced(name),
    rules[rule] ?? rule,
    grouped(base),
    `${rate}%`,
    grouped(amount),
  ]),
})

const reinvestedOf = (data: Data, { drpPrice, drpClass }: Shared) =>
  pairs('Reinvestment', [
    ['Brought forward from earlier reinvestments', grouped(data.residualBefore)],
    ['Reinvested from this distribution', grouped(data.drp)],
    [`Units allotted${drpClass ? ` in ${drpClass}` : ''}`, grouped(data.drpUnits)],
    ['Price per unit', grouped(drpPrice)],
    ['Cost of the units allotted', grouped(data.drpCost)],
    data.residualPaid !== null && [
      'Paid to you, as the account is closed',
      grouped(data.residualPaid),
    ],
    ['Carried forward', grouped(data.drpResidual)],
  ])

function letter(of: Shared, { accountNumber, addressee, data }: Holding<Data>): Letter {
  const isReinvested = data.drpUnits !== null
  return {
    title: 'Distribution statement',
    addressee,
    references: [
      ['Account', accountNumber],
      ['Class', of.class],
      ...(of.name ? [['Distribution', of.name] as const] : []),
      ['Record date', longDate(of.recordDate)],
      ['Payment date', longDate(of.paymentDate)],
    ],
    sections: [
      pairs(
        `Your distribution (${of.currency})`,
        [
          ['Units held at the record date', grouped(data.units)],
          ...ratesOf(of, data),
          ['Gross distribution', grouped(data.gross)],
          ...partsOf(of, data),
        ],
        1,
      ),
      componentsOf(data, of),
      ...(data.withheld.length > 0 ? [withheldOf(data)] : []),
      ...(isReinvested ? [reinvestedOf(data, of)] : []),
      ...(data.payee && /[1-9]/.test(data.cash)
        ? [pairs('Payment', [['Paid to', data.payee]])]
        : []),
    ],
    notes: [
      ...(of.isPaid ? [] : [notYetPaid(of)]),
      ...(data.residualPaid && !isReinvested
        ? [`With it, ${data.residualPaid} left of earlier reinvestments was paid to you.`]
        : []),
    ],
  }
}

export const distributionStatement: StatementKind<Shared, Data> = { shared, accounts, letter }
