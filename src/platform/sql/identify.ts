import sql, { empty, join, raw } from 'sql-template-tag'
import { type Problem, Refusal, refuseAll } from '../refusal.ts'
import { inside } from '../shape/path.ts'
import type { Fragment, Sql } from './handle.ts'
import { recordset } from './recordset.ts'

/**
 * Resolves the identifiers of every resource. A record is named by its native id, by the client's
 * external id, and some records by a code as well. The first identifier given, in that order,
 * counts; the others are not looked at. The refusals are the same everywhere: no identifier 400,
 * not found 404.
 */
export type Identity = {
  /** The word for the record in messages: product. */
  what: string
  table: string
  /** The columns that identify it, in order of precedence; the first is the native id. */
  columns: readonly string[]
  /** External ids and codes are unique within a product only, and the table has a product_id. */
  inProduct?: boolean
  /** A table of the ledger, which may be spread over several machines. */
  inLedger?: boolean
}

/** The request's field names for an identity, in the order of the identity's columns. */
export type Reference = { identity: Identity; fields: readonly string[] }

export const reference = (identity: Identity, fields: readonly string[]): Reference => ({
  identity,
  fields,
})

type Given = Record<string, unknown>

type Resolution = {
  /** The caller's scope, as a condition on the table's columns under the alias r. */
  visible?: Fragment
  /** The product each record must belong to, in the order of the records; undefined: any. */
  productIDs?: readonly (number | undefined)[]
  /** The field path of the nth record, for messages. */
  path?: (index: number) => string
}

/** A record that was found, with its product where it has one; otherwise the problem. */
export type Located = { id: number; productID?: number } | { status: 400 | 404; problem: Problem }

/** The id of the one record a request names. */
export async function identify(
  handle: Sql,
  reference: Reference,
  given: object,
  resolution: Resolution = {},
): Promise<number> {
  const [id] = await identifyAll(handle, reference, [given], resolution)
  return id!
}

/** The ids of the records a list of requests names, in one round trip whatever their number. */
export async function identifyAll(
  handle: Sql,
  reference: Reference,
  given: readonly object[],
  resolution: Resolution = {},
): Promise<number[]> {
  const located = await locateAll(handle, reference, given, resolution)
  for (const status of [400, 404] as const)
    refuseAll(
      status,
      located.flatMap((one) => ('problem' in one && one.status === status ? [one.problem] : [])),
    )
  return located.map((one) => ('id' in one ? one.id : 0))
}

/**
 * Like identifyAll, but each record succeeds or fails by itself: for lists whose items are accepted
 * or refused one by one.
 */
export async function locateAll(
  handle: Sql,
  reference: Reference,
  given: readonly object[],
  resolution: Resolution = {},
): Promise<Located[]> {
  const { path = () => '', productIDs } = resolution
  const { identity } = reference
  const named = given.map((record) => nameOf(reference, record))
  const needsProduct = (name: Name, i: number) =>
    identity.inProduct && name.column !== identity.columns[0] && !productIDs?.[i]
  const askable = named.map((name, i) => (name && !needsProduct(name, i) ? name : undefined))
  const found = await lookUp(handle, reference, askable, resolution)
  return named.map((name, i): Located => {
    if (!name) return { status: 400, problem: missing(reference, path(i)) }
    if (!askable[i]) return { status: 400, problem: productMissing(name, path(i)) }
    return found.get(i) ?? { status: 404, problem: unknown(name, path(i)) }
  })
}

/** The id a request names, or undefined where it names none. */
export const identifyOptional = (
  handle: Sql,
  reference: Reference,
  given: object,
  resolution: Resolution = {},
): Promise<number | undefined> =>
  nameOf(reference, given)
    ? identify(handle, reference, given, resolution)
    : Promise.resolve(undefined)

/** The ids that the records of a list name; undefined where a record names none. */
export async function identifyOptionals(
  handle: Sql,
  reference: Reference,
  given: readonly object[],
  resolution: Resolution = {},
): Promise<(number | undefined)[]> {
  const { path = () => '' } = resolution
  const places = given.flatMap((record, i) => (namesAny(reference, record) ? [i] : []))
  const named = places.map((i) => given[i]!)
  const ids = await identifyAll(handle, reference, named, {
    ...resolution,
    path: (i) => path(places[i]!),
  })
  const found = new Map(places.map((place, i) => [place, ids[i]!]))
  return given.map((_, i) => found.get(i))
}

/**
 * The condition that picks the named record, for reads that answer an unknown record with an empty
 * array.
 */
export function identified(reference: Reference, given: object, alias: string): Fragment {
  const name = nameOf(reference, given)
  return name ? sql`${raw(`${alias}.${name.column}`)} = ${name.value}` : sql`true`
}

export const namesAny = (reference: Reference, given: object) =>
  nameOf(reference, given) !== undefined

export type Name = { field: string; column: string; value: string | number }

/** The identifier that counts: the first one given, in the identity's order. */
export function nameOf({ identity, fields }: Reference, record: object): Name | undefined {
  const given = record as Given
  for (const [place, field] of fields.entries()) {
    const value = given[field] as string | number | undefined
    if (value !== undefined && value !== 0)
      return { field, column: identity.columns[place]!, value }
  }
  return undefined
}

