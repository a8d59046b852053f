import sql, { join, raw } from 'sql-template-tag'
import { type Problem, Refusal, refuseAll } from '../refusal.ts'
import type { Fragment, Sql } from './handle.ts'

/**
 * The one engine behind identifier pairs. A record goes by its native id, by the client's external
 * id, and some by a code as well; whichever is given first in that order counts and the others are
 * not looked at. The same refusals everywhere: none given 400, given and not found 404.
 */
export type Identity = {
  /** The word for it in messages: product. */
  what: string
  table: string
  /** The columns that identify it, in order of precedence; the first is the native id. */
  columns: readonly string[]
}

/** An identity as a request writes it: the field names, in the order of the identity's columns. */
export type Reference = { identity: Identity; fields: readonly string[] }

export const reference = (identity: Identity, fields: readonly string[]): Reference => ({
  identity,
  fields,
})

type Given = Record<string, unknown>

type Resolution = {
  /** What the caller may see, as a condition on the table's columns. */
  visible?: Fragment
  /** The product each record must belong to, in the order of the records given. */
  productIDs?: readonly number[]
  /** The field path of the nth record, for messages. */
  path?: (index: number) => string
}

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
  const named = given.map((record) => nameOf(reference, record as Given))
  const path = resolution.path ?? (() => '')
  refuseAll(
    400,
    named.flatMap((name, i) => (name ? [] : [missing(reference, path(i))])),
  )
  const found = await lookUp(handle, reference, named as Name[], resolution)
  refuseAll(
    404,
    named.flatMap((name, i) => (found.has(i) ? [] : [unknown(name!, path(i))])),
  )
  return named.map((_, i) => found.get(i)!)
}

/** The id a request names, or undefined where it names none. */
export const identifyOptional = (
  handle: Sql,
  reference: Reference,
  given: object,
  resolution: Resolution = {},
): Promise<number | undefined> =>
  nameOf(reference, given as Given)
    ? identify(handle, reference, given, resolution)
    : Promise.resolve(undefined)

/** The condition that picks the named record; for reads that answer "none" with an empty array. */
export function identified({ identity, fields }: Reference, given: object): Fragment {
  const name = nameOf({ identity, fields }, given as Given)
  return name ? sql`${raw(name.column)} = ${name.value}` : sql`true`
}

export const namesAny = (reference: Reference, given: object) =>
  nameOf(reference, given as Given) !== undefined

type Name = { field: string; column: string; value: string | number }

function nameOf({ identity, fields }: Reference, given: Given): Name | undefined {
  const place = fields.findIndex((field) => given[field] !== undefined && given[field] !== 0)
  if (place < 0) return undefined
  const field = fields[place]!
  return { field, column: identity.columns[place]!, value: given[field] as string | number }
}

/** One indexed join per way of naming that is in use. */
async function lookUp(
  handle: Sql,
  { identity }: Reference,
  names: Name[],
  { visible = sql`true`, productIDs }: Resolution,
): Promise<Map<number, number>> {
  const [native] = identity.columns
  const ways = [...new Set(names.map(({ column }) => column))].map((column) => {
    const places = names.flatMap((name, i) => (name.column === column ? [i] : []))
    const values = places.map((i) => String(names[i]!.value))
    const products = productIDs && places.map((i) => productIDs[i]!)
    const type = raw(column === native ? 'bigint' : 'text')
    return sql`
      select g.place, ${raw(`r.${native}`)} as id
      from unnest(${places}::int[], ${values}::${type}[], ${products ?? []}::int[])
        g (place, value, product_id)
      join ${raw(identity.table)} r on ${raw(`r.${column}`)} = g.value
      where ${products ? sql`r.product_id = g.product_id` : sql`true`} and ${visible}`
  })
  if (ways.length === 0) return new Map()
  const rows = await handle.query<{ place: number; id: number }>(join(ways, ' union all '))
  return new Map(rows.map(({ place, id }) => [place, id]))
}

const inside = (path: string, field: string) => (path ? `${path}.${field}` : field)

const missing = ({ fields }: Reference, path: string): Problem => ({
  code: 'required',
  field: inside(path, fields[0]!),
  message: `${fields.length > 2 ? 'One of' : 'Either'} ${listed(fields)} must be provided.`,
})

const listed = (fields: readonly string[]) =>
  fields.length < 2 ? fields[0] : `${fields.slice(0, -1).join(', ')} or ${fields.at(-1)}`

const unknown = ({ field, value }: Name, path: string): Problem => ({
  code: 'not_found',
  field: inside(path, field),
  message: `No record was found for ${inside(path, field)} ${JSON.stringify(value)}.`,
})

/** The refusal of a write whose target does not exist, or is not the caller's to see. */
export const noSuch = (reference: Reference, given: object): Refusal => {
  const name = nameOf(reference, given as Given)
  return name ? new Refusal(404, [unknown(name, '')]) : new Refusal(400, [missing(reference, '')])
}
