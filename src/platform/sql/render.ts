import sql, { raw } from 'sql-template-tag'
import type { TObject, TSchema } from 'typebox'
import { isOneValue, ownNode } from '../shape/keywords.ts'
import type { Fragment, Sql } from './handle.ts'
import { byProduct, inOneProduct } from './spread.ts'

/** JSON as PostgreSQL rendered it: what fills the envelope. */
export type Answer<Json extends string | Buffer = string> = {
  json: Json
  recordCount: number
  message?: string
  /** What stands beside the data at the top level. */
  beside?: Readonly<Record<string, string | number>>
  /** Taken on and not done yet: the answer is 202. */
  accepted?: true
}

/** What is answered: a long list is bytes that nobody looks into; see bytes.ts. */
export type Shown = Answer<string | Buffer>

export const nothingFound: Answer = { json: '[]', recordCount: 0 }
export const nothingLeft: Answer = { json: 'null', recordCount: 0 }

/** bizEntityID is stored as biz_entity_id. */
export const columnOf = (field: string) =>
  field
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()

/** A field of a record: its API name, where it comes from, and how that gets into JSON. */
export type Field = { name: string; source: string; notation: Notation }
/**
 * As it stands; as a number, or one that is read and not worked out; in quotes; or as a text that
 * may have anything in it. A piece has the JSON of several fields, with their names.
 */
type Notation = 'plainly' | 'number' | 'read number' | 'quoted' | 'escaped' | 'piece'

/** Where the text of a field's JSON comes from: made there, once for the many rows that have it. */
type Ready = { json: string }

/**
 * The fields of a record, in its order. Made once per resource, at start: they depend on nothing a
 * request brings. `elsewhere` says where the fields come from that are not its own columns; with
 * some of them `ready`, the rows of a select are for `ofFields` alone.
 */
export const shownFields = (
  schema: TObject,
  alias: string,
  elsewhere: Record<string, string | Ready> = {},
): readonly Field[] =>
  Object.entries(schema.properties)
    .filter(([name, field]) => name in elsewhere || isOneValue(ownNode(field)))
    .map(([name, field]) => {
      const column = elsewhere[name] ?? `${alias}.${columnOf(name)}`
      if (typeof column !== 'string') return { name, source: column.json, notation: 'plainly' }
      return { name, source: shownAs(field, column), notation: notationOf(field) }
    })

/** The fields of a record from one on to another: those of a piece. */
export function stretch(fields: readonly Field[], first: string, last: string): readonly Field[] {
  const place = (wanted: string) => fields.findIndex(({ name }) => name === wanted)
  return fields.slice(place(first), place(last) + 1)
}

/** Their JSON as one text, made where they are read: once for the many rows that have them. */
export const pieceOf = (fields: readonly Field[]): Fragment => raw(`concat(${partsOf(fields)})`)

/** A record of which some fields are found ready in columns that are named for the pieces. */
export const inPieces = (
  fields: readonly Field[],
  alias: string,
  pieces: Record<string, readonly Field[]>,
): readonly Field[] =>
  fields.flatMap((field): Field[] => {
    const [name, own] = Object.entries(pieces).find(([, some]) => some.includes(field)) ?? []
    if (!name) return [field]
    return field === own?.[0] ? [{ name, source: `${alias}.${name}`, notation: 'piece' }] : []
  })

/** A text's JSON, made where it is read. */
export const jsonText = (source: string) => `to_json(${source})::text`

/** A select of records whose fields may be known: their JSON is then made from them. */
export type Selected = Fragment & { fields?: readonly Field[] }

/** Says what fields the rows of a select have. */
export const ofFields = (fields: readonly Field[], select: Fragment): Selected =>
  Object.assign(select, { fields })

/** The select list of fields, each under its API name. */
export const listed = (fields: readonly Field[]): Fragment =>
  raw(fields.map(({ name, source }) => `${source} as "${name}"`).join(', '))

export const columns = (
  schema: TObject,
  alias: string,
  elsewhere: Record<string, string> = {},
): Fragment => listed(shownFields(schema, alias, elsewhere))

/** How a column is shown, by its field's schema. */
function shownAs(field: TSchema, column: string): string {
  const { format, decimal, encrypted } = ownNode(field)
  if (encrypted) return maskOf(column)
  if (format === 'date-time') return utc(column)
  return decimal ? `trim_scale(${column})` : column
}

function notationOf(field: TSchema): Notation {
  const { type, format, decimal } = ownNode(field)
  if (format === 'date-time') return 'quoted'
  if (decimal || type === 'integer') return 'number'
  return type === 'boolean' ? 'plainly' : 'escaped'
}

/**
 * A record as the text of its JSON, the same that to_json of a row of these fields writes: that
 * finds out anew for every value of every row how its type is written, which takes half its time.
 */
export const recordOf = (fields: readonly Field[]): Fragment =>
  raw(`concat(${partsOf(fields, '{')}, '}')`)

