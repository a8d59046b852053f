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

/** So many ids are looked through first, and twice as many with every step. */
const firstWindow = 16_384
/** As many steps as there can be ids for. */
const mostSteps = 44

/**
 * The first ids of rows that fit, however far the first of them is. To walk up to it would cost what
 * there is before; by a block range index alone all that fit would be gathered and sorted. So the
 * ids are looked through in windows, each by the index, until there are enough. An id is asked for
 * as an expression (`id + 0`), as the index has it and no other.
 */
export function firstInWindows(rows: Rows): Fragment {
  const { within, roughly, fits, isDescending, after, count } = rows
  const [alias, from, id] = [raw(rows.alias), raw(rows.from), raw(rows.id)]
  const order = raw(isDescending ? 'desc' : 'asc')
  const [edge, first] = [raw(isDescending ? 'min' : 'max'), raw(isDescending ? 'max' : 'min')]
  const window = isDescending
    ? sql`(${id} + 0) <= e.first - w.passed and (${id} + 0) > e.first - w.reached`
    : sql`(${id} + 0) >= e.first + w.passed and (${id} + 0) < e.first + w.reached`
  return sql`
    select f.id from (
      select (select ${first}(${id}) from ${from} where ${within} ${after}) as first,
        (select ${edge}(${id}) from ${from} where ${within}) as last) e
    cross join lateral (
      select ${firstWindow} * ((1::bigint << n) - 1) as passed,
        ${firstWindow} * ((1::bigint << (n + 1)) - 1) as reached
      from generate_series(0, ${mostSteps}) n
      where ${firstWindow} * ((1::bigint << n) - 1) <= abs(e.last - e.first)) w
    cross join lateral (
      select ${id} as id from (
        select * from ${from} where ${within} and ${window} and ${roughly} offset 0) ${alias}
      where ${fits} order by ${id} ${order} limit ${count}) f
    limit ${count}`
}
