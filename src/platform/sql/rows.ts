import sql, { empty, join, raw } from 'sql-template-tag'
import type { TObject } from 'typebox'
import { documentText } from '../shape/document.ts'
import { isScalar, type Node, ownNode } from '../shape/keywords.ts'
import type { Fragment, Sql, Tx } from './handle.ts'
import { recordset } from './recordset.ts'
import { columnOf, digestOf, doubtOf, maskOf } from './render.ts'
import { atItem } from './violation.ts'

/**
 * Every resource writes its rows through this file. A table is defined from the schema of its
 * record, so a new field is one line in schema.ts and one column in a migration. `rowFrom` makes a
 * row from a request, `loadRows` reads stored rows, `put` writes the differences.
 */
export type Table = {
  name: string
  /** The column that identifies a row for changes and deletions. */
  key: string
  columns: readonly Column[]
} & Ways

/** How the rows of a table are to be written. */
type Ways = {
  /** A table of the ledger: every SQL statement must name the one product of its rows. */
  inProduct?: boolean | undefined
  /**
   * A unique column; rows are inserted in its order, so that concurrent inserts of the same values
   * seldom deadlock. Where the constraint is deferrable, PostgreSQL waits only at the end of the
   * SQL statement, in whichever order; such a deadlock is retried.
   */
  inOrderOf?: string | undefined
  /** The table has an updated_date, which every change sets. */
  updatedDate?: boolean | undefined
  /** A unique constraint whose value a concurrent request may take first: see lostRace. */
  contested?: string | undefined
  /**
   * Refuses every new row whose unique value is taken: the database would report the first one
   * only.
   */
  refuseTaken?: ((tx: Tx, rows: readonly Row[], pathOf: PathOf) => Promise<void>) | undefined
  /** The row's content is kept before each change and deletion, for reads of the past. */
  keepsVersions?: boolean | undefined
}

type Column = {
  name: string
  type: string
  /** The record's field that the column holds; undefined for a column that is no field. */
  field?: string
  /** The value stored where a record leaves the field out. */
  absent: Value
  /** A replacement that leaves the field out keeps the stored value. */
  stays?: boolean
  sealed?: boolean
  findable?: boolean
  /** Whether a value of a findable column looks wrong. */
  doubt?: (value: string) => boolean
  /** Whether a value of a findable column is a code in a number's place. */
  standIn?: (value: string) => boolean
  /** The schema of a value that is a document. */
  document?: Node
}

type Value = string | number | boolean | null

/** A list of words as PostgreSQL writes it, so that two lists compare as texts. */
export const listText = (words: readonly string[]) => `{${words.join(',')}}`

/** A row by its column names, as PostgreSQL returns and accepts it; decimals and dates are text. */
export type Row = Record<string, Value>

type Definition = Ways & {
  key: string
  /** The record's schema: its scalar fields and its documents are the columns. */
  record: TObject
  /** Columns that are no field of the record, with their types. */
  others?: Record<string, string>
}

export function defineTable(name: string, { key, record, others = {}, ...ways }: Definition) {
  const own = Object.entries(record.properties).flatMap(([field, schema]) =>
    columnsFor(field, ownNode(schema)),
  )
  const more = Object.entries(others).map(([column, type]) => otherColumn(column, type))
  return { name, key, columns: [...own, ...more], ...ways } satisfies Table as Table
}

function columnsFor(field: string, node: Node): Column[] {
  const stays = Boolean(node.clearable)
  if (node.document) {
    const absent = node.items ? '[]' : null
    return [{ name: columnOf(field), type: 'json', field, absent, stays, document: node }]
  }
  if (!isScalar(node)) return []
  const type = typeOf(node)
  const absent = node.default ?? absentOf(type)
  const column = { name: columnOf(field), type, field, absent, stays }
  if (!node.encrypted) return [column]
  const { findable = false, doubt = () => false, standIn = () => false } = node
  return [
    { ...column, sealed: true, findable, doubt, standIn },
    otherColumn(maskOf(column.name), 'text'),
    ...(findable ? besideFindable(column.name) : []),
  ]
}

const otherColumn = (name: string, type: string): Column => ({
  name,
  type,
  absent: absentOf(type),
})

/** The additional columns of a sealed number that can be searched for. */
export const besideFindable = (name: string): Column[] => [
  otherColumn(digestOf(name), 'text'),
  { name: doubtOf(name), type: 'boolean', absent: null },
]

/** A flag that is not given is false; any other field is null. */
const absentOf = (type: string) => (type === 'boolean' ? false : null)

function typeOf({ type, format, decimal }: Node): string {
  if (decimal) return 'numeric'
  if (type === 'integer') return 'integer'
  if (type === 'boolean') return 'boolean'
  return format === 'date' ? 'date' : 'text'
}

/**
 * Turns a record into the row to store; `others` are values for the columns that are no field of
 * it, `before` is the row that it replaces.
 */
