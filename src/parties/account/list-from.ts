import sql, { empty, raw } from 'sql-template-tag'
import { isNear, isOfOne, pageByOthers, type Relation } from '../../platform/sql/by-others.ts'
import { firstInWindows } from '../../platform/sql/by-windows.ts'
import { asksFor, conditions, type Filters, intFilter } from '../../platform/sql/filters.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { behind, neutral, sortedBy, type Wanted } from '../../platform/sql/paging.ts'

const ranges = /^(AccountID|BizEntityID)\.(greater|less)Than(OrEqual)?$/

/**
 * Whether a query filters by a range of account or entity ids and by nothing else. Pages are in
 * order of the rows' own id: if accounts were loaded one after another, the first matching row
 * comes after the rows of all earlier accounts.
 */
export function asksFromAccount(query: object): boolean {
  const asked = Object.keys(query).filter((name) => !neutral.test(name))
  return asked.length > 0 && asked.every((one) => ranges.test(one))
}

const ofEntity = (column: string): Filters => ({ BizEntityID: intFilter(column) })
const ofAccount = (column: string): Filters => ({ AccountID: intFilter(column) })

/** The filters of a query on the account `a` of rows under an alias. */
export const accountOf = (alias: string): Relation => ({
  filters: { ...ofAccount('a.account_id'), ...ofEntity('a.biz_entity_id') },
  key: `${alias}.product_id, ${alias}.account_id`,
  named: 'a.product_id, a.account_id',
  from: 'account a',
})

/** The same filters on the expressions that the block range index is on. */
const roughlyAskedOf = { ...ofAccount('(a.account_id + 0)'), ...ofEntity('(a.biz_entity_id + 0)') }

/**
 * The first account of a product within the range, in the order of the list; no row before it can
 * match.
 */
export const firstAccount = (query: object, productID: number, { isDescending }: Wanted) => sql`(
      ${firstInWindows({
        ...{ alias: 'a', from: 'account a', id: 'a.account_id' },
        within: sql`a.product_id = ${productID}`,
        roughly: conditions(roughlyAskedOf, query),
        fits: sql`true`,
        after: empty,
        isDescending,
        count: 1,
      })})`

type List = { table: string; id: string; within: Fragment; productID: number; query: object }

/**
 * A page of such a list, of rows `t` of a product: found by the accounts if these are few,
 * otherwise by windows of ids.
 */
export function pageFromAccount(wanted: Wanted, list: List): Fragment | undefined {
  if (!isNear(wanted)) return undefined
  const { table, id: order, within, query } = list
  return pageByOthers(wanted, {
    ...{ alias: 't', order, relations: [accountOf('t')], query, isFound: true },
    rows: sql`select t.* from ${raw(table)} t where ${within}`,
    own: sql`true`,
    whole: pageInWindows(wanted, list),
  })
}

const asksForEntity = (query: object) => asksFor(ofEntity('a.biz_entity_id'), query)

function pageInWindows(wanted: Wanted, list: List): Fragment {
  const { table, id, within, productID, query } = list
  const { size, isDescending } = wanted
  // Filters on account ids alone need no look-up of the account: the row has the id.
  const fits = asksForEntity(query)
    ? isOfOne(accountOf('t'), query)
    : conditions(ofAccount('t.account_id'), query)
  const skip = Number(wanted.skip)
  const ids = firstInWindows({
    ...{ alias: 't', from: `${table} t`, id, within, fits, isDescending, count: skip + size },
    roughly: roughly(wanted, query),
    after: behind(wanted, id),
  })
  return sql`
      select t.* from ${raw(table)} t
      where ${within} and ${raw(id)} = any(array(
        with bound as materialized (select ${firstAccount(query, productID, wanted)} as first)
        select t.id from (${ids}) t
        order by ${sortedBy(wanted, 't.id')} limit ${size} offset ${skip}))`
}

/**
 * What the block range index of rows `t` can check. Entity ranges are checked by the first account
 * of the range.
 */
const roughly = ({ isDescending }: Wanted, query: object) => sql`
        ${conditions(ofAccount('(t.account_id + 0)'), query)} and ${
          asksForEntity(query)
            ? raw(`(t.account_id + 0) ${isDescending ? '<=' : '>='} (select first from bound)`)
            : raw('true')
        }`

/**
 * A page of the entities that a query filters by a range of accounts; `entities` selects the
 * candidates `b` and ends in its conditions.
 */
export function entitiesFromAccount(wanted: Wanted, entities: Fragment, query: object): Fragment {
  const [size, skip] = [wanted.size, Number(wanted.skip)]
  const ids = firstInWindows({
    ...{ alias: 'a', from: 'account a', id: 'a.biz_entity_id', within: sql`true` },
    roughly: conditions(ofAccount('(a.account_id + 0)'), query),
    fits: sql`(select true from (${entities} and b.biz_entity_id = a.biz_entity_id) b limit 1)
        and ${isFirstOfEntity(query)}`,
    after: behind(wanted, 'a.biz_entity_id'),
    isDescending: wanted.isDescending,
    count: skip + size,
  })
  return sql`
      ${entities} and b.biz_entity_id = any(array(
        select t.id from (${ids}) t
        order by ${sortedBy(wanted, 't.id')} limit ${size} offset ${skip}))`
}

/** Lists an entity once, by the first of its accounts `a` within the range. */
const isFirstOfEntity = (query: object) => sql`(
          select true from account o
          where o.biz_entity_id = a.biz_entity_id and o.account_id < a.account_id
            and ${conditions(ofAccount('o.account_id'), query)} limit 1) is null`
