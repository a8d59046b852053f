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

/** What a query may say of a list beside what its records are to be like. */
export const neutral =
  /^(ProductID|ExternalProductId|Page\w+|Cursor|Order|IncludeTotal|ShowClosing)$/

/** The values of a list's key in one record: whole numbers, or a day. */
type Key = readonly (number | string)[]

declare const fromRenderPage: unique symbol

/** The rows of a list that are wanted. Only renderPage makes one, so every list has cursors. */
export type Wanted = {
  readonly [fromRenderPage]: true
  readonly isWhole: boolean
  readonly isDescending: boolean
  readonly size: number
  readonly skip: bigint
  /** The key of the record before the first that is wanted. */
  readonly after: Key | undefined
  /** The rows of one product, which are put together with those of others. */
  readonly isPart?: boolean
  /** Nothing narrows the list but its products. */
  readonly isPlain: boolean
}

/** Which products the rows of a list of the ledger may be of. */
export type LedgerScope = {
  /** The condition on the rows. */
  within: Fragment
  /** The same for one product of them. */
  isOf: (productID: number) => Fragment
  /** A select of their ids. */
  products: Fragment
  /** The one product of them, where that is known. */
  only?: number | undefined
}

/** The rows of one product that is known. */
export const ofProduct = (column: string, productID: number): LedgerScope => {
  const isOf = (id: number) => sql`${raw(column)} = ${id}`
  const products = sql`select ${productID}::int as product_id`
  return { within: isOf(productID), isOf, products, only: productID }
}

/** The product of a scope that has no more than one. */
export async function onlyProduct(handle: Sql, { products, only }: LedgerScope) {
  if (only !== undefined) return only
  const found = await handle.query<{ product_id: number }>(sql`${products} limit 2`)
  return found.length === 1 ? found[0]!.product_id : undefined
}

/** A scope of which it is known whether it has one product only. */
export const ofOnly = (scope: LedgerScope, only: number | undefined): LedgerScope =>
  only === undefined ? scope : { ...scope, within: scope.isOf(only) }

type List = {
  /** The fields of the record that it is ordered by, and which together tell it from others. */
  key: readonly string[]
  /** Where they are rows of the ledger: of which products. */
  scope?: LedgerScope
  /** The rows, of the products of its scope; their select ends in `page` or `pageBy`. */
  rows: (wanted: Wanted, within: Fragment) => Fragment
  /** The records of the rows, where the rows are not records yet. */
  show?: (rows: Fragment) => Selected | Promise<Selected>
}

/** The records of a page as they are told, and the key of the last. */
type Page = { bytes: Buffer; count: number; last: Key | undefined }

/**
 * One page of a list, with the cursor of the next one: the key of its last record, from which the
 * next page goes on at the same cost however deep it is.
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

/** As text: a coordinator of Citus would parse as JSON what it only passes on. */
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

/** What a record shows is what the list is ordered by. */
function keyOf(record: string | undefined, key: readonly string[]): Key | undefined {
  if (record === undefined) return undefined
  const values = JSON.parse(record) as Record<string, number | string>
  return key.map((name) => values[name]!)
}

/** The products that a list is read of one by one: those of its scope, where they live apart. */
async function partsOf(
  handle: Sql,
  { products, only }: LedgerScope,
): Promise<number[] | undefined> {
  if (!(await handle.isSpread())) return undefined
  if (only !== undefined) return [only]
  const rows = await handle.query<{ product_id: number }>(products)
  // Of none there are no rows, of whichever we ask.
  return rows.length > 0 ? rows.map(({ product_id }) => product_id) : [0]
}

/** How many records are passed over at a time, on the way to a page that is deep in a list. */
const stride = 10_000

/** The parts of the products as they would be alone, put together here. */
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

/** The first records of all products: no more than those of each can be among them. */
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

/** Numbers among each other, and days as they are written. */
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

/** Rows come in ascending order, or are few enough to be put into the other one here. */
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
  } as Wanted // the one place where the mark is given
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
    throw invalid('invalid_cursor', 'Cursor is not one that this list has given.', 'Cursor')
  return cursor
}

function decoded(text: string): Cursor | undefined {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** No table has more rows than a bigint counts, so a page beyond is as empty as the last one. */
const mostRows = 2n ** 63n - 1n

/** The end of a paged select: one page by native id. */
export const page = (wanted: Wanted, from: string, id: string): Fragment =>
  pageBy(wanted, id, `(select max(${id}) from ${from})`)

/**
 * The end of a paged select, in any stable order: the columns of the list's key. PageNumber has no
 * upper limit, so the rows to skip are counted in bigints; and with a bound on how many rows there
 * can be, a page beyond it is known to be empty without reading up to it.
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
 * How many rows a page has. Of a plain list it stands in the text, where it is one of the usual:
 * the plan is then the same whatever the values are, and PostgreSQL keeps it. To plan a page of
 * holdings takes as long as to read 100 of them. What filters narrow is planned by their values.
 */
const limitOf = ({ size, isPlain }: Wanted): Fragment =>
  isPlain && usualSizes.includes(size) ? raw(String(size)) : sql`${size}`
const usualSizes = [defaultPageSize, 1000]

/** The columns of a list's key in the order that is wanted. */
export const sortedBy = ({ isDescending }: Wanted, order: string): Fragment =>
  raw(
    order
      .split(', ')
      .map((column) => (isDescending ? `${column} desc` : column))
      .join(', '),
  )

/** What lies behind the record that a page begins after; all, where it is the first. */
export const behind = ({ after, isDescending }: Wanted, order: string): Fragment =>
  after
    ? sql`and (${raw(order)}) ${raw(isDescending ? '<' : '>')} (${join(after.map(typed))})`
    : empty

const typed = (value: number | string): Fragment =>
  typeof value === 'number' ? sql`${value}::bigint` : sql`${value}::date`
