import sql, { empty, join, raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The smallest amount of a currency with so many decimals: 0.01. */
export const centOf = (decimals: number) =>
  decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`

/** The number of cents in a unit of the currency; multiplying by it is cheaper than dividing. */
const centsIn = (decimals: number) => '1'.padEnd(decimals + 1, '0')

/**
 * The columns that withComponents needs in rows g: each component's share of the gross amount,
 * rounded down. They stand before the other columns.
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

// Multiplying a percentage by 0.01 is exact; dividing it by 100 would round.
const exactly = (percentage: string) => sql`g.gross * (${percentage}::numeric * 0.01)`

/**
 * Shares the gross amount of rows g among the tax components by their percentages, to the last
 * cent. Each share is rounded down, and the cents that are left go to the largest remainders; among
 * equal remainders the first component comes first. The SQL is written out for each component,
 * because it runs for up to a million accounts: a function with loops took longer than all the rest
 * of a declaration. `offset 0` is a fence, as in entitlement.ts. There are as few fences as
 * possible, because each costs as much as two of the figures.
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

/** How many remainders come before this one: larger ones, and equal ones of earlier components. */
const placeOf = (own: number, all: readonly number[]) =>
  all
    .filter((other) => other !== own)
    .map((other) => `(remainder_${other} ${other < own ? '>=' : '>'} remainder_${own})::int`)
    .join(' + ')
