import sql, { join, raw } from 'sql-template-tag'
import type { Fragment } from './handle.ts'

type Value = string | number | boolean | null | undefined

/**
 * Rows from this process as a table in a statement, by the columns and types given: an array for
 * each column, side by side. PostgreSQL reads that more than twice as fast as the same as JSON, and
 * we write it more than twice as fast as the driver would.
 */
export function recordset<Column extends string>(
  alias: string,
  rows: readonly { readonly [column in NoInfer<Column>]?: Value }[],
  types: Readonly<Record<Column, string>>,
): Fragment {
  const columns = Object.entries(types) as [Column, string][]
  const arrays = columns.map(([name, type], place) => {
    const values = rows.map((row) => row[name])
    return sql`${arrayLiteral(values, place === 0)}::${raw(type)}[]`
  })
  const names = columns.map(([name]) => `"${name}"`).join(', ')
  return sql`unnest(${join(arrays)}) ${raw(alias)} (${raw(names)})`
}

/** A column without any value is no array; the first is, and tells how many rows there are. */
function arrayLiteral(values: readonly Value[], always: boolean): string | null {
  let literal = ''
  let isEmpty = true
  for (const value of values) {
    if (value !== null && value !== undefined) isEmpty = false
    literal += literal === '' ? element(value) : `,${element(value)}`
  }
  return isEmpty && !always ? null : `{${literal}}`
}

function element(value: Value): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value !== 'string') return `${value}`
  return /[\\"]/.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : `"${value}"`
}
