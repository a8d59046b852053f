import sql, { empty, join, raw } from 'sql-template-tag'
import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { standing } from '../../parties/account/standing.ts'
import { withinScope } from '../../platform/actor.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { recordNamed } from '../../platform/sql/identify.ts'
import { recordsetOf } from '../../platform/sql/recordset.ts'
import { pricesFor, singleLegs } from './figures.ts'
import type { Naming } from './naming.ts'
import { columns, typesOf } from './posting-rows.ts'
import { sharedNames } from './sql.ts'

/** The part of the SQL statement of at-once.ts that finds what postings name, and prices them. */

/** What the text depends on: SQL statements of one shape differ only in their values. */
export type Shape = {
  naming: Naming
  /** True: one request with several postings. False: requests of one posting each. */
  isArray: boolean
  /** Many postings look up once what they have in common; one posting comes without a list. */
  size: 'one' | 'few' | 'many'
  /** The columns that have a value in at least one row. */
  used: readonly string[]
  /** An account is named more than once; its closing figures are counted posting by posting. */
  hasRepeats: boolean
  /** At least one posting takes units out. */
  takesOut: boolean
  /** Postings may be dated before others of their accounts (behind.ts). */
  isAnywhere: boolean
  isScoped: boolean
}

/** Symbols that stand in the text for the values of each run. */
export const later = {
  products: Symbol('products'),
  size: Symbol('size'),
  resource: Symbol('resource'),
  event: Symbol('event'),
}

/** For each column, the symbol of its values; a column of an array's request has one value. */
export const givenOf: Readonly<Record<string, symbol>> = Object.fromEntries(
  columns.map((name) => [name, Symbol(name)]),
)

const { identity: ofProducts } = productReference
const { identity: ofAccounts } = accountReference
const { identity: ofInvestments } = investmentReference

/** The given postings, each with its account and the account's product. */
function accounted({ naming, isArray, size, used, isScoped }: Shape): Fragment {
  const { account, investment, product } = naming
  const native = (column: string) => column.endsWith('_id') && !/^external/.test(column)
  const typeOf = (column: string) => (native(column) ? 'bigint' : 'text')
  const all: Readonly<Record<string, string>> = {
    ...typesOf(isArray),
    account_name: typeOf(account),
    investment_name: typeOf(investment),
    product_name: typeOf(product ?? 'product_id'),
  }
  const given = used.map((name): [string, string] => [name, all[name]!])
  // Passing a dozen columns of nulls would cost as much as passing the values.
  const unused = Object.keys(all).filter((name) => !used.includes(name))
  const byProduct = { value: 'g.product_name', productID: 'null::int' }
  const byAccount = { value: 'g.account_name', productID: product ? 'p.id' : 'null::int' }
  const visible = visibleTo(isScoped)
  return sql`
    select g.*, a.id as account_id, a."productID" as product_id, null::numeric as factor,
      false as carries, ${standing('a', 'e')} as found_standing, a.external_account_id,
      a.account_number, e.name as biz_entity_name
      ${raw(unused.map((name) => `, null::${all[name]} as ${name}`).join(''))}
    from ${size === 'one' ? oneRow(given) : rowsOf(given)}
    ${product ? beside(recordNamed(ofProducts, product, byProduct, visible), 'p') : empty}
    ${beside(recordNamed(ofAccounts, account, byAccount, visible, accountColumns), 'a')}
    cross join lateral (
      select name, biz_entity_status_id from biz_entity
      where biz_entity_id = a.biz_entity_id limit 1) e`
}

const rowsOf = (columns: readonly [name: string, type: string][]) =>
  recordsetOf(
    'g',
    Object.fromEntries(columns),
    columns.map(([name]) => givenOf[name]!),
  )

/** One posting as a row of values: the planner knows that there is only one, unlike with a list. */
const oneRow = (columns: readonly [name: string, type: string][]) => sql`
    (select ${valuesGiven(columns)}) g`

/** A select list with the single value of each column, named after the column. */
export const valuesGiven = (columns: readonly [name: string, type: string][]) =>
  join(columns.map(([name, type]) => sql`${givenOf[name]}::${raw(type)} as ${raw(name)}`))

const visibleTo = (isScoped: boolean) =>
  isScoped ? withinScope(sql`${later.products}`, 'r.product_id') : sql`true`

const beside = (one: Fragment, alias: string) => sql`cross join lateral (${one}) ${raw(alias)}`

/** The account columns that answers show or postings depend on, read where the account is found. */
const accountColumns = [
  'biz_entity_id',
  'account_status_id',
  'external_account_id',
  'account_number',
]
const investmentColumns = [
  ...['external_investment_id', 'security_code', 'name', 'is_active', 'currency_id'],
  ...['unit_decimals', 'maximum_price_age_days'],
]

/** Joins to rows g the investment that each names in its product, and the product's terms. */
const itsInvestment = ({ naming, isScoped }: Shape) => sql`
    cross join lateral (
      select time_zone, locked_date, is_active, external_product_id from product
      where product_id = g.product_id limit 1) p
    ${beside(
      recordNamed(
        ofInvestments,
        naming.investment,
        { value: 'g.investment_name', productID: 'g.product_id' },
        visibleTo(isScoped),
        investmentColumns,
      ),
      'i',
    )}`

const foundOfInvestment = sql`
      i.id as investment_id, ${sharedNames}, i.is_active as found_is_active,
      i.currency_id as found_currency_id, i.unit_decimals as found_unit_decimals,
      i.maximum_price_age_days as found_price_age, p.time_zone as found_time_zone,
      p.locked_date as found_locked_date, p.is_active as found_product_is_active`

/** The given postings, each with everything it names. */
const resolved = (shape: Shape): Fragment => sql`
    select g.*, ${foundOfInvestment} from (${accounted(shape)}) g ${itsInvestment(shape)}`

/**
 * `resolved` for many postings, with their prices: postings of the same investment and day share
 * one look-up. The full join, fenced off by `offset 0`, is there because the planner does not know
 * how long the lists are: it can run a full join only by hashing or merging, not by comparing each
 * row with every other.
 */
const resolvedTogether = (shape: Shape): Fragment => sql`
    with accounted as materialized (${accounted(shape)}),
    common as materialized (
      select g.product_id as in_product, g.investment_name as by_name, g.transaction_date as on_day,
        ${foundOfInvestment}, v.*
      from (select distinct product_id, investment_name, transaction_date from accounted) g
      ${itsInvestment(shape)}
      left join lateral (${pricesFor('i.id')}) v on true)
    select g.*, c.* from accounted g
    full join common c on c.in_product = g.product_id and c.by_name = g.investment_name
      and c.on_day = g.transaction_date
    offset 0`

const found = {
  terms: sql`
        select g.found_is_active as is_active, g.found_currency_id as currency_id,
          g.found_unit_decimals as unit_decimals, g.found_price_age as maximum_price_age_days,
          g.found_time_zone as time_zone, g.found_locked_date as locked_date,
          g.found_product_is_active as product_is_active`,
  standing: sql`select g.found_standing as standing`,
  price: pricesFor('g.investment_id'),
}
const foundTogether = {
  ...found,
  price: sql`
        select g.price_date, g.plain_price, g.application_price, g.redemption_price`,
}

/** The CTEs that end with `single`, the priced postings (singleLegs in figures.ts). */
export const singles = (shape: Shape) =>
  shape.size === 'many'
    ? singleLegs(resolvedTogether(shape), foundTogether)
    : singleLegs(resolved(shape), found)
