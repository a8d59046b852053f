import sql, { join, raw } from 'sql-template-tag'
import {
  asksFor,
  asksForPart,
  asksWidely,
  conditions,
  type Filters,
  havingPart,
  related,
} from './filters.ts'
import type { Fragment } from './handle.ts'
import { behind, sortedBy, type Wanted } from './paging.ts'

/**
 * Filters of a list by related records, such as the account of a holding. `key` has the columns of
 * the list's rows that refer to a related record, `named` the matching columns of the related
 * table.
 */
export type Relation = {
  filters: Filters
  key: string
  named: string
  from: string
  /**
   * Each related record has a large part of all rows, so starting from the related records saves
   * nothing.
   */
  isBroad?: true
}

/**
 * The query's filters on related records, as conditions on the rows of a list. Where no broad
 * related record fits at all, the extra `exists` spares PostgreSQL the search through the rows.
 */
export const askedOfOthers = (relations: readonly Relation[], query: object): Fragment[] =>
  relations.flatMap(({ filters, key, named, from, isBroad }) => [
    ...(isBroad && asksFor(filters, query)
      ? [sql`exists (select 1 from ${raw(from)} where ${conditions(filters, query)})`]
      : []),
    ...related(filters, query, key, `${named} from ${from}`),
  ])

type List = {
  /** The alias of the rows, and the columns they are sorted by. */
  alias: string
  order: string
  /** A select of all rows of the list, which ends in its conditions. */
  rows: Fragment
  /** Conditions on the rows' own columns. */
  own: Fragment
  /** Those of the own filters that search texts for which a trigram index exists. */
  parts?: Parts
  relations: readonly Relation[]
  query: object
  /** The page as a plain select, planned by PostgreSQL alone. */
  whole: Fragment
  /**
   * `whole` finds the first row directly (for example from one account), so the search through the
   * first rows of the list is left out.
   */
  isFound?: boolean
}

/** Text filters on a table, and the condition for which of its rows belong to the list. */
type Parts = { filters: Filters; from: string; within: Fragment }

/** How many of the list's first rows are examined per row wanted. */
const lookedAt = 10
/**
 * For a long page, `tried` rows are examined first; if at least `promising` of them fit, examining
 * more is worthwhile.
 */
const tried = 250
const promising = 5
/** The page starts from the related records only if at most this many fit. */
const few = ({ isFound }: List) => (isFound ? 1_000 : 5_000)
/**
 * A page that ends further on than this is read as `whole`; so is each product's part where the
 * ledger is spread.
 */
const mostRows = 20_000n

export const isNear = ({ size, skip, isWhole, isPart }: Wanted) =>
  !isWhole && !isPart && skip + BigInt(size) <= mostRows

/**
 * A page filtered by related records or by a part of a text. How many rows fit is not known in
 * advance; PostgreSQL guesses, and after a wrong guess searches the whole ledger. Therefore three
 * ways are tried within one SQL statement:
 *
 * First, the list's first rows are examined one by one; if they fill the page, they are the page.
 * Otherwise the related records are looked up; if they are few, the page is taken from their rows.
 * Only otherwise is the page left to PostgreSQL. For a long page, a sample of the first rows
 * decides whether the first way is tried at all.
 */
