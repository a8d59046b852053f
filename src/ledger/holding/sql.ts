import sql, { empty, join, raw } from 'sql-template-tag'
import { priceOn, worthOf } from '../../catalogue/investment/price-on.ts'
import { ledgerScope } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { accountOf, asksFromAccount, firstAccount } from '../../parties/account/list-from.ts'
import type { Actor } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import {
  askedOfOthers,
  isNear,
  isOfOne,
  pageByOthers,
  type Relation,
} from '../../platform/sql/by-others.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { ofOnly, onlyProduct, pageBy, renderPage, type Wanted } from '../../platform/sql/paging.ts'
import {
  inPieces,
  jsonText,
  listed,
  ofFields,
  pieceOf,
  shownFields,
  stretch,
} from '../../platform/sql/render.ts'
import { accountFilters, ownerFilters } from '../biz-transaction/schema.ts'
import { heldBack } from '../on-hold/held.ts'
import {
  distributionsOf,
  hasResidual,
  itsDistributions,
  itsLaterAllotments,
} from './distributions.ts'
import { Holding, type HoldingQuery, holdingFilters, holdingInvestmentFilters } from './schema.ts'

// A position without a price shows no gain.
const gain = 'case when h.price is not null then h.value - h.cost end'

/** The sources of the fields: `h` has the calculated ones, other aliases are joins in `show`. */
const allFields = shownFields(Holding, 'h', {
  bizEntityID: 'e.biz_entity_id',
  externalBizEntityId: 'e.external_biz_entity_id',
  bizEntityName: 'e.name',
  accountID: 'a.account_id',
  externalAccountId: 'a.external_account_id',
  accountNumber: 'a.account_number',
  productID: 'i.product_id',
  externalProductId: { json: 'p.external_product_id' },
  investmentID: 'i.investment_id',
  externalInvestmentId: 'i.external_investment_id',
  securityCode: 'i.security_code',
  investmentName: 'i.name',
  date: 'p.date',
  costAmount: 'h.cost',
  averageCost: 'round(round(h.cost, 40) / nullif(h.quantity, 0), 8)',
  price: 'v.price',
  priceDate: 'v.price_date',
  marketValue: 'h.value',
  unrealisedGain: gain,
  unrealisedGainPercent: `round(round((${gain}) * 100, 40) / nullif(h.cost, 0), 4)`,
  realisedGain: 'h.gain',
  distributionEntitlement: 'x.declared',
  distributionsPaid: 'x.paid',
  drpResidual: 'x.residual',
  availableQuantity: 'h.available',
})
const accountFields = stretch(allFields, 'bizEntityID', 'accountNumber')
const investmentFields = stretch(allFields, 'productID', 'date')
const priceFields = stretch(allFields, 'price', 'priceDate')
const distributionFields = stretch(allFields, 'distributionEntitlement', 'drpResidual')

/** The JSON of fields that many holdings share is written once for all of them. */
const holdingFields = inPieces(allFields, 'h', {
  of_account: accountFields,
  of_investment: investmentFields,
  of_price: priceFields,
  of_distributions: distributionFields,
})

/** The closing figures of holding h after its last transaction up to a day. */
const stateAt = (date: Fragment, only = empty) => sql`
  select b.closing_quantity as quantity, b.closing_amount as invested, b.closing_cost as cost,
    b.closing_gain as gain
  from transaction_line b
  where ${only} b.product_id = h.product_id and b.account_id = h.account_id
    and b.investment_id = h.investment_id and b.transaction_date <= ${date}
    and ${raw(counts('b'))}
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1`

/**
 * Holdings at the end of the product's today. Their stored totals are right unless the account has
 * a transaction dated later; then the closing figures up to today are read from the ledger.
 */
const positionsToday = () => sql`
  select h.product_id, h.account_id, h.investment_id, s.quantity, s.invested, s.cost, s.gain
  from holding h
  cross join lateral (
    select ${today('product')} as today from product where product_id = h.product_id limit 1) p
  cross join lateral (
    select l.last_date <= p.today as is_past from ledger_account l
    where l.product_id = h.product_id and l.account_id = h.account_id limit 1) l
  ${itsLaterAllotments(sql`p.today`)}
  left join lateral (${stateAt(sql`p.today`, sql`not l.is_past and`)}) b on true
  cross join lateral (
    select case when l.is_past then h.quantity else b.quantity end as quantity,
      case when l.is_past then h.invested_amount else b.invested end as invested,
      case when l.is_past then h.cost_amount else b.cost end as cost,
      case when l.is_past then h.realised_gain else b.gain end as gain) s
  where s.quantity is not null and (s.quantity > 0 or ${hasResidual(sql`p.today`)})`

/** The holdings that had units at the end of a day. */
export const positionsAsAt = (date: string) => sql`
  ${closingsAsAt(date)} where s.quantity > 0`

/** As positionsAsAt, and also holdings without units that still have money left over by a DRP. */
const positionsOrResiduals = (date: string) => sql`
  ${closingsAsAt(date)} ${itsLaterAllotments(sql`${date}::date`)}
  where (s.quantity > 0 or ${hasResidual(sql`${date}::date`)})`

