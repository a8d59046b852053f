import sql, { empty, join, raw } from 'sql-template-tag'
import { invalid } from '../refusal.ts'
import { isDate } from '../shape/dates.ts'
import { type Records, recordsColumn } from './bytes.ts'
import type { Fragment, Sql } from './handle.ts'
import { type Answer, arrayOf, recordOfRow, type Selected, textOfRow } from './render.ts'
import { inOneProduct } from './spread.ts'

/** What a request may say about the page it wants. */
export type PageQuery = {
  PageNumber?: number
  PageSize?: number
  Cursor?: string
  Order?: 'asc' | 'desc'
  IncludeTotal?: boolean
}

export const defaultPageSize = 100

/** Query parameters of a list that do not filter its records. */
export const neutral =
  /^(ProductID|ExternalProductId|Page\w+|Cursor|Order|IncludeTotal|ShowClosing)$/

/** The values of a list's sort key in one record: whole numbers, or a day. */
type Key = readonly (number | string)[]

declare const fromRenderPage: unique symbol

/**
 * Which rows of a list are wanted. Only renderPage creates this type, so every list has cursors.
 */
export type Wanted = {
  readonly [fromRenderPage]: true
  readonly isWhole: boolean
  readonly isDescending: boolean
  readonly size: number
  readonly skip: bigint
  /** The key of the record before the first that is wanted. */
  readonly after: Key | undefined
  /** The select covers one product only; the parts of several products are merged in inParts. */
  readonly isPart?: boolean
  /** The query has no filter except the product. */
  readonly isPlain: boolean
}

/** The products whose rows a list of the ledger may show. */
export type LedgerScope = {
  /** The condition that keeps the rows within these products. */
  within: Fragment
  /** The same condition for one of the products. */
  isOf: (productID: number) => Fragment
  /** A select of the products' ids. */
  products: Fragment
  /** The product, where the scope is known to have exactly one. */
  only?: number | undefined
}

/** The scope of one known product. */
export const ofProduct = (column: string, productID: number): LedgerScope => {
  const isOf = (id: number) => sql`${raw(column)} = ${id}`
  const products = sql`select ${productID}::int as product_id`
  return { within: isOf(productID), isOf, products, only: productID }
}

/** The product of a scope with exactly one product, otherwise undefined. */
export async function onlyProduct(handle: Sql, { products, only }: LedgerScope) {
  if (only !== undefined) return only
  const found = await handle.query<{ product_id: number }>(sql`${products} limit 2`)
  return found.length === 1 ? found[0]!.product_id : undefined
}

/** Narrows a scope to `only`, where that is defined. */
export const ofOnly = (scope: LedgerScope, only: number | undefined): LedgerScope =>
  only === undefined ? scope : { ...scope, within: scope.isOf(only) }

type List = {
  /** The fields of the record that the list is sorted by; together they identify a record. */
  key: readonly string[]
  /** For rows of the ledger: the products they may belong to. */
  scope?: LedgerScope
  /** A select of the rows within the scope; it ends in `page` or `pageBy`. */
  rows: (wanted: Wanted, within: Fragment) => Fragment
  /** Turns the rows into records, where a row is not the complete record. */
  show?: (rows: Fragment) => Selected | Promise<Selected>
}

/** The records of a page as bytes of JSON; of a full page also the key of the last record. */
type Page = { bytes: Buffer; count: number; last: Key | undefined }

/**
 * One page of a list, with the cursor of the next page. A cursor is the key of the page's last
 * record; reading from a cursor costs the same at any depth.
 */
export async function renderPage(
  handle: Sql,
  query: PageQuery,
  list: List,
): Promise<Answer<Buffer>> {
  const wanted = wantedOf(query, list.key)
  const products = list.scope && (await partsOf(handle, list.scope))
  const { bytes, count, last } = await (products
    ? inParts(handle, list, wanted, products)
    : inOne(handle, list.rows(wanted, list.scope?.within ?? empty), list, wanted))
  return {
    json: bytes,
    recordCount: count,
    beside: {
      ...(query.IncludeTotal && { totalCount: await totalOf(handle, list, products) }),
      ...(count === wanted.size && last && { nextCursor: cursorOf(wanted, list.key, last) }),
    },
  }
}

const shownBy = ({ show = (rows: Fragment) => rows }: List) => show

/**
 * Reads a page with one SQL statement. The array is text, because a Citus coordinator would parse
 * JSON that it only passes on.
 */
