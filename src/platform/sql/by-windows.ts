import sql, { raw } from 'sql-template-tag'
import type { Fragment } from './handle.ts'

/** Rows of a table, sorted by an id that grows. */
type Rows = {
  /** The alias of the rows, and the FROM item they come from. */
  alias: string
  from: string
  id: string
  /** Which rows to search: an index has them in the order of the id. */
  within: Fragment
  /**
   * The conditions that a block range (BRIN) index can check; no other index may have these
   * columns.
   */
  roughly: Fragment
  /** The condition that the rows must meet. */
  fits: Fragment
  isDescending: boolean
  /** The id behind which to begin. */
  after: Fragment
  count: number
}

/** The smallest window, in ids. */
const smallest = 16_384
/** Enough doublings of the smallest window to cover all ids. */
const mostSteps = 44

/**
 * The ids of the first rows that fit, however far away the first of them is. Walking there through
 * the ordinary index costs time for every row in between; the BRIN index alone would have all
 * fitting rows gathered and sorted. Therefore the BRIN index searches windows of ids, which double
 * until one has a fitting row and are then halved until that row is near. From there windows are
 * read until there are enough rows.
 *
 * The id is written as an expression (`id + 0`), which only the BRIN index contains. Each window
 * has `offset 0`: for the first row of it, the planner would otherwise walk the ordinary index.
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
 * The window between two distances from the first id, in the direction of the list: its first id,
 * and the id behind its last one. The `offset 0` has it computed once, not for each row.
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
