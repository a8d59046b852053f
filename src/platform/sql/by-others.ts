import sql, { join, raw } from 'sql-template-tag'
import { asksFor, asksForPart, asksWidely, conditions, type Filters, related } from './filters.ts'
import type { Fragment } from './handle.ts'
import { behind, sortedBy, type Wanted } from './paging.ts'

/** Filters of a list that go by other records: which columns of its rows name one, and where. */
export type Relation = {
  filters: Filters
  key: string
  named: string
  from: string
  /** Each of the others has a good part of all rows: to begin with them would be no shorter. */
  isBroad?: true
}

/**
 * What a query asks of the others, as conditions on the rows of a list. Where there are none of
 * those that have many rows each, nobody need look through the rows for them.
 */
export const askedOfOthers = (relations: readonly Relation[], query: object): Fragment[] =>
  relations.flatMap(({ filters, key, named, from, isBroad }) => [
    ...(isBroad && asksFor(filters, query)
      ? [sql`exists (select 1 from ${raw(from)} where ${conditions(filters, query)})`]
      : []),
    ...related(filters, query, key, `${named} from ${from}`),
  ])

type List = {
  /** What the rows are called, and the columns of their order. */
  alias: string
  order: string
  /** A select of all rows of the list, which ends in its conditions. */
  rows: Fragment
  /** Conditions on the rows themselves. */
  own: Fragment
  /** Of these the filters by texts of which an index has every part. */
  parts?: Parts
  relations: readonly Relation[]
  query: object
  /** The page as PostgreSQL would find it by itself. */
  whole: Fragment
  /** It is known where the first row is, and nobody need look for it from the beginning on. */
  isFound?: boolean
}

/** Texts of the rows of a table, and which of the rows the list is of. */
type Parts = { filters: Filters; from: string; within: Fragment }

/** Rows are looked at first, for each that is wanted; and others are begun with, at most. */
const lookedAt = 10
const few = 5_000
/** A page further on is read up to; and where the ledger is spread, each part as it is. */
const mostRows = 20_000n

export const isNear = ({ size, skip, isWhole, isPart }: Wanted) =>
  !isWhole && !isPart && skip + BigInt(size) <= mostRows

/**
 * A page by what others are like, or by a part of a text. How many rows that fits, nobody knows
 * before; PostgreSQL guesses, and where it is wrong looks through the whole ledger. So the first
 * rows are looked at one by one: where they fill the page, it is that. Else the others are looked
 * up, and where they are few, the page is among their rows. It is left to PostgreSQL only where
 * both are not so.
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
  // The first of those looked at come in their order. To say so would have them all looked at and
  // sorted: where they are of one product, PostgreSQL takes the order with the product for another.
  return sql`
    with looked_at as materialized (
      select * from (${rows} ${from} order by ${order} limit ${list.isFound ? 0 : lookedAt * count})
        ${name}
      where ${fits} limit ${count}),
    ${others.found},
    found as (select (select count(*) from looked_at) as rows)
    select * from (select * from looked_at ${name} ${cut}) page
    where (select rows from found) = ${count}
    union all
    select * from (${others.rows} where ${fits} ${cut}) page
    where (select rows from found) < ${count} and (select count(*) from others) <= ${few}
    union all
    select * from (${list.whole}) page
    where (select rows from found) < ${count} and (select count(*) from others) > ${few}`
}

/** Where to begin: the CTE `others`, up to one more than few, and a select of their rows. */
type Others = { found: Fragment; rows: Fragment }

function othersOf(wanted: Wanted, list: List, asked: readonly Relation[]): Others | undefined {
  const { parts, query, order } = list
  const wide = asked.find(({ filters, isBroad }) => !isBroad && asksWidely(filters, query))
  if (wide) return byRelation(wide, list, behind(wanted, order))
  if (parts && asksForPart(parts.filters, query)) return byPart(parts, list, behind(wanted, order))
  return undefined
}

/** A row may go with several of the others, and is there once. */
const byRelation = (wide: Relation, { rows, alias, query }: List, from: Fragment): Others => ({
  found: sql`
    others as materialized (
      select ${named(wide)} from ${raw(wide.from)}
      where ${conditions(wide.filters, query)} limit ${few + 1})`,
  rows: sql`
      select ${raw(alias)}.* from (select distinct * from others) o cross join lateral (
        ${rows} and (${raw(wide.key)}) = (${raw(columnsOf(wide, 'o'))}) ${from} offset 0)
        ${raw(alias)}`,
})

/**
 * Planned as if all that have the part were wanted, which is by the index of parts; read as far as
 * is asked for.
 */
const byPart = (
  { filters, from, within }: Parts,
  { alias, query }: List,
  further: Fragment,
): Others => ({
  found: sql`
    having_part as materialized (
      select ${raw(alias)}.* from ${raw(from)} where ${conditions(filters, query)}),
    others as materialized (
      select * from having_part ${raw(alias)} where ${within} ${further} limit ${few + 1})`,
  rows: sql`select * from others ${raw(alias)}`,
})

/** As a value for a row: PostgreSQL would make a join of a condition, and guess again. */
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
