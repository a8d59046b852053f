import sql, { join, raw } from 'sql-template-tag'
import { holdPeriods } from '../../catalogue/product/period.ts'
import { productParameter, productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct, ledgerScope } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import { isLocked } from '../../platform/sql/away.ts'
import { conditions, related } from '../../platform/sql/filters.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identify, namesAny, noSuch, type Reference } from '../../platform/sql/identify.ts'
import { page, pageBy, renderPage } from '../../platform/sql/paging.ts'
import {
  type Answer,
  columns,
  lastThree,
  render,
  renderOne,
  utc,
} from '../../platform/sql/render.ts'
import {
  accountFilters,
  Distribution,
  type DistributionQuery,
  distributionFilters,
  distributionInvestmentFilters,
  distributionParameter,
  distributionReference,
  EntitledAccount,
  type EntitledQuery,
  entitledAccountFilters,
  entitledDistributionFilters,
} from './schema.ts'

const components = `(
  select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
    'percentage', trim_scale(c.percentage)) order by c.ordinal), '[]')
  from distribution_component c
  where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id)`

/** The progress of stage g, counted in accounts; an account is either done or not done. */
const progress = `json_build_object('stage', g.stage, 'progressPercent',
  least(99, 100 * (g.phase::bigint * g.account_count + g.accounts_done)
    / greatest(1, g.phases::bigint * g.account_count)),
  'accountCount', g.account_count, 'startedDate', ${utc('g.started_date')},
  'errorMessage', g.error_message)`

const distributionColumns = columns(Distribution, 't', {
  externalProductId: 'p.external_product_id',
  externalInvestmentId: 'i.external_investment_id',
  securityCode: 'i.security_code',
  drpExternalInvestmentId: 'r.external_investment_id',
  drpSecurityCode: 'r.security_code',
  taxComponents: components,
  stageProgress: `case when g.stage is not null then ${progress} end`,
})

/** Distributions as the API shows them, from a selection of rows called t. */
const selectDistributions = (selection: Fragment) => sql`
  select ${distributionColumns} from (${selection}) t
  join product p on p.product_id = t.product_id
  join investment i on i.investment_id = t.investment_id
  left join investment r on r.investment_id = t.drp_investment_id
  left join distribution_stage g on g.product_id = t.product_id
    and g.corporate_action_id = t.corporate_action_id
  order by t.corporate_action_id`

/** The answer about a stage that runs as a job. */
export const stageProgress = ({ productID, id }: DistributionID) => sql`
  select t.corporate_action_id as "corporateActionID", t.product_id as "productID",
    t.distribution_status_id as "distributionStatusID",
    (${raw(progress)} ->> 'progressPercent')::int as "progressPercent",
    ${raw(progress)} as "stageProgress"
  from distribution t
  join distribution_stage g on g.product_id = t.product_id
    and g.corporate_action_id = t.corporate_action_id
  where t.product_id = ${productID} and t.corporate_action_id = ${id}`

/** Requires a product (4.18); for an unknown product the list is empty, as all lists are. */
export async function readDistributions(handle: Sql, actor: Actor, query: DistributionQuery) {
  if (!namesAny(productParameter, query)) throw noSuch(productParameter, query)
  const asked = [
    conditions(distributionFilters, query),
    ...related(
      distributionInvestmentFilters,
      query,
      't.product_id, t.investment_id',
      'i.product_id, i.investment_id from investment i',
    ),
  ]
  return renderPage(handle, query, {
    key: ['corporateActionID'],
    scope: ledgerScope(actor, query, 't.product_id'),
    rows: (wanted, within) => sql`
      select t.* from distribution t
      where ${join([within, ...asked], ' and ')}
      ${page(wanted, 'distribution t', 't.corporate_action_id')}`,
    show: selectDistributions,
  })
}

const one = ({ productID, id }: DistributionID) => sql`
  select * from distribution where product_id = ${productID} and corporate_action_id = ${id}`

export type DistributionID = { productID: number; id: number }

export const renderDistribution = async (handle: Sql, which: DistributionID): Promise<Answer> =>
  (await renderOne(handle, selectDistributions(one(which))))!

export const renderDistributionList = (handle: Sql, which: DistributionID): Promise<Answer> =>
  render(handle, selectDistributions(one(which)))

