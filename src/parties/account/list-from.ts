import sql, { empty, join, raw } from 'sql-template-tag'
import { firstInWindows } from '../../platform/sql/by-windows.ts'
import { asksFor, conditions, type Filters, intFilter } from '../../platform/sql/filters.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { behind, neutral, sortedBy, type Wanted } from '../../platform/sql/paging.ts'

const ranges = /^(AccountID|BizEntityID)\.(greater|less)Than(OrEqual)?$/

/**
 * Whether a query asks for what is of the accounts from one on, or of those of the entities from
 * one on, and for nothing else. Pages go by id: where accounts were loaded one after another, the
 * first row that fits is behind those of all the accounts before.
 */
export function asksFromAccount(query: object): boolean {
  const asked = Object.keys(query).filter((name) => !neutral.test(name))
  return asked.length > 0 && asked.every((one) => ranges.test(one))
}

const ofEntity = (column: string): Filters => ({ BizEntityID: intFilter(column) })
const ofAccount = (column: string): Filters => ({ AccountID: intFilter(column) })

/** What a query asks of an account a; and the same as the block range index has it. */
const askedOf = { ...ofAccount('a.account_id'), ...ofEntity('a.biz_entity_id') }
const roughlyAskedOf = { ...ofAccount('(a.account_id + 0)'), ...ofEntity('(a.biz_entity_id + 0)') }

/** The first account of a product that is asked for, in the order of a list: none is before it. */
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

/** Rows are looked at first, for each that is wanted; and accounts are begun with, at most. */
const lookedAt = 10
const few = 5_000
/** So many rows to skip and to show are found so; a page further on is read up to. */
const mostRows = 20_000n

type List = { table: string; id: string; within: Fragment; productID: number; query: object }

/**
 * A page of such a list, of rows t of a product: from the first rows where these fill it; else from
 * those of the accounts, where they are few; else by windows of ids.
 */
export function pageFromAccount(wanted: Wanted, list: List): Fragment | undefined {
  const { size, skip, isDescending, isWhole, isPart } = wanted
  if (isWhole || isPart || skip + BigInt(size) > mostRows) return undefined
  const { within, productID, query } = list
  const count = Number(skip) + size
  const from = `${list.table} t`
  const [rows, id] = [raw(from), raw(list.id)]
  const [order, after] = [sortedBy(wanted, list.id), behind(wanted, list.id)]
  const isOfEntities = asksFor(ofEntity('a.biz_entity_id'), query)
  const notBefore = (column: string) =>
    isOfEntities ? notBeforeFirst(wanted, column) : raw('true')
  const fits = sql`${notBefore('t.account_id')} and ${ofAccounts(query, 't')}`
  return sql`
    select t.* from ${rows}
    where ${within} and ${id} = any(array(
      with ${isOfEntities ? bound(query, productID, wanted) : empty} looked_at as materialized (
        select ${id} as id from (
          select * from ${rows} where ${within} ${after}
          order by ${order} limit ${lookedAt * count}) t
        where ${fits} limit ${count}),
      others as materialized (
        select a.account_id from account a
        where a.product_id = ${productID} and ${conditions(askedOf, query)}
          and (select count(*) from looked_at) < ${count} limit ${few + 1}),
      found as materialized (
        select (select count(*) from looked_at) = ${count} as is_page,
          (select count(*) from others) <= ${few} as is_few)
      select id from (
        select id from looked_at where (select is_page from found)
        union all
        (select t.id from others o
          cross join lateral (
            select ${id} as id from ${rows}
            where ${within} and t.account_id = o.account_id ${after} offset 0) t
          where (select not is_page and is_few from found)
          order by ${sortedBy(wanted, 't.id')} limit ${count})
        union all
        select w.id from (${firstInWindows({
          ...{ alias: 't', from, id: list.id, within, fits, after, isDescending, count },
          roughly: sql`${notBefore('(t.account_id + 0)')}
            and ${conditions(ofAccount('(t.account_id + 0)'), query)}`,
        })}) w
        where (select not is_page and not is_few from found)) t
      order by ${sortedBy(wanted, 't.id')} limit ${size} offset ${Number(skip)}))
    order by ${id}`
}

const bound = (query: object, productID: number, wanted: Wanted) => sql`
      bound as materialized (select ${firstAccount(query, productID, wanted)} as first),`

/** None is before the first account that is asked for: that takes less than to look at each. */
const notBeforeFirst = ({ isDescending }: Wanted, column: string) =>
  raw(`${column} ${isDescending ? '<=' : '>='} (select first from bound)`)

/** Conditions on rows under an alias, one by one: of a join the planner would guess its size. */
export function ofAccounts(query: object, alias: string): Fragment {
  const asked = [conditions(ofAccount(`${alias}.account_id`), query)]
  if (asksFor(ofEntity('a.biz_entity_id'), query))
    asked.push(sql`coalesce((
          select ${conditions(ofEntity('a.biz_entity_id'), query)} from account a
          where a.account_id = ${raw(alias)}.account_id limit 1), false)`)
  return join(asked, ' and ')
}