export const rowFrom = (
  { columns }: Table,
  record: object,
  others: Row = {},
  before?: Row,
): Row => ({
  ...Object.fromEntries(
    columns.map(({ name, field, absent, stays, document }) => {
      const value = field === undefined ? undefined : (record as Row)[field]
      const given = document && value ? documentText(document, value) : value
      const stored = stays ? before?.[name] : undefined
      return [name, given ?? (given === undefined ? stored : undefined) ?? absent]
    }),
  ),
  ...others,
})

/** Turns a row back into its record, for rules that check records. */
export const recordFrom = ({ columns }: Table, row: Row): Record<string, unknown> =>
  Object.fromEntries(
    columns.flatMap(({ name, field }) => (field === undefined ? [] : [[field, row[name]]])),
  )

/** The columns of the fields that a record gives, for updates that leave the others alone. */
export const givenColumns = ({ columns }: Table, record: object): Row =>
  Object.fromEntries(
    columns.flatMap(({ name, field }) => {
      const value = field === undefined ? undefined : (record as Row)[field]
      return value === undefined ? [] : [[name, value]]
    }),
  )

export const sameRow = ({ columns }: Table, a: Row, b: Row): boolean =>
  columns.every(({ name }) => (a[name] ?? null) === (b[name] ?? null))

/**
 * How a column is selected for a row: decimals in their shortest form, documents and lists as
 * texts, so that values can be compared.
 */
const readAs: Record<string, (column: string) => string> = {
  numeric: (column) => `trim_scale(${column})`,
  json: (column) => `${column}::text`,
  'text[]': (column) => `${column}::text`,
}

/** The columns of a table for a select that yields its rows. */
export const rowColumns = ({ columns }: Table, alias: string): Fragment =>
  raw(
    columns
      .map(({ name, type }) =>
        type in readAs ? `${readAs[type]!(`${alias}.${name}`)} as ${name}` : `${alias}.${name}`,
      )
      .join(', '),
  )

/** The rows with these keys, as they are now. */
export async function loadRows(handle: Sql, table: Table, ids: readonly number[]): Promise<Row[]> {
  if (ids.length === 0) return []
  return handle.query<Row>(selectRows(table, ids))
}

/** The row with this key, locked against concurrent writers; undefined if it is gone. */
export async function lockRow(
  tx: Tx,
  table: Table,
  id: number,
  /** `no key update` does not block writers of records that refer to this row. */
  strength: 'update' | 'no key update' = 'update',
): Promise<Row | undefined> {
  const [row] = await tx.query<Row>(sql`${selectRows(table, [id])} for ${raw(strength)}`)
  return row
}

const selectRows = (table: Table, ids: readonly number[]) => sql`
  select ${rowColumns(table, 't')} from ${raw(table.name)} t
  where ${raw(`t.${table.key}`)} = any(${ids}::int[])`

/** New native ids for each of these tables, ascending, in one round trip. */
export async function newIDs(
  handle: Sql,
  wanted: readonly { table: Table; count: number }[],
): Promise<number[][]> {
  const names = wanted.map(({ table: { name, key } }) => `${name}_${key}_seq`)
  const counts = wanted.map(({ count }) => count)
  if (counts.every((count) => count === 0)) return wanted.map(() => [])
  const rows = await handle.query<{ place: number; id: number }>(sql`
    select w.place::int, nextval(w.name::regclass)::int as id
    from unnest(${names}::text[], ${counts}::int[]) with ordinality w (name, count, place)
    cross join lateral generate_series(1, w.count)`)
  const ids = wanted.map((): number[] => [])
  for (const { place, id } of rows) ids[place - 1]!.push(id)
  for (const list of ids) list.sort((a, b) => a - b)
  return ids
}

/**
 * The error for a write that another request overtook: its code makes the unit of work start again,
 * and it then finds the other request's rows.
 */
export const lostRace = (table: string) =>
  Object.assign(new Error(`Another request changed the same ${table} first.`), { code: '40001' })

/**
 * Writes one row: inserts it if there is no `before`, updates it if it differs. Returns its key,
 * which the database chooses where the row has none.
 */
export async function put(tx: Tx, table: Table, before: Row | undefined, row: Row) {
  if (!before) return (await insertRows(tx, table, [row]))[0]!
  if (!sameRow(table, before, row)) await updateRows(tx, table, [row])
  return row[table.key] as number
}

/** The place of a row in the request, for refusals: [3].communications[0]. */
export type PathOf = (row: Row) => string

/** Inserts rows in one SQL statement, whatever their number; returns their keys. */
export async function insertRows(
  tx: Tx,
  table: Table,
  rows: readonly Row[],
  pathOf?: PathOf,
): Promise<number[]> {
  if (rows.length === 0) return []
  const { name, key, columns, inOrderOf, contested, refuseTaken } = table
  if (pathOf) await refuseTaken?.(tx, rows, pathOf)
  // Where a row has no key yet, the column is left to its default.
  const isKeyed = rows[0]![key] !== null
  const written = columns.filter((column) => column.name !== key || isKeyed)
  const names = raw(written.map((column) => column.name).join(', '))
  const ordered = inOrderOf ? rows.toSorted((a, b) => compare(a[inOrderOf], b[inOrderOf])) : rows
  const isFew = rows.length <= fewRows && (await tx.isSpread())
  const added = await tx
    .query<Row>(sql`
      insert into ${raw(name)} (${names})
      ${isFew ? listed(written, ordered) : selected(written, ordered)}
      ${isKeyed ? empty : raw(`returning ${key}`)}`)
    .catch((error) => {
      throw contested && error.constraint === contested
        ? lostRace(name)
        : atItem(error, rows, pathOf)
    })
  return (isKeyed ? rows : added).map((row) => row[key] as number)
}