async function inOne(
  handle: Sql,
  rows: Fragment,
  list: List,
  wanted: Wanted,
  placed = (statement: Fragment) => statement,
): Promise<Page> {
  const shown = await shownBy(list)(rows)
  const [found] = await handle.query<{ [recordsColumn]: Records }>(
    placed(sql`
    select ${recordOfRow(shown)} as ${raw(recordsColumn)} from (${shown}) r
    ${raw(newestFirst(wanted, list.key))}`),
  )
  const { bytes, count, last } = found![recordsColumn]
  return { bytes, count, last: count === wanted.size ? keyOf(last, list.key) : undefined }
}

/** The key of a record, from its JSON: a record shows the fields that its list is ordered by. */
function keyOf(record: string | undefined, key: readonly string[]): Key | undefined {
  if (record === undefined) return undefined
  const values = JSON.parse(record) as Record<string, number | string>
  return key.map((name) => values[name]!)
}

/**
 * Where the ledger is spread: the products of the scope, which are read one by one. Elsewhere
 * undefined.
 */
async function partsOf(
  handle: Sql,
  { products, only }: LedgerScope,
): Promise<number[] | undefined> {
  if (!(await handle.isSpread())) return undefined
  if (only !== undefined) return [only]
  const rows = await handle.query<{ product_id: number }>(products)
  // A scope without products asks for product 0, which has no rows.
  return rows.length > 0 ? rows.map(({ product_id }) => product_id) : [0]
}

/** How many records are skipped at a time on the way to a deep page. */
const stride = 10_000

/** Reads each product's part by itself and merges the parts here. */
async function inParts(
  handle: Sql,
  list: List,
  wanted: Wanted,
  products: readonly number[],
): Promise<Page> {
  const [only, another] = products
  if (only !== undefined && another === undefined) {
    const rows = list.rows({ ...wanted, isPart: true }, list.scope!.isOf(only))
    return inOne(handle, rows, list, wanted, (statement) => inOneProduct(statement, only))
  }
  let { skip, after } = wanted
  while (skip > 0n) {
    const size = skip < stride ? Number(skip) : stride
    const passed = await firstOf(handle, list, { ...wanted, size, after }, products, isKey)
    if (passed.length < size) return { bytes: Buffer.from('[]'), count: 0, last: undefined }
    after = passed.at(-1)!.key
    skip -= BigInt(size)
  }
  const found = await firstOf(handle, list, { ...wanted, after }, products, textOfRow)
  return {
    bytes: Buffer.from(arrayOf(found.map(({ json }) => json))),
    count: found.length,
    last: found.at(-1)?.key,
  }
}

type Found = { json: string; key: Key }
const isKey = () => raw('null')

/** The first records of all products: reads one page of each product and keeps the first ones. */
async function firstOf(
  handle: Sql,
  list: List,
  wanted: Wanted,
  products: readonly number[],
  json: (shown: Selected) => Fragment,
): Promise<Found[]> {
  const { key, scope, rows } = list
  const part: Wanted = { ...wanted, skip: 0n, isPart: true }
  const fields = raw(fieldsOf(key).join(', '))
  const found: Found[] = []
  for (const productID of inOrder(products, wanted)) {
    const shown = await shownBy(list)(rows(part, scope!.isOf(productID)))
    const select = sql`
      select ${json(shown)} as json, json_build_array(${fields}) as key from (${shown}) r`
    const own = await handle.query<{ json: string; key: string }>(inOneProduct(select, productID))
    for (const one of own) found.push({ json: one.json, key: JSON.parse(one.key) })
    if (key[0] === 'productID' && found.length >= wanted.size) break
  }
  const sign = wanted.isDescending ? -1 : 1
  return found.sort((a, b) => sign * compared(a.key, b.key)).slice(0, wanted.size)
}

const inOrder = (products: readonly number[], { isDescending }: Wanted) =>
  [...products].sort((a, b) => (isDescending ? b - a : a - b))

/** Compares numbers as numbers and days as texts. */
function compared(a: Key, b: Key): number {
  const i = a.findIndex((value, at) => value !== b[at])
  if (i < 0) return 0
  return a[i]! < b[i]! ? -1 : 1
}

async function totalOf(
  handle: Sql,
  { rows, key, scope }: List,
  products: readonly number[] | undefined,
): Promise<number> {
  const everything = { ...wantedOf({}, key), isWhole: true }
  const count = (within: Fragment) =>
    sql`select count(*)::bigint as total from (${rows(everything, within)}) r`
  const counts = products?.map((id) => inOneProduct(count(scope!.isOf(id)), id)) ?? [
    count(scope?.within ?? empty),
  ]
  let total = 0
  for (const statement of counts) {
    const [row] = await handle.query<{ total: number }>(statement)
    total += row!.total
  }
  return total
}

const fieldsOf = (key: readonly string[]) => key.map((name) => `r."${name}"`)

