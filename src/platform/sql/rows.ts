import sql, { raw } from 'sql-template-tag'
import type { TObject } from 'typebox'
import { isScalar, type Node, ownNode } from '../shape/keywords.ts'
import type { Fragment, Sql, Tx } from './handle.ts'
import { recordset } from './recordset.ts'
import { columnOf, maskOf } from './render.ts'

/** A table as writes see it: the columns of a record's own fields, made from its schema. */
export type Table = {
  name: string
  /** The column its rows are found by when they change or go. */
  key: string
  columns: readonly Column[]
  /** A unique column whose order rows are added in: writers that meet there meet in one order. */
  inOrderOf?: string | undefined
  /** Set at every change, where the table keeps one. */
  updatedDate?: boolean | undefined
  /** A unique column where another request may come first: see lostRace. */
  contested?: string | undefined
}
type Column = { name: string; type: string; field?: string; sealed?: boolean }

/** A row by its columns: what PostgreSQL gives back and takes, decimals and dates as text. */
export type Row = Record<string, string | number | boolean | null>

type Options = Pick<Table, 'inOrderOf' | 'updatedDate' | 'contested'>

/** `more` lists columns that are no field of the record, with their types. */
export function tableOf(
  name: string,
  key: string,
  schema: TObject,
  more: Record<string, string> = {},
  options: Options = {},
): Table {
  const own = Object.entries(schema.properties).flatMap(([field, fieldSchema]): Column[] => {
    const node = ownNode(fieldSchema)
    if (!isScalar(node)) return []
    const column = { name: columnOf(field), type: typeOf(node), field }
    if (!node.encrypted) return [column]
    return [
      { ...column, sealed: true },
      { name: maskOf(column.name), type: 'text' },
    ]
  })
  const others = Object.entries(more).map(([column, type]) => ({ name: column, type }))
  return { name, key, columns: [...own, ...others], ...options }
}

function typeOf({ type, format, decimal }: Node): string {
  if (decimal) return 'numeric'
  if (type === 'integer') return 'integer'
  if (type === 'boolean') return 'boolean'
  return format === 'date' ? 'date' : 'text'
}

/** A record as a row: what is absent is null, a flag that is absent is false. */
export const rowOf = ({ columns }: Table, record: object, more: Row = {}): Row => ({
  ...Object.fromEntries(
    columns.map(({ name, type, field }) => [
      name,
      (field && (record as Row)[field]) ?? (type === 'boolean' ? false : null),
    ]),
  ),
  ...more,
})

/** The columns that a record gives, for updates that leave the others as they are. */
export const givenColumns = ({ columns }: Table, record: object): Row =>
  Object.fromEntries(
    columns.flatMap(({ name, field }) => {
      const value = field === undefined ? undefined : (record as Row)[field]
      return value === undefined ? [] : [[name, value]]
    }),
  )

export const sameRow = ({ columns }: Table, a: Row, b: Row): boolean =>
  columns.every(({ name }) => (a[name] ?? null) === (b[name] ?? null))

/** The columns of a table for a select that yields its rows. Decimals in their shortest form. */
export const rowColumns = ({ columns }: Table, alias: string): Fragment =>
  raw(
    columns
      .map(({ name, type }) =>
        type === 'numeric' ? `trim_scale(${alias}.${name}) as ${name}` : `${alias}.${name}`,
      )
      .join(', '),
  )

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

/** Another request came first: the write starts again, and then finds what the other left. */
export const lostRace = (table: string) =>
  Object.assign(new Error(`Another request changed the same ${table} first.`), { code: '40001' })

/** Adds rows in one statement, whatever their number. */
export async function insertRows(tx: Tx, table: Table, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const { name, columns, inOrderOf, contested } = table
  const names = raw(columns.map((column) => column.name).join(', '))
  const ordered = inOrderOf ? rows.toSorted((a, b) => compare(a[inOrderOf], b[inOrderOf])) : rows
  const conflict = contested ? raw(`on conflict (${contested}) do nothing`) : raw('')
  const added = await tx.query(sql`
    insert into ${raw(name)} (${names})
    select ${names} from ${given(table, ordered)} ${conflict} returning true`)
  if (added.length < rows.length) throw lostRace(name)
}

/** Replaces the columns of rows that are there, in one statement. */
export async function updateRows(tx: Tx, table: Table, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const { name, key, columns, updatedDate } = table
  const set = columns
    .filter((column) => column.name !== key)
    .map((column) => `${column.name} = r.${column.name}`)
  if (updatedDate) set.push('updated_date = clock_timestamp()')
  await tx.query(sql`
    update ${raw(name)} t set ${raw(set.join(', '))}
    from ${given(table, rows)} where ${raw(`t.${key} = r.${key}`)}`)
}

export async function deleteRows(tx: Tx, { name, key }: Table, ids: readonly number[]) {
  if (ids.length === 0) return
  await tx.query(sql`delete from ${raw(name)} where ${raw(key)} = any(${ids}::int[])`)
}

const given = ({ columns }: Table, rows: readonly Row[]): Fragment => {
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]))
  return recordset('r', rows, types)
}

/** Letter case last, since some unique keys do not look at it. */
function compare(a: unknown, b: unknown): number {
  const [left, right] = [String(a), String(b)]
  const [low, high] = [left.toLowerCase(), right.toLowerCase()]
  if (low !== high) return low < high ? -1 : 1
  return left < right ? -1 : 1
}