/**
 * Up to this many rows an insert on Citus uses `values`: an insert from a select locks out all
 * other writers of a reference table. Beyond it `values` does not pay, since each number of rows is
 * an SQL text of its own.
 */
const fewRows = 20

const listed = (columns: readonly Column[], rows: readonly Row[]): Fragment =>
  sql`values ${join(rows.map((row) => sql`(${join(columns.map((column) => row[column.name]))})`))}`

const selected = (columns: readonly Column[], rows: readonly Row[]): Fragment =>
  sql`select ${raw(columns.map(valueIn).join(', '))} from ${given(columns, rows)}`

/** Updates existing rows in one SQL statement. */
export async function updateRows(
  tx: Tx,
  table: Table,
  rows: readonly Row[],
  pathOf?: PathOf,
): Promise<void> {
  if (rows.length === 0) return
  const { name, key, columns, updatedDate, inProduct } = table
  const set = columns
    .filter((column) => column.name !== key && !(inProduct && column.name === 'product_id'))
    .map((column) => `${column.name} = r.${column.name}`)
  if (updatedDate) set.push('updated_date = m.moment')
  const hasLists = columns.some(({ type }) => isList(type))
  const product = inProduct ? sql`and t.product_id = ${rows[0]!.product_id}` : empty
  await keepVersions(
    tx,
    table,
    among(
      table,
      rows.map((row) => row[key] as number),
    ),
  )
  await tx
    .query(sql`
      ${hasLists ? withValues(columns, rows) : empty}
      update ${raw(name)} t set ${raw(set.join(', '))}
      from ${hasLists ? raw('r') : given(columns, rows)} ${updatedDate ? moment : empty}
      where ${raw(`t.${key} = r.${key}`)} ${product}`)
    .catch((error) => Promise.reject(atItem(error, rows, pathOf)))
}

/**
 * The clock as `m.moment`: Citus does not accept clock_timestamp() in the set list of an update.
 */
const moment = sql`cross join (select clock_timestamp() as moment) m`

const among = ({ key }: Table, ids: readonly number[]) =>
  sql`${raw(`t.${key}`)} = any(${ids}::int[])`

/**
 * Copies the present content of rows t, without sealed columns, to record_version with the moment
 * until which it held: for reads of the past.
 */
export async function keepVersions(tx: Tx, table: Table, which: Fragment) {
  const { name, key, columns, keepsVersions } = table
  if (!keepsVersions) return
  const sealed = columns.filter((column) => column.sealed).map((column) => column.name)
  await tx.query(sql`
    insert into record_version (table_name, record_id, valid_to, image)
    select ${name}::text, ${raw(`t.${key}`)}, m.moment, to_jsonb(t) - ${sealed}::text[]
    from ${raw(name)} t ${moment}
    where ${which}`)
}

export async function deleteRows(tx: Tx, table: Table, ids: readonly number[]) {
  if (ids.length === 0) return
  const { name, key } = table
  await keepVersions(tx, table, among(table, ids))
  await tx.query(sql`delete from ${raw(name)} where ${raw(key)} = any(${ids}::int[])`)
}

/**
 * Deletes a row; its `owned` rows go with it by foreign key (on delete cascade). Versions of the
 * owned rows are kept, too.
 */
export async function deleteWithOwned(tx: Tx, table: Table, id: number, owned: readonly Table[]) {
  for (const one of owned) await keepVersions(tx, one, sql`${raw(`t.${table.key}`)} = ${id}`)
  await deleteRows(tx, table, [id])
}

const given = (columns: readonly Column[], rows: readonly Row[]): Fragment => {
  const types = Object.fromEntries(
    columns.map(({ name, type }) => [name, isList(type) ? 'text' : type]),
  )
  return recordset('r', rows, types)
}

/**
 * The given rows as a materialized CTE with their lists already cast to arrays: Citus requires that
 * before an update uses them.
 */
const withValues = (columns: readonly Column[], rows: readonly Row[]): Fragment => {
  const values = columns.map((column) => `${valueIn(column)} as ${column.name}`)
  return sql`with r as materialized (select ${raw(values.join(', '))} from ${given(columns, rows)})`
}

const isList = (type: string) => type.endsWith('[]')
const valueIn = ({ name, type }: Column) => (isList(type) ? `r.${name}::${type}` : `r.${name}`)

/** Compares without letter case first, because some unique keys ignore it. */
function compare(a: unknown, b: unknown): number {
  const [left, right] = [String(a), String(b)]
  const [low, high] = [left.toLowerCase(), right.toLowerCase()]
  if (low !== high) return low < high ? -1 : 1
  return left < right ? -1 : 1
}
