import sql, { raw } from 'sql-template-tag'
import type { Fragment } from './handle.ts'

/** Rows of a table, by an id that grows. */
type Rows = {
  /** What the rows are called, and where they are from. */
  alias: string
  from: string
  id: string
  /** Which of them there are to look through: an index has these in the order of the id. */
  within: Fragment
  /** What a block range index knows of them; of none of its columns has another index anything. */
  roughly: Fragment
  /** What they must be like. */
  fits: Fragment
  isDescending: boolean
  /** The id behind which to begin. */
  after: Fragment
  count: number
}

/** About so many ids are looked through at least. */
const smallest = 16_384
/** As many steps as there can be ids for. */
const mostSteps = 44

/**
 * The first ids of rows that fit, however far the first of them is. To walk up to it would cost
 * what there is before; by a block range index alone all that fit would be gathered and sorted. So
 * it is searched for by the index, in windows of ids that double until there is any, and are halved
 * until it is near; from there on windows are read until there are enough. An id is asked for as an
 * expression (`id + 0`), as the index has it and no other; and all of a window (`offset 0`), since
 * for the first of it the planner would walk.
 */
export function firstInWindows(rows: Rows): Fragment {
  const { within, roughly, fits, isDescending, after, count } = rows
  const [alias, from, id] = [raw(rows.alias), raw(rows.from), raw(rows.id)]
  const [near, far] = isDescending ? ['max', 'min'] : ['min', 'max']
  const window = sql`
        select * from ${from} where ${within} and ${roughly} and ${isInside(rows)} offset 0`
  return sql`
    with recursive edge as materialized (
      select (select ${raw(near)}(${id}) from ${from} where ${within} ${after}) as first,
        (select ${raw(far)}(${id}) from ${from} where ${within}) as last),
    search (passed, width, is_met) as (
      select 0::bigint, ${smallest}::bigint, false
      union all
      select s.passed + case when p.is_here then 0 else p.width end,
        case when s.is_met or p.is_here then p.width else 2 * p.width end, s.is_met or p.is_here
      from search s cross join edge e
      cross join lateral (select case when s.is_met then s.width / 2 else s.width end as width) w
      cross join lateral (${bounds(rows, 's.passed', 's.passed + w.width')}) n
      cross join lateral (select w.width, exists (${window}) as is_here offset 0) p
      where case when s.is_met then s.width > ${smallest}
        else s.passed <= abs(e.last - e.first) end),
    place as materialized (
      select passed from search where is_met order by width limit 1)
    select f.id from edge e cross join place p
    cross join lateral (
      select p.passed + ${smallest} * ((1::bigint << n) - 1) as near,
        p.passed + ${smallest} * ((1::bigint << (n + 1)) - 1) as far
      from generate_series(0, ${mostSteps}) n
      where p.passed + ${smallest} * ((1::bigint << n) - 1) <= abs(e.last - e.first)) w
    cross join lateral (${bounds(rows, 'w.near', 'w.far')}) n
    cross join lateral (
      select ${id} as id from (
        select * from (${window}) ${alias}
        order by ${id} ${raw(isDescending ? 'desc' : 'asc')} offset 0) ${alias}
      where ${fits} limit ${count}) f
    limit ${count}`
}

/**
 * The ids as far from the first as from one distance up to another, in the order of the list: the
 * first of them, and the one behind the last. Worked out once, and not for each row.
 */
const bounds = ({ isDescending }: Rows, begin: string, end: string) => {
  const sign = isDescending ? '-' : '+'
  return raw(
    `select e.first ${sign} (${begin}) as begin, e.first ${sign} (${end}) as behind offset 0`,
  )
}

const isInside = ({ id, isDescending }: Rows) =>
  raw(
    isDescending
      ? `(${id} + 0) <= n.begin and (${id} + 0) > n.behind`
      : `(${id} + 0) >= n.begin and (${id} + 0) < n.behind`,
  )