/** The closing figures of every holding after its last transaction up to a day. */
const closingsAsAt = (date: string) => sql`
  select h.product_id, h.account_id, h.investment_id, s.quantity, s.invested, s.cost, s.gain
  from holding h
  cross join lateral (${stateAt(sql`${date}`)}) s`

export async function readHoldings(handle: Sql, actor: Actor, query: HoldingQuery) {
  const { Date: date } = query
  const products = ledgerScope(actor, query, 'h.product_id')
  const only = asksFromAccount(query) ? await onlyProduct(handle, products) : undefined
  return renderPage(handle, query, {
    key: ['productID', 'accountID', 'investmentID'],
    scope: ofOnly(products, only),
    rows: (wanted, within) => {
      const own = conditions(holdingFilters, query)
      const rows = sql`${date ? positionsOrResiduals(date) : positionsToday()} and ${within}`
      const asked = join([own, ...askedOfOthers(relations, query)], ' and ')
      const isFound = only !== undefined && isNear(wanted)
      const fits = isFound ? fromAccount(query, only, wanted) : asked
      const whole = sql`${rows} and ${fits} ${pageBy(wanted, order, mostHoldings)}`
      return pageByOthers(wanted, {
        alias: 'h',
        order,
        rows,
        own,
        relations,
        query,
        whole,
        isFound,
      })
    },
    show: (rows) =>
      ofFields(
        holdingFields,
        sql`
      select ${listed(holdingFields)}, ${itsKey}
      from (
        select h.*, a.of_account, v.of_investment, v.of_price, v.price,
          ${worth} as value, ${available} as available, ${distributions} as of_distributions
        from (${rows}) h
        ${itsProduct(date)}
        ${itsAccount}
        ${itsInvestment}
        cross join lateral (${itsDistributions(sql`p.date`)}) d offset 0) h
      order by h.product_id, h.account_id, h.investment_id`,
      ),
  })
}

/** Holdings are sorted by account, so the list starts at the first account that fits the query. */
const fromAccount = (query: object, productID: number, wanted: Wanted) => sql`
  ${isOfOne(accountOf('h'), query)} and h.account_id ${raw(wanted.isDescending ? '<=' : '>=')}
    ${firstAccount(query, productID, wanted)}`

const itsKey = raw(
  'h.product_id as "productID", h.account_id as "accountID", h.investment_id as "investmentID"',
)
const worth = raw(worthOf('h.quantity', 'h.invested', 'v.decimals'))

/**
 * `limit 1` makes PostgreSQL run these joins per holding. With outdated statistics, which know only
 * one product or few investments, the planner would read the whole page once for each of them.
 * PostgreSQL keeps each result, with the JSON made in it, for the next holding with the same key.
 * Whether a product has holds, and an investment distributions, is looked up once as well.
 */
const itsProduct = (date: string | undefined) => sql`
        cross join lateral (
          select ${raw(jsonText('external_product_id'))} as external_product_id,
            coalesce(${date ?? null}::date, ${today('product')}) as date,
            exists (select 1 from hold k where k.product_id = h.product_id) as has_holds
          from product where product_id = h.product_id limit 1) p`
const itsAccount = sql`cross join lateral (
          select ${pieceOf(accountFields)} as of_account
          from account a
          cross join lateral (
            select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
            where e.biz_entity_id = a.biz_entity_id limit 1) e
          where a.account_id = h.account_id limit 1) a`
const itsInvestment = sql`cross join lateral (
          select ${pieceOf(investmentFields)} as of_investment, ${pieceOf(priceFields)} as of_price,
            v.price, minor_units(i.currency_id) as decimals
          from investment i
          left join lateral (${priceOn('i.investment_id', sql`p.date`, 'price, price_date')}) v
            on true
          where i.investment_id = h.investment_id limit 1) v`

const noDistributions = raw(`'${distributionFields.map(({ name }) => `"${name}":0`).join()}'`)
const distributions = sql`case when d.has_distributions
            then (select ${pieceOf(distributionFields)} from (${distributionsOf(sql`p.date`)}) x)
            else ${noDistributions} end`

const available = sql`greatest(case when p.has_holds
            then (select case when k.is_all then 0 else h.quantity - k.quantity end
              from (${heldBack('h', sql`p.date`)}) k)
            else h.quantity end, 0)`

const order = 'h.product_id, h.account_id, h.investment_id'
const mostHoldings = `(select max(account_id)::bigint from account)
  * (select max(investment_id) from investment)`

const ofAccount = { key: 'h.product_id, h.account_id', named: 'a.product_id, a.account_id' }
const relations: Relation[] = [
  { filters: accountFilters, ...ofAccount, from: 'account a' },
  {
    filters: ownerFilters,
    ...ofAccount,
    from: 'account a join biz_entity e using (biz_entity_id)',
  },
  {
    filters: holdingInvestmentFilters,
    key: 'h.product_id, h.investment_id',
    named: 'i.product_id, i.investment_id',
    from: 'investment i',
    isBroad: true,
  },
]
