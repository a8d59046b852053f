import sql, { empty, join, raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The smallest amount of a currency with so many decimals: 0.01. */
export const centOf = (decimals: number) =>
  decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`

/** How many of those a unit of the currency has: to multiply costs less than to divide. */
const centsIn = (decimals: number) => '1'.padEnd(decimals + 1, '0')

/**
 * What withComponents goes on from, of rows g with their gross amount, in front of their other
 * columns: each share rounded down.
 */
export const roundedDown = (percentages: readonly string[], decimals: number): Fragment =>
  percentages.length === 1
    ? empty
    : sql`${join(
        percentages.map(
          (percentage, i) =>
            sql`trunc(${exactly(percentage)}, ${decimals}::int) as ${raw(`part_${i}`)}`,
        ),
      )},`

// A percentage times 0.01 is exact; divided by 100 it would be rounded.
const exactly = (percentage: string) => sql`g.gross * (${percentage}::numeric * 0.01)`

/**
 * Rows g with their gross amount shared by the percentages of the tax components, to the last cent:
 * each share is rounded down, and the cents that are left go to the largest remainders, the first
 * of equals first. It is done for each of a million accounts, so it is written out for as many
 * components as there are: as a function with loops it took longer than all the rest of a
 * declaration. "offset 0" is a fence, as in entitlement.ts: as few of them as there can be, since
 * each costs as much as two of the figures.
 */
export function withComponents(
  rows: Fragment,
  percentages: readonly string[],
  decimals: number,
): Fragment {
  if (percentages.length === 1)
    return sql`select g.*, array[g.gross] as component_amounts from (${rows}) g`
  const all = percentages.map((_, i) => i)
  const parts = all.map((i) => `part_${i}`)
  const remainders = percentages.map(
    (percentage, i) =>
      sql`${exactly(percentage)} - ${raw(`part_${i}`)} as ${raw(`remainder_${i}`)}`,
  )
  const cent = centOf(decimals)
  const shares = all.map(
    (i) => sql`${raw(`part_${i}`)}
      + case when ${raw(placeOf(i, all))} < cents_left then ${cent}::numeric else 0 end`,
  )
  return sql`
    select g.*, case when cents_left = 0 then array[${raw(parts.join(', '))}]
      else array[${join(shares)}] end as component_amounts
    from (
      select g.*, ${join(remainders)},
        ((g.gross - (${raw(parts.join(' + '))})) * ${centsIn(decimals)}::numeric)::int as cents_left
      from (${rows}) g
      offset 0) g`
}

/** How many remainders come before this one: the larger ones, and of equals those in front. */
const placeOf = (own: number, all: readonly number[]) =>
  all
    .filter((other) => other !== own)
    .map((other) => `(remainder_${other} ${other < own ? '>=' : '>'} remainder_${own})::int`)
    .join(' + ')