/** Looks up each distinct identifier once, however often the list names it. */
async function lookUp(
  handle: Sql,
  { identity }: Reference,
  names: (Name | undefined)[],
  { visible = sql`true`, productIDs }: Resolution,
): Promise<Map<number, FoundRecord>> {
  const firsts = firstPlaces(names, productIDs)
  const asked = names.flatMap((name, place): Asked[] =>
    name && firsts[place] === place ? [{ ...name, place, productID: productIDs?.[place] }] : [],
  )
  if (asked.length === 0) return new Map()
  const look = identity.inLedger ? lookInLedger : lookOneByOne
  const found = await look(handle, identity, asked, visible)
  return new Map(
    firsts.flatMap((first, i) => {
      const record = first === undefined ? undefined : found.get(first)
      return record ? [[i, record]] : []
    }),
  )
}

type Asked = Name & { place: number; productID: number | undefined }
type FoundRecord = { id: number; productID?: number }
type Look = (
  handle: Sql,
  identity: Identity,
  asked: readonly Asked[],
  visible: Fragment,
) => Promise<Map<number, FoundRecord>>

const typeOf = ({ columns }: Identity, column: string) =>
  column === columns[0] ? 'bigint' : 'text'
const waysOf = (asked: readonly Asked[]) =>
  [...new Set(asked.map(({ column }) => column))].map((column) => ({
    column,
    own: asked.filter((one) => one.column === column),
  }))

/**
 * One SQL statement for all kinds of identifiers. Each name is a separate index lookup (lateral
 * join): a planner that joins a thousand names with a table would read the whole table.
 */
const lookOneByOne: Look = async (handle, identity, asked, visible) => {
  const ways = waysOf(asked).map(({ column, own }) => {
    const rows = own.map(({ place, value, productID }) => ({ place, value, product_id: productID }))
    const types = { place: 'int', value: typeOf(identity, column), product_id: 'int' }
    const named = { value: 'g.value', productID: 'g.product_id' }
    return sql`
      select g.place, r.* from ${recordset('g', rows, types)}
      cross join lateral (${recordNamed(identity, column, named, visible)}) r`
  })
  const rows = await handle.query<{ place: number; id: number }>(join(ways, ' union all '))
  return new Map(rows.map(({ place, ...record }) => [place, record]))
}

/**
 * Asks for the names as a list: tables spread over several machines cannot be queried in another
 * way.
 */
const lookInLedger: Look = async (handle, identity, asked, visible) => {
  const found = new Map<number, FoundRecord>()
  for (const { column, own } of waysOf(asked)) {
    const values = own.map(({ value }) => value)
    const rows = await handle.query<Required<FoundRecord> & { name: string | number }>(sql`
      select ${raw(`r.${identity.columns[0]}`)} as id, r.product_id as "productID",
        ${raw(`r.${column}`)} as name
      from ${raw(identity.table)} r
      where ${raw(`r.${column}`)} = any(${values}::${raw(typeOf(identity, column))}[])
        and ${visible}`)
    const named = new Map<string, typeof rows>()
    for (const row of rows)
      named.set(String(row.name), [...(named.get(String(row.name)) ?? []), row])
    for (const { place, value, productID } of own) {
      const record = named
        .get(String(value))
        ?.find((row) => productID === undefined || row.productID === productID)
      if (record) found.set(place, { id: record.id, productID: record.productID })
    }
  }
  return found
}

/** For each name, the place in the list where the same name stands first. */
function firstPlaces(names: (Name | undefined)[], productIDs: Resolution['productIDs']) {
  const places = new Map<string, number>()
  return names.map((name, i) => {
    if (!name) return undefined
    const key = `${name.column} ${productIDs?.[i]} ${name.value}`
    const first = places.get(key) ?? i
    places.set(key, first)
    return first
  })
}

const ownProduct = raw(', r.product_id as "productID"')

/** The columns that hold the name and its product; the product may be the SQL literal null. */
export type NameColumns = { value: string; productID: string }

/**
 * A select of the record that a row names by one of the identity's columns: its id, its product,
 * and any `others` columns of the record.
 */
export const recordNamed = (
  identity: Identity,
  column: string,
  { value, productID }: NameColumns,
  visible: Fragment,
  others: readonly string[] = [],
): Fragment => sql`
  select ${raw(`r.${identity.columns[0]}`)} as id ${identity.inProduct ? ownProduct : empty}
    ${raw(others.map((other) => `, r.${other}`).join(''))}
  from ${raw(identity.table)} r
  where ${raw(`r.${column} = ${value}`)} and ${
    identity.inProduct ? raw(`(${productID} is null or r.product_id = ${productID})`) : sql`true`
  } and ${visible} limit 1`

const missing = ({ fields }: Reference, path: string): Problem => ({
  code: 'required',
  field: inside(path, fields[0]!),
  message: `${fields.length > 2 ? 'One of' : 'Either'} ${listed(fields)} must be provided.`,
})

const productMissing = ({ field }: Name, path: string): Problem => ({
  code: 'required',
  field: inside(path, 'productID'),
  message: `${inside(path, field)} is looked up in a product: give productID or externalProductId.`,
})

const listed = (fields: readonly string[]) =>
  fields.length < 2 ? fields[0] : `${fields.slice(0, -1).join(', ')} or ${fields.at(-1)}`

const unknown = ({ field, value }: Name, path: string): Problem => ({
  code: 'not_found',
  field: inside(path, field),
  message: `No record was found for ${inside(path, field)} ${JSON.stringify(value)}.`,
})

/** The refusal of a write whose target does not exist or is outside the caller's scope. */
export const noSuch = (reference: Reference, given: object, path = ''): Refusal => {
  const name = nameOf(reference, given)
  return name
    ? new Refusal(404, [unknown(name, path)])
    : new Refusal(400, [missing(reference, path)])
}
