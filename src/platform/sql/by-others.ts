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

/** Rows are looked at first, for each that is wanted. */
const lookedAt = 10
/** Of a long page so many are tried before; when so many of these fit, it is worth it. */
const tried = 250
const promising = 5
/** Others are begun with, at most. */
const few = ({ isFound }: List) => (isFound ? 1_000 : 5_000)
/** A page further on is read up to; and where the ledger is spread, each part as it is. */
const mostRows = 20_000n

export const isNear = ({ size, skip, isWhole, isPart }: Wanted) =>
  !isWhole && !isPart && skip + BigInt(size) <= mostRows

/**
 * A page by what others are like, or by a part of a text. How many rows that fits, nobody knows
 * before; PostgreSQL guesses, and where it is wrong looks through the whole ledger. So the first
 * rows are looked at one by one: where they fill the page, it is that. Else the others are looked
 * up, and where they are few, the page is among their rows. It is left to PostgreSQL only where
 * both are not so. Of a long page the very first rows tell in which order to try.
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
  // The first of those looked at come in their order. To say so would have them all looked at and
  // sorted: where they are of one product, PostgreSQL takes the order with the product for another.
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

/** None, where to begin with the others is shorter. */
function wantedOfFirst(list: List, count: number, firstThatFit: Fragment): Fragment {
  if (list.isFound) return sql`0`
  if (count <= tried) return sql`${count}`
  return sql`case when (${firstThatFit}) >= ${promising}
          or (select count(*) from others) > ${few(list)} then ${count} else 0 end`
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
 * Planned as if all that have the part were wanted, which is by the index of parts; read as far as
 * is asked for.
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
