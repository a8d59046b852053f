import sql, { join, raw } from 'sql-template-tag'
import type { Fragment } from './handle.ts'

type Value = string | number | boolean | null | undefined

/** A row by its columns. Whole numbers are JavaScript numbers; values of type numeric stay text. */
export type RowOf<Types> = { readonly [Column in keyof Types]?: ValueOf<Types[Column]> }
type ValueOf<Type> =
  | null
  | undefined
  | (string extends Type
      ? Value
      : Type extends 'smallint' | 'int' | 'bigint'
        ? number
        : Type extends 'boolean'
          ? boolean
          : string)

/**
 * Passes rows from Node to an SQL statement as a table, with one array parameter per column.
 * PostgreSQL reads these arrays more than twice as fast as the same rows as JSON, and this module
 * writes them more than twice as fast as the driver would.
 */
export function recordset<const Types extends Readonly<Record<string, string>>>(
  alias: string,
  rows: readonly RowOf<NoInfer<Types>>[],
  types: Types,
): Fragment {
  return recordsetOf(alias, types, arraysOf(rows, Object.keys(types)))
}

/** As recordset, from ready array literals, one per column, or from their symbols (see form.ts). */
export function recordsetOf(
  alias: string,
  types: Readonly<Record<string, string>>,
  arrays: readonly (string | null | symbol)[],
): Fragment {
  const columns = Object.entries(types)
  const typed = columns.map(([, type], place) => sql`${arrays[place]}::${raw(type)}[]`)
  const names = columns.map(([name]) => `"${name}"`).join(', ')
  return sql`unnest(${join(typed)}) ${raw(alias)} (${raw(names)})`
}

/** Turns rows into array literals, one per column. */
export const arraysOf = <Row extends Readonly<Record<string, Value>>>(
  rows: readonly Row[],
  columns: readonly string[],
): (string | null)[] =>
  columns.map((name, place) => {
    const values = rows.map((row) => row[name])
    return arrayLiteral(values, place === 0)
  })

/**
 * Gives null for a column without any value, except for the first column (`always`): unnest takes
 * the number of rows from its array.
 */
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