/** Rows arrive in ascending order; a page is small enough to be sorted descending here. */
const newestFirst = ({ isDescending }: Wanted, key: readonly string[]) =>
  isDescending
    ? `order by ${fieldsOf(key)
        .map((field) => `${field} desc`)
        .join(', ')}`
    : ''

function cursorOf({ isDescending }: Wanted, key: readonly string[], after: Key): string {
  const cursor = { key, after, order: isDescending ? 'desc' : 'asc' }
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

function wantedOf(query: PageQuery, key: readonly string[]): Wanted {
  const { PageNumber = 1, PageSize = defaultPageSize, Cursor, Order } = query
  const cursor = Cursor === undefined ? undefined : readCursor(Cursor, key)
  if (cursor && PageNumber > 1)
    throw invalid('invalid_value', 'Give either Cursor or PageNumber.', 'PageNumber')
  if (cursor && Order && Order !== cursor.order)
    throw invalid('invalid_value', `The Cursor is of a list with Order=${cursor.order}.`, 'Order')
  return {
    isWhole: false,
    isPlain: Object.keys(query).every((name) => plainParameters.has(name)),
    isDescending: (cursor?.order ?? Order) === 'desc',
    size: PageSize,
    skip: (BigInt(PageNumber) - 1n) * BigInt(PageSize),
    after: cursor?.after,
  } as Wanted // the only place that creates a Wanted
}

const plainParameters = new Set<string>([
  ...(['PageNumber', 'PageSize', 'Cursor', 'Order', 'IncludeTotal'] satisfies (keyof PageQuery)[]),
  'ProductID',
])

type Cursor = { key: string[]; after: Key; order: 'asc' | 'desc' }

function readCursor(text: string, key: readonly string[]): Cursor {
  const cursor = decoded(text)
  const fits =
    Array.isArray(cursor?.key) &&
    cursor.key.join() === key.join() &&
    Array.isArray(cursor.after) &&
    cursor.after.length === key.length &&
    cursor.after.every((value) => Number.isSafeInteger(value) || isDate(value)) &&
    (cursor.order === 'asc' || cursor.order === 'desc')
  if (!cursor || !fits)
    throw invalid('invalid_cursor', 'Cursor was not given out by this list.', 'Cursor')
  return cursor
}

function decoded(text: string): Cursor | undefined {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** No table has more rows than a bigint can count, so a page beyond that is empty anyway. */
const mostRows = 2n ** 63n - 1n

/** The end of a paged select: one page by native id. */
export const page = (wanted: Wanted, from: string, id: string): Fragment =>
  pageBy(wanted, id, `(select max(${id}) from ${from})`)

/**
 * The end of a paged select, in any stable order: the columns of the list's key. PageNumber has no
 * upper limit, so the rows to skip are counted in bigints. `bound` is an upper limit of the number
 * of rows: a page beyond it is known to be empty without reading up to it.
 */
export function pageBy(wanted: Wanted, order: string, bound: string): Fragment {
  if (wanted.isWhole) return empty
  const { size, after, isPlain } = wanted
  const sorted = sortedBy(wanted, order)
  const limit = limitOf(wanted)
  if (after) return sql`${behind(wanted, order)} order by ${sorted} limit ${limit}`
  if (isPlain && !wanted.isPart && wanted.skip === 0n) return sql`order by ${sorted} limit ${limit}`
  const skip = String(wanted.skip < mostRows ? wanted.skip : mostRows)
  if (wanted.isPart) return sql`order by ${sorted} limit ${size} offset ${skip}::bigint`
  return sql`
    and (${skip}::bigint = 0 or ${skip}::bigint < ${raw(bound)})
    order by ${sorted} limit ${size} offset ${skip}::bigint`
}

/**
 * The limit of a page. For a list without filters, a usual size is written into the SQL text: the
 * plan is then the same for all values, and PostgreSQL keeps it. Planning a page of holdings takes
 * as long as reading 100 of them. Filtered lists are planned by their values.
 */
const limitOf = ({ size, isPlain }: Wanted): Fragment =>
  isPlain && usualSizes.includes(size) ? raw(String(size)) : sql`${size}`
const usualSizes = [defaultPageSize, 1000]

/** The columns of a list's key with the direction that is wanted. */
export const sortedBy = ({ isDescending }: Wanted, order: string): Fragment =>
  raw(
    order
      .split(', ')
      .map((column) => (isDescending ? `${column} desc` : column))
      .join(', '),
  )

/** The condition that continues a list behind its cursor; empty without a cursor. */
export const behind = ({ after, isDescending }: Wanted, order: string): Fragment =>
  after
    ? sql`and (${raw(order)}) ${raw(isDescending ? '<' : '>')} (${join(after.map(typed))})`
    : empty

const typed = (value: number | string): Fragment =>
  typeof value === 'number' ? sql`${value}::bigint` : sql`${value}::date`