/** The facts about a distribution that the stages need. */
export type Stored = DistributionID & {
  statusID: number
  investmentID: number
  recordDate: string | null
  paymentDate: string | null
  perUnit: string | null
  total: string | null
  centsPerDay: string | null
  percentPerAnnum: string | null
  startDate: string | null
  endDate: string | null
  valuation: string | null
  drpIndicatorID: number | null
  drpPrice: string | null
  drpInvestmentID: number | null
  drpAllotmentDate: string | null
  /** The percentages of the tax components, in order. */
  percentages: string[]
  componentTotal: string | null
  /** The names of the tax components, and the income kinds that the product gives them. */
  componentNames: string[]
  componentKinds: (string | null)[]
  /** Whether the product withholds tax. */
  withholding: boolean
  /** The company tax that franked components carry, in percent. */
  companyTax: string
  decimals: number
  /** The present day in the product's time zone. */
  today: string
  /** Transactions dated up to this day can no longer be posted or rolled back. */
  lockedDate: string | null
  /** The stage that is under way, if any, and the error that stopped it. */
  underWay: string | null
  stageError: string | null
  /** The day of an allotment that is under way or being reversed. */
  stageDate: string | null
}

export async function readDistribution(handle: Sql, which: DistributionID): Promise<Stored> {
  const [row] = await handle.query<Stored>(sql`
    select t.product_id as "productID", t.corporate_action_id as id,
      t.distribution_status_id as "statusID", t.investment_id as "investmentID",
      t.record_date as "recordDate", t.payment_date as "paymentDate",
      t.distribution_amount_per_unit as "perUnit", t.distribution_amount_total as total,
      t.cents_per_unit_per_day as "centsPerDay",
      t.pro_rata_percent_per_annum as "percentPerAnnum",
      t.pro_rata_start_date as "startDate", t.pro_rata_end_date as "endDate",
      t.unit_valuation_method as valuation, t.drp_indicator_id as "drpIndicatorID",
      t.drp_price as "drpPrice", t.drp_investment_id as "drpInvestmentID",
      t.drp_allotment_date as "drpAllotmentDate", minor_units(i.currency_id) as decimals,
      array(select c.percentage::text from distribution_component c
        where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id
        order by c.ordinal) as percentages,
      (select trim_scale(sum(c.percentage))::text from distribution_component c
        where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id)
        as "componentTotal",
      array(select c.tax_component_name from distribution_component c
        where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id
        order by c.ordinal) as "componentNames",
      array(select (select k ->> 'incomeKind' from json_array_elements(p.tax_component_kinds) k
          where lower(trim(k ->> 'taxComponentName')) = lower(trim(c.tax_component_name)) limit 1)
        from distribution_component c
        where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id
        order by c.ordinal) as "componentKinds",
      p.withholding, p.company_tax_percentage::text as "companyTax",
      ${today('p')} as today, p.locked_date as "lockedDate", g.stage as "underWay",
      g.error_message as "stageError", (g.terms ->> 'date')::date::text as "stageDate"
    from distribution t join investment i on i.investment_id = t.investment_id
    join product p on p.product_id = t.product_id
    left join distribution_stage g on g.product_id = t.product_id
      and g.corporate_action_id = t.corporate_action_id
    where t.product_id = ${which.productID} and t.corporate_action_id = ${which.id}`)
  if (!row) throw gone(which)
  return row
}

/** The rows of a distribution, as a condition on the table under this alias. */
export const ofDistribution = ({ productID, id }: DistributionID, alias: string) =>
  sql`${raw(alias)}.product_id = ${productID} and ${raw(alias)}.corporate_action_id = ${id}`

/** The refusal for a distribution that was deleted after it was found. */
const gone = ({ id }: DistributionID) => noSuch(distributionReference, { corporateActionID: id })

/** Finds the distribution that a request names, within the product if the request names one. */
export async function identifyDistribution(
  handle: Sql,
  actor: Actor,
  given: object,
  how: Reference = distributionReference,
): Promise<DistributionID> {
  const product = how === distributionParameter ? productParameter : productReference
  const named = namesAny(product, given)
    ? await identifyProduct(handle, actor, given, product)
    : undefined
  const id = await identify(handle, how, given, {
    visible: inLedgerScope(actor, 'r.product_id'),
    productIDs: [named],
  })
  if (named) return { productID: named, id }
  const [row] = await handle.query<{ productID: number }>(sql`
    select product_id as "productID" from distribution
    where ${inLedgerScope(actor, 'product_id')} and corporate_action_id = ${id}`)
  if (!row) throw noSuch(how, given)
  return { productID: row.productID, id }
}

/**
 * Locks a distribution for a stage. It does not wait for another request that holds the lock, since
 * that request will have changed the status.
 */
export async function lockDistribution(tx: Tx, which: DistributionID): Promise<Stored> {
  const locked = await lockNow(tx, sql`${one(which)} for update nowait`)
  // The distribution was deleted after it was looked up.
  if (locked.length === 0) throw gone(which)
  await holdPeriods(tx, [which.productID])
  return readDistribution(tx, which)
}