/** What is written of fields, one behind another, with something before them. */
const partsOf = (fields: readonly Field[], first = '') =>
  fields
    .map((field, i) => {
      const before = i === 0 ? first : ','
      return field.notation === 'piece'
        ? `'${before}', ${field.source}`
        : `'${before}"${field.name}":', ${jsonOf(field)}`
    })
    .join(', ')

/** A record as the JSON of its values alone, one behind another in the order of the fields. */
export const valuesOf = (fields: readonly Field[]): Fragment =>
  raw(`concat(${fields.map((field) => `${textOf(field)}, E'\\x1f'`).join(', ')})`)

/** The record of such values; of null there is nothing. No JSON has the mark between them in it. */
export function recordOfValues(names: readonly string[], values: string): string {
  const parts = values.split('\x1f')
  let record = ''
  for (const [i, name] of names.entries())
    record += `${i === 0 ? '{' : ','}"${name}":${parts[i] || 'null'}`
  return `${record}}`
}

/** As recordOf, of a row r of a select, in which the fields have their API names; or of any row. */
export const recordOfRow = ({ fields }: Selected): Fragment =>
  fields ? recordOf(fields.map(readFrom)) : raw('to_json(r)')

/** The same as a text, whatever the row is of. */
export const textOfRow = (select: Selected): Fragment => sql`(${recordOfRow(select)})::text`

const readFrom = ({ name, notation }: Field): Field => ({
  name,
  source: `r."${name}"`,
  notation: notation === 'number' ? 'read number' : notation,
})

/** Records as the text of an array, as json_agg writes it; in an order, where one is given. */
export const arrayOfRecords = (record: Fragment, order = ''): Fragment =>
  sql`coalesce('[' || string_agg(${record}, E', \\n '${raw(order)}) || ']', '[]')`

/** Where a number may be named twice, none is made a text of before it is written. */
const jsonOf = (field: Field) =>
  field.notation === 'read number'
    ? `${field.source}, case when ${field.source} is null then 'null' end`
    : `coalesce(${textOf(field)}, 'null')`

function textOf({ source, notation }: Field): string {
  if (notation === 'quoted') return `'"' || ${source} || '"'`
  return notation === 'escaped' ? jsonText(source) : `${source}::text`
}

/** The column beside a sealed one, with what answers show of it. */
export const maskOf = (column: string) => `${column}_mask`

/** The column beside a sealed one, by which its record is found. */
export const digestOf = (column: string) => `${column}_digest`

/** The column beside a sealed one that tells whether it looks wrong: nobody has to open it. */
export const doubtOf = (column: string) => `${column}_doubt`

/** Of a bank number in a column the last three characters only, and nothing of a short one. */
export const lastThree = (column: string) => `case when length(${column}) <= 3
  then repeat('*', length(${column}))
  else repeat('*', length(${column}) - 3) || right(${column}, 3) end`

/** A moment as the API writes it. */
export const utc = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

/** The rows of a select as a nested array. */
export const many = (select: Fragment): Fragment =>
  sql`(select coalesce(json_agg(r), '[]') from (${select}) r)`

/** The one row of a select as a nested object; null where there is none. */
export const one = (select: Fragment): Fragment => sql`(select to_json(r) from (${select}) r)`

export async function render(handle: Sql, select: Fragment): Promise<Answer> {
  const [row] = await handle.query<{ json: string; count: number }>(sql`
    select coalesce(json_agg(r), '[]')::text as json, count(*)::int as count from (${select}) r`)
  return { json: row!.json, recordCount: row!.count }
}

/** For the few answers that carry an object rather than an array. */
export async function renderOne(handle: Sql, select: Fragment): Promise<Answer | undefined> {
  const [row] = await handle.query<{ json: string }>(
    sql`select to_json(r)::text as json from (${select}) r`,
  )
  return row && { json: row.json, recordCount: 1 }
}

type Key = { productID: number; id: number }

/** Records of the ledger, read product by product and put together by their key. */
export async function renderByProduct(
  handle: Sql,
  keys: readonly Key[],
  field: string,
  select: (productID: number, ids: number[]) => Fragment,
): Promise<Answer> {
  const rows: { id: number; json: string }[] = []
  for (const [productID, own] of byProduct(keys)) {
    const ids = own.map(({ id }) => id)
    const shown = sql`
      select r.${raw(`"${field}"`)} as id, to_json(r)::text as json
      from (${select(productID, ids)}) r`
    rows.push(...(await handle.query<(typeof rows)[number]>(inOneProduct(shown, productID))))
  }
  const inOrder = rows.sort((a, b) => a.id - b.id).map(({ json }) => json)
  return { json: arrayOf(inOrder), recordCount: rows.length }
}

/** As PostgreSQL writes an array of records. */
export const arrayOf = (records: readonly string[]) => `[${records.join(', \n ')}]`