export function pageByOthers(wanted: Wanted, list: List): Fragment {
  const { size, skip } = wanted
  const asked = list.relations.filter(({ filters }) => asksFor(filters, list.query))
  const others = othersOf(wanted, list, asked)
  if (!others || !isNear(wanted)) return list.whole
  const count = Number(skip) + size
  const { rows, alias, own, query } = list
  const name = raw(alias)
  const fits = join([own, ...asked.map((one) => isOfOne(one, query))], ' and ')
  const [order, from] = [sortedBy(wanted, list.order), behind(wanted, list.order)]
  const cut = sql`order by ${order} limit ${size} offset ${Number(skip)}`
  const first = (limit: number) => sql`(${rows} ${from} order by ${order} limit ${limit}) ${name}`
  const firstThatFit = sql`select count(*) from ${first(tried)} where ${fits}`
  // `looked_at` needs no `order by` before its limit: its rows arrive in order. With one, all rows
  // would be examined and sorted, because within one product PostgreSQL does not recognise that the
  // order with the product column in front is the same order.
  return sql`
    with ${others.found},
    looked_at as materialized (
      select * from ${first(lookedAt * count)} where ${fits}
      limit ${wantedOfFirst(list, count, firstThatFit)}),
    found as (select (select count(*) from looked_at) as rows)
    select * from (select * from looked_at ${name} ${cut}) page
    where (select rows from found) = ${count}
    union all
    select * from (${others.rows} where ${fits} ${cut}) page
    where (select rows from found) < ${count} and (select count(*) from others) <= ${few(list)}
    union all
    select * from (${list.whole}) page
    where (select rows from found) < ${count} and (select count(*) from others) > ${few(list)}`
}

/** How many fitting rows to look for; 0 where starting from the related records is shorter. */
function wantedOfFirst(list: List, count: number, firstThatFit: Fragment): Fragment {
  if (list.isFound) return sql`0`
  if (count <= tried) return sql`${count}`
  return sql`case when (${firstThatFit}) >= ${promising}
          or (select count(*) from others) > ${few(list)} then ${count} else 0 end`
}

/**
 * The related records to start from: the CTE `others`, cut off at one more than `few`, and a select
 * of their rows.
 */
type Others = { found: Fragment; rows: Fragment }

function othersOf(wanted: Wanted, list: List, asked: readonly Relation[]): Others | undefined {
  const { parts, query, order } = list
  const wide = asked.find(({ filters, isBroad }) => !isBroad && asksWidely(filters, query))
  if (wide) return byRelation(wide, list, behind(wanted, order))
  if (parts && asksForPart(parts.filters, query)) return byPart(parts, list, behind(wanted, order))
  return undefined
}

/** A row may belong to several related records, but must appear once: hence `distinct`. */
function byRelation(wide: Relation, list: List, from: Fragment): Others {
  const name = raw(list.alias)
  return {
    found: sql`
    others as materialized (
      select ${named(wide)} from ${raw(wide.from)}
      where ${conditions(wide.filters, list.query)} limit ${few(list) + 1})`,
    rows: sql`
      select ${name}.* from (select distinct * from others) o cross join lateral (
        ${list.rows} and (${raw(wide.key)}) = (${raw(columnsOf(wide, 'o'))}) ${from} offset 0)
        ${name}`,
  }
}

/**
 * The materialized CTE is planned as if all rows with the text part were wanted, which makes
 * PostgreSQL use the trigram index; it is executed only as far as the limit asks.
 */
function byPart({ filters, from, within }: Parts, list: List, further: Fragment): Others {
  const name = raw(list.alias)
  return {
    found: sql`
    having_part as materialized (
      select ${name}.* from ${raw(from)} where ${havingPart(filters, list.query)}),
    others as materialized (
      select * from having_part ${name} where ${within} ${further} limit ${few(list) + 1})`,
    rows: sql`select * from others ${name}`,
  }
}

/**
 * Whether a row's related record fits, as a scalar subquery: PostgreSQL would turn a plain
 * condition into a join, and guess again.
 */
export const isOfOne = ({ filters, key, named, from }: Relation, query: object) => sql`
  coalesce((select true from ${raw(from)}
    where (${raw(named)}) = (${raw(key)}) and ${conditions(filters, query)} limit 1), false)`

const columnsOf = ({ named }: Relation, alias: string) =>
  named
    .split(', ')
    .map((_, i) => `${alias}.k${i}`)
    .join(', ')
const named = (relation: Relation) =>
  raw(
    relation.named
      .split(', ')
      .map((column, i) => `${column} as k${i}`)
      .join(', '),
  )
