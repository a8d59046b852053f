import sql, { join } from 'sql-template-tag'
import { productParameter, productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct, ledgerProducts } from '../../catalogue/product/sql.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import { conditions, related } from '../../platform/sql/filters.ts'
import { codeOf, type Fragment, type Sql, type Tx } from '../../platform/sql/handle.ts'
import { identify, namesAny, noSuch, type Reference } from '../../platform/sql/identify.ts'
import { page, pageBy, renderPage } from '../../platform/sql/paging.ts'
import { type Answer, columns, render, renderOne } from '../../platform/sql/render.ts'
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

const distributionColumns = columns(Distribution, 't', {
  externalProductId: 'p.external_product_id',
  externalInvestmentId: 'i.external_investment_id',
  securityCode: 'i.security_code',
  drpExternalInvestmentId: 'r.external_investment_id',
  drpSecurityCode: 'r.security_code',
  taxComponents: components,
})

/** Distributions as the API shows them, from a selection of rows called t. */
const selectDistributions = (selection: Fragment) => sql`
  select ${distributionColumns} from (${selection}) t
  join product p on p.product_id = t.product_id
  join investment i on i.investment_id = t.investment_id
  left join investment r on r.investment_id = t.drp_investment_id
  order by t.corporate_action_id`

/** The product must be named (4.18); one that is not there has none, as in every list. */
export async function readDistributions(handle: Sql, actor: Actor, query: DistributionQuery) {
  if (!namesAny(productParameter, query)) throw noSuch(productParameter, query)
  const asked = [
    ledgerProducts(actor, query, 't.product_id'),
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
    rows: (wanted) => sql`
      select t.* from distribution t
      where ${join(asked, ' and ')} ${page(wanted, 'distribution t', 't.corporate_action_id')}`,
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

/** What the stages need to know of a distribution. */
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
  /** Of the tax components, in their order. */
  percentages: string[]
  componentTotal: string | null
  decimals: number
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
        as "componentTotal"
    from distribution t join investment i on i.investment_id = t.investment_id
    where t.product_id = ${which.productID} and t.corporate_action_id = ${which.id}`)
  if (!row) throw gone(which)
  return row
}

/** Deleted since it was found. */
const gone = ({ id }: DistributionID) => noSuch(distributionReference, { corporateActionID: id })

/** The distribution a request names, inside its product where it names one. */
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

/** Locks a distribution for a stage. Whoever else is at it now will have moved it on. */
export async function lockDistribution(tx: Tx, which: DistributionID): Promise<Stored> {
  const locked = await tx.query(sql`${one(which)} for update nowait`).catch((error) => {
    throw codeOf(error) === '55P03'
      ? conflict('in_progress', 'Another request is working on this distribution.')
      : error
  })
  // Deleted since it was looked up.
  if (locked.length === 0) throw gone(which)
  return readDistribution(tx, which)
}

const entitledColumns = columns(EntitledAccount, 't', {
  externalCorporateActionId: 'd.external_corporate_action_id',
  externalProductId: 'p.external_product_id',
  externalAccountId: 'a.external_account_id',
  accountNumber: 'a.account_number',
  bizEntityID: 'e.biz_entity_id',
  externalBizEntityId: 'e.external_biz_entity_id',
  bizEntityName: 'e.name',
  statusID: 'd.distribution_status_id',
  taxComponents: `(
    select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
      'percentage', trim_scale(c.percentage),
      'amount', trim_scale(t.component_amounts[c.ordinal])) order by c.ordinal), '[]')
    from distribution_component c
    where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id)`,
})

/** Entitlements as the API shows them, from a selection of rows called t. */
export const selectEntitled = (selection: Fragment) => sql`
  select ${entitledColumns} from (${selection}) t
  join distribution d on d.product_id = t.product_id
    and d.corporate_action_id = t.corporate_action_id
  join product p on p.product_id = t.product_id
  join account a on a.account_id = t.account_id
  join biz_entity e on e.biz_entity_id = a.biz_entity_id
  order by t.product_id, t.corporate_action_id, t.account_id`

export function readEntitled(handle: Sql, actor: Actor, query: EntitledQuery) {
  const asked = [
    ledgerProducts(actor, query, 't.product_id'),
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
    rows: (wanted) => sql`
      select t.* from entitlement t
      where ${join(asked, ' and ')} ${pageBy(wanted, order, mostEntitlements)}`,
    show: selectEntitled,
  })
}

const mostEntitlements = `(select max(account_id)::bigint from account)
  * (select max(corporate_action_id) from distribution)`
