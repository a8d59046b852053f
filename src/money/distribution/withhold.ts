import sql from 'sql-template-tag'
import { isExempt, usualKind } from '../../catalogue/product/income-kinds.ts'
import { type LockedSet, postSet } from '../../ledger/biz-transaction/post-set.ts'
import { standingOf } from '../../parties/tax-standing/sql.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { type Rate, ratesOn } from '../withholding-rate/rates.ts'
import { drpShare } from './entitlement.ts'
import { joinedOnce } from './once.ts'
import { inSpan, type Span } from './span.ts'
import type { Stored } from './sql.ts'

const type = lookups.BizTransactionType['Withholding tax']

/** The terms of withholding tax: the taxable components and the rates on the payment day. */
export type TaxTerms = { components: { ordinal: number; kind: string }[]; rates: Rate[] }

/** The income kind of each tax component, as far as it is known. */
export const kindsTold = ({ componentNames, componentKinds }: Stored): (string | null)[] =>
  componentNames.map((name, i) => componentKinds[i] ?? usualKind(name) ?? null)

/** Refuses a component given twice: tax is cut to whole dollars each time, and would be too low. */
function refuseTwice({ componentNames, statusID }: Stored) {
  const bare = componentNames.map((name) => name.trim().toLowerCase())
  const twice = componentNames.filter((_, i) => bare.indexOf(bare[i]!) < i)
  const isDeclared = statusID !== lookups.DistributionStatus.Configured
  const back = isDeclared
    ? ' The declaration is taken back first (POST /Distribution/Reverse).'
    : ''
  if (twice.length > 0)
    throw conflict(
      'tax_components',
      `The tax component ${twice[0]} is there twice, and tax is rounded for each: give it once, ` +
        `with its percentages together.${back}`,
      'taxComponents',
    )
}

/**
 * The income kinds of the tax components of a product that withholds tax. Refuses a component whose
 * kind is unknown or that is given twice. Payment checks this again, because a product may begin to
 * withhold after the declaration.
 */
export function kindsOf(stored: Stored): string[] {
  refuseTwice(stored)
  const kinds = kindsTold(stored)
  const unknown = stored.componentNames.filter((_, i) => kinds[i] === null)
  if (unknown.length > 0)
    throw conflict(
      'no_income_kind',
      `What is ${unknown.join(', ')} for tax? The product withholds tax: name the incomeKind of ` +
        'each tax component in taxComponentKinds of PUT /Product.',
      'taxComponents',
    )
  return kinds.map(String)
}

/** The terms of withholding on the payment day; undefined if the product withholds no tax. */
export async function taxTermsOf(handle: Sql, stored: Stored): Promise<TaxTerms | undefined> {
  if (!stored.withholding) return undefined
  const components = kindsOf(stored)
    .map((kind, i) => ({ ordinal: i + 1, kind }))
    .filter(({ kind }) => !isExempt(kind))
  const kinds = [...new Set(components.map(({ kind }) => kind))]
  const rates = await ratesOn(handle, stored.paymentDate!, kinds)
  const missing = kinds.flatMap((kind) =>
    ['NoTfn', 'NonResident']
      .filter((rule) => !rates.some((r) => r.rule === rule && r.kind === kind && !r.country))
      .map((rule) => `${rule} ${kind}`),
  )
  if (missing.length > 0)
    throw conflict(
      'no_withholding_rate',
      `There is no rate of withholding tax on ${stored.paymentDate} for ${missing.join(', ')}: ` +
        'add it with POST /WithholdingRate.',
    )
  return { components, rates }
}

/**
 * The rate for each standing and component; of several countries, the one with the highest rate
 * applies. An unknown country (null) has the general rate for countries without their own.
 */
const bestRates = sql`
  select k.rule, k.country_codes, c.ordinal, b.percentage, b.rounding, b.country
  from (select distinct rule, country_codes from standing where rule <> 'Override') k
  cross join component c
  cross join lateral (
    select r.percentage, r.rounding, n.country
    from unnest(case k.rule when 'NonResident' then k.country_codes
      else array[null::text] end) n (country)
    cross join lateral (
      select t.percentage, t.rounding from rate t
      where t.rule = k.rule and t.kind = c.kind
        and (t.country = n.country or t.country is null)
      order by t.country nulls last limit 1) r
    order by r.percentage desc, n.country limit 1) b`

/**
 * The tax withheld from entitlements (rows with account_id and component_amounts): one row for each
 * taxable component of an account to which a rule applies. Rates are looked up once per distinct
 * standing, of which there are few. Amounts and standings are combined by grouping: new
 * entitlements have no statistics yet, so a join would compare each row with each other.
 */