/** Runs a locking select with `nowait`, and refuses if another request holds the lock. */
export const lockNow = (tx: Tx, select: Fragment) =>
  tx.query<{ id: number; declared: boolean }>(select).catch((error) => {
    throw isLocked(error)
      ? conflict('in_progress', 'Another request is working on this distribution.')
      : error
  })

const method = `case when t.pre_calculated then 'PreCalculated'
  when d.distribution_amount_per_unit is not null then 'PerUnit'
  when d.distribution_amount_total is not null then 'Total'
  when d.cents_per_unit_per_day is not null then 'CentsPerUnitPerDay'
  else 'PercentPerAnnum' end`

/** Columns of entitlements; `clear` shows bank numbers to callers who may read payment details. */
const entitledColumns = (clear: boolean) =>
  columns(EntitledAccount, 't', {
    ...entitledSources,
    withholding: shownWithholding,
    ...(!clear && {
      payeeAccountNumber: lastThree('t.payee_account_number'),
      payeeIban: lastThree('t.payee_iban'),
    }),
  })
const entitledSources = {
  externalCorporateActionId: 'd.external_corporate_action_id',
  externalProductId: 'p.external_product_id',
  externalAccountId: 'a.external_account_id',
  accountNumber: 'a.account_number',
  bizEntityID: 'e.biz_entity_id',
  externalBizEntityId: 'e.external_biz_entity_id',
  bizEntityName: 'e.name',
  statusID: 'd.distribution_status_id',
  // An entitlement without cash has no payment transaction, and counts as paid with the others.
  isPaid: `(t.payment_transaction_id is not null or (t.cash_amount = 0
    and d.distribution_status_id >= ${lookups.DistributionStatus.Paid}))`,
  isAllotted: 't.drp_residual is not null',
  method,
  rate: `case when t.pre_calculated then null
    when d.distribution_amount_per_unit is not null then d.distribution_amount_per_unit
    when d.distribution_amount_total is not null then coalesce(d.declared_rate, t.total_rate)
    else coalesce(d.cents_per_unit_per_day, d.pro_rata_percent_per_annum) end`,
  unitValue: `case when not t.pre_calculated then
    coalesce(d.declared_unit_value, t.unit_value) end`,
  taxComponents: `(
    select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
      'percentage', trim_scale(c.percentage),
      'amount', trim_scale(t.component_amounts[c.ordinal])) order by c.ordinal), '[]')
    from distribution_component c
    where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id)`,
}
const shownWithholding = `(
  select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
    'incomeKind', w.income_kind, 'rule', w.rule, 'countryCode', w.country_code,
    'baseAmount', trim_scale(w.base_amount), 'percentage', trim_scale(w.percentage),
    'rounding', w.rounding, 'amount', trim_scale(w.amount)) order by w.ordinal), '[]')
  from withholding w
  join distribution_component c on c.product_id = w.product_id
    and c.corporate_action_id = w.corporate_action_id and c.ordinal = w.ordinal
  where w.product_id = t.product_id and w.corporate_action_id = t.corporate_action_id
    and w.account_id = t.account_id)`
const shownClear = entitledColumns(true)
const shownMasked = entitledColumns(false)

/** Entitlements as the API shows them, from a selection of rows called t. */
export const selectEntitled = ({ permissions }: Actor, selection: Fragment) => sql`
  select ${permissions.has('PaymentDetail.Read') ? shownClear : shownMasked} from (${selection}) t
  join distribution d on d.product_id = t.product_id
    and d.corporate_action_id = t.corporate_action_id
  join product p on p.product_id = t.product_id
  join account a on a.account_id = t.account_id
  join biz_entity e on e.biz_entity_id = a.biz_entity_id
  order by t.product_id, t.corporate_action_id, t.account_id`

export function readEntitled(handle: Sql, actor: Actor, query: EntitledQuery) {
  const asked = [
    conditions(accountFilters, query),
    ...related(
      entitledDistributionFilters,
      query,
      't.product_id, t.corporate_action_id',
      'd.product_id, d.corporate_action_id from distribution d',
    ),
    ...related(
      entitledAccountFilters,
      query,
      't.product_id, t.account_id',
      'a.product_id, a.account_id from account a',
    ),
  ]
  const order = 't.product_id, t.corporate_action_id, t.account_id'
  return renderPage(handle, query, {
    key: ['productID', 'corporateActionID', 'accountID'],
    scope: ledgerScope(actor, query, 't.product_id'),
    rows: (wanted, within) => sql`
      select t.*, null::numeric as total_rate, null::numeric as unit_value from entitlement t
      where ${join([within, ...asked], ' and ')} ${pageBy(wanted, order, mostEntitlements)}`,
    show: (rows) => selectEntitled(actor, rows),
  })
}

export const mostEntitlements = `(select max(account_id)::bigint from account)
  * (select max(corporate_action_id) from distribution)`