export const withheldOf = (
  stored: Stored,
  terms: TaxTerms,
  rows: Fragment,
  accounts: Fragment = sql`select account_id from given`,
): Fragment => sql`
  with given as materialized (${rows}),
  standing as materialized (
    select s.* from (${standingOf(accounts, sql`${stored.paymentDate}::date`)}) s
    where s.rule <> 'None'),
  component as materialized (
    select * from ${recordset('c', terms.components, { ordinal: 'int', kind: 'text' })}),
  rate as materialized (select * from ${recordset('r', terms.rates, rateColumns)}),
  best as materialized (${bestRates}),
  taxed as (
    select m.account_id, max(m.component_amounts) as component_amounts, max(m.rule) as rule,
      max(m.country_codes) as country_codes, max(m.override_percentage) as override_percentage
    from (
      select account_id, component_amounts, null as rule, null::varchar[] as country_codes,
        null::numeric as override_percentage
      from given
      union all
      select account_id, null, rule, country_codes, override_percentage from standing) m
    group by m.account_id having max(m.rule) is not null)
  select ${stored.productID}::int as product_id, ${stored.id}::int as corporate_action_id,
    s.account_id, c.ordinal, c.kind as income_kind, s.rule, b.country as country_code,
    u.base as base_amount, p.percentage, coalesce(b.rounding, 'Cent') as rounding,
    case when b.rounding = 'WholeDollar' then trunc(u.base * p.percentage * 0.01)
      else round(u.base * p.percentage * 0.01, ${stored.decimals}::int) end as amount
  from taxed s
  cross join lateral unnest(s.component_amounts) with ordinality u (base, ordinal)
  join component c on c.ordinal = u.ordinal
  left join best b on b.rule = s.rule and b.country_codes = s.country_codes
    and b.ordinal = c.ordinal
  cross join lateral (
    select coalesce(s.override_percentage, b.percentage) as percentage offset 0) p
  where u.base > 0`

const rateColumns = {
  rule: 'text',
  kind: 'text',
  country: 'text',
  percentage: 'numeric',
  rounding: 'text',
} as const

/**
 * The DRP amount when tax is withheld: the chosen share of the net amount. An entitlement from
 * before choices were stored with it is divided in the proportion of its declaration.
 */
export const drpOfNet = (decimals: number): Fragment => sql`
  case when e.drp_type_id is not null
    then ${drpShare('(e.gross_amount - w.tax)', { choice: 'e', units: 'e' }, decimals)}
    else coalesce(round(round((e.gross_amount - w.tax) * e.drp_amount, 40)
      / nullif(e.gross_amount, 0), ${decimals}::int), 0) end`

/** Withholds the tax of a span; the remaining amounts are paid and reinvested. */
export async function withhold(tx: Tx, stored: Stored, terms: TaxTerms, span: Span) {
  const own = inSpan(stored, 'e', span)
  const rows = sql`select e.account_id, e.component_amounts from entitlement e where ${own}`
  const accounts = sql`select account_id from unnest(${await accountsOf(tx, own)}::int[])
    x (account_id)`
  await tx.query(sql`
    insert into withholding (product_id, corporate_action_id, account_id, ordinal, income_kind,
      rule, country_code, base_amount, percentage, rounding, amount)
    ${withheldOf(stored, terms, rows, accounts)}`)
  const drp = drpOfNet(stored.decimals)
  await joinedOnce(tx, () =>
    tx.query(sql`
    update entitlement e set tax_amount = w.tax, declared_drp_amount = e.drp_amount,
      drp_amount = ${drp}, cash_amount = e.gross_amount - w.tax - ${drp}
    from (
      select w.account_id, sum(w.amount) as tax from withholding w
      where ${inSpan(stored, 'w', span)}
      group by w.account_id having sum(w.amount) > 0) w
    where ${own} and e.account_id = w.account_id`),
  )
}

/**
 * The accounts as an array. The planner knows the length of an array but not the number of new
 * rows, and so can choose joins for the parties of many accounts and single look-ups for few.
 */
async function accountsOf(tx: Tx, own: Fragment): Promise<string> {
  const [row] = await tx.query<{ accounts: string | null }>(sql`
    select array_agg(e.account_id)::text as accounts from entitlement e where ${own}`)
  return row?.accounts ?? '{}'
}

/** Posts a transaction for each taxed account. It is for information: no closing figures change. */
export async function postTax(tx: Tx, stored: Stored, span: Span, locked: LockedSet) {
  const { productID, paymentDate: date } = stored
  const own = sql`${inSpan(stored, 'e', span)} and e.tax_amount > 0`
  await joinedOnce(tx, () =>
    tx.query(sql`
    with numbered as materialized (
      select t.account_id, nextval('biz_transaction_biz_transaction_id_seq') as id
      from (select e.account_id from entitlement e where ${own}) t)
    update entitlement e set tax_transaction_id = n.id
    from numbered n where ${inSpan(stored, 'e', span)} and e.account_id = n.account_id`),
  )
  await postSet(tx, productID, locked, {
    date: date!,
    postings: sql`
      select e.tax_transaction_id as id, null::bigint as parent_id, ${type}::smallint as type_id,
        e.account_id, e.investment_id, ${date}::date as transaction_date,
        null::numeric as investment_price, -e.tax_amount as amount, 0::numeric as quantity,
        0::numeric as entry_fee_amount, null::text as external_id, null::text as comment,
        e.corporate_action_id, null::bigint as biz_event_id
      from entitlement e where ${own}`,
  })
}

/** Undoes the withholding of a payment: entitlements have the amounts of the declaration again. */
export async function giveBack(tx: Tx, stored: Stored, span: Span) {
  const kept = sql`${inSpan(stored, 't', span)}`
  await keepLedgerRows(tx, 'withholding', kept)
  await tx.query(sql`
    delete from withholding w
    where ${inSpan(stored, 'w', span)}`)
  await tx.query(sql`
    update entitlement e set tax_amount = 0, tax_transaction_id = null,
      drp_amount = e.declared_drp_amount, declared_drp_amount = null,
      cash_amount = e.gross_amount - e.declared_drp_amount
    where ${inSpan(stored, 'e', span)}
      and e.declared_drp_amount is not null`)
}
