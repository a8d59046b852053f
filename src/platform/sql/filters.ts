import sql, { join, raw } from 'sql-template-tag'
import { type TSchema, Type } from 'typebox'
import type { Fragment } from './handle.ts'

/**
 * Filters as data: a resource lists its filters once and gets the query parameters, their
 * validation, their place in the OpenAPI document, and the SQL conditions.
 */
export type Filter = {
  column: string
  type: 'bigint' | 'date' | 'timestamptz' | 'text'
  value: TSchema
  /** The operator of a parameter without one. */
  bare: string
  /** All values that the column can have, where it is the id of a lookup. */
  ids?: readonly number[]
}
export type Filters = Record<string, Filter>

type Comparison = (column: Fragment, operand: Fragment) => Fragment

const ordered: Record<string, Comparison> = {
  equal: (column, operand) => sql`${column} = ${operand}`,
  notEqual: (column, operand) => sql`${column} is distinct from ${operand}`,
  in: (column, operand) => sql`${column} = any(${operand})`,
  notIn: (column, operand) => sql`(${column} = any(${operand})) is not true`,
  greaterThan: (column, operand) => sql`${column} > ${operand}`,
  greaterThanOrEqual: (column, operand) => sql`${column} >= ${operand}`,
  lessThan: (column, operand) => sql`${column} < ${operand}`,
  lessThanOrEqual: (column, operand) => sql`${column} <= ${operand}`,
}

// Answers show moments to the second, so filters compare seconds: a caller who sees the same second
// expects the record under "equal" and "lessThanOrEqual", not under "greaterThan".
const second = (operand: Fragment) => sql`date_trunc('second', ${operand})`
const nextSecond = (operand: Fragment) => sql`${second(operand)} + interval '1 second'`
const withinSecond: Comparison = (column, operand) =>
  sql`(${column} >= ${second(operand)} and ${column} < ${nextSecond(operand)})`
const atSecond: Comparison = (column, operand) =>
  sql`${second(column)} = any(array(select ${second(sql`m`)} from unnest(${operand}) m))`
const moments: Record<string, Comparison> = {
  equal: withinSecond,
  notEqual: (column, operand) => sql`${withinSecond(column, operand)} is not true`,
  in: atSecond,
  notIn: (column, operand) => sql`(${atSecond(column, operand)}) is not true`,
  greaterThan: (column, operand) => sql`${column} >= ${nextSecond(operand)}`,
  greaterThanOrEqual: (column, operand) => sql`${column} >= ${second(operand)}`,
  lessThan: (column, operand) => sql`${column} < ${second(operand)}`,
  lessThanOrEqual: (column, operand) => sql`${column} < ${nextSecond(operand)}`,
}

// The operand is a pattern already, see operandOf.
const like: Comparison = (column, operand) => sql`lower(${column}) like lower(${operand})`
const texts: Record<string, Comparison> = {
  equal: ordered.equal!,
  notEqual: ordered.notEqual!,
  in: ordered.in!,
  notIn: ordered.notIn!,
  contains: like,
  beginsWith: like,
  endsWith: like,
}

const comparisons = { bigint: ordered, date: ordered, timestamptz: moments, text: texts }

const filter =
  (type: Filter['type'], value: TSchema) =>
  (column: string, bare = 'equal'): Filter => ({ column, type, value, bare })

const wholeNumber = Type.Unsafe<number | string>({ int64: true })
export const intFilter = filter('bigint', wholeNumber)
export const lookupFilter = (column: string, lookup: Readonly<Record<string, number>>): Filter => ({
  ...intFilter(column),
  ids: Object.values(lookup),
})
export const dateFilter = filter('date', Type.String({ format: 'date' }))
export const dateTimeFilter = filter('timestamptz', Type.String({ format: 'date-time' }))
export const textFilter = filter('text', Type.String({ minLength: 1, maxLength: 255 }))

/** A number or code, conformed to its stored form before it is compared; by default trimmed. */
export const codeFilter = (
  column: string,
  conformed: (value: string) => unknown = (value) => value.trim(),
): Filter => {
  const plain = textFilter(column)
  return { ...plain, value: { ...plain.value, conformed } as TSchema }
}

/** The most values in one list; longer lists need several requests. */
const longestList = 1000

/**
 * The query parameters of a set of filters: AccountID, AccountID.equal, AccountID.in and so on.
 * Only `conditions` needs their values, so their types are hidden from handlers.
 */
export const filterParameters = (filters: Filters): Record<never, TSchema> =>
  Object.fromEntries(
    Object.entries(filters).flatMap(([name, { type, value, bare }]) => [
      [name, Type.Optional({ ...value, description: `Same as ${name}.${bare}.` })],
      ...Object.keys(comparisons[type]).map((operator) => [
        `${name}.${operator}`,
        Type.Optional(takesList(operator) ? Type.Array(value, { maxItems: longestList }) : value),
      ]),
    ]),
  )

/** The query's filters as one condition; several operators on one parameter must all hold. */
export const conditions = (filters: Filters, query: object): Fragment =>
  conditionOf(given(filters, query))

function conditionOf(asked: readonly Asked[]): Fragment {
  const all = asked.map(({ filter, operator, value }) =>
    comparisons[filter.type][operator]!(raw(filter.column), operandOf(filter, operator, value)),
  )
  return all.length > 0 ? join(all, ' and ') : sql`true`
}

/** Whether a query uses any of these filters. */
export const asksFor = (filters: Filters, query: object) => given(filters, query).length > 0

/**
 * Whether a query uses any of these filters with an operator other than equality with values: it
 * may then fit few rows or nearly all.
 */
export const asksWidely = (filters: Filters, query: object) =>
  given(filters, query).some(({ operator }) => operator !== 'equal' && operator !== 'in')

/** A trigram index finds rows by three letters or digits in a row. */
const part = /[\p{L}\p{N}]{3}/u
const partOperators = ['contains', 'beginsWith', 'endsWith']

/** Whether a query asks for a part of a text that is long enough for a trigram index. */
export const asksForPart = (filters: Filters, query: object) =>
  given(filters, query).some(
    ({ operator, value }) => partOperators.includes(operator) && part.test(String(value)),
  )

/** A part this long fits few rows in the trigram index, wherever in the text it stands. */
const longPart = /[\p{L}\p{N}]{5}/u

/**
 * The condition for a trigram index; it selects all rows that fit and possibly more. `beginsWith`
 * is relaxed to `contains`: nearly all ids of a register begin with the same letter, and the index
 * would go through all of them.
 */
export const havingPart = (filters: Filters, query: object): Fragment =>
  conditionOf(
    given(filters, query).map((asked) =>
      asked.operator === 'beginsWith' && longPart.test(String(asked.value))
        ? { ...asked, operator: 'contains' }
        : asked,
    ),
  )

/**
 * The query's filters on a related record, as conditions on this table: `key` is among the related
 * table's rows that fit. Empty where the query has no such filter.
 */
export const related = (filters: Filters, query: object, key: string, from: string): Fragment[] =>
  asksFor(filters, query)
    ? [sql`(${raw(key)}) in (select ${raw(from)} where ${conditions(filters, query)})`]
    : []

type Operation = { operator: string; value: unknown }
type Asked = Operation & { filter: Filter }

function given(filters: Filters, query: object): Asked[] {
  return Object.entries(query).flatMap(([parameter, value]) => {
    const [name, operator] = parameter.split('.') as [string, string | undefined]
    const filter = filters[name]
    if (!filter) return []
    const asked = { operator: operator ?? filter.bare, value }
    return [{ filter, ...plainly(filter.ids ? amongIDs(filter.ids, asked) : asked) }]
  })
}

const leaves: Record<string, (id: bigint, value: bigint) => boolean> = {
  notEqual: (id, value) => id !== value,
  notIn: (id, value) => id !== value,
  greaterThan: (id, value) => id > value,
  greaterThanOrEqual: (id, value) => id >= value,
  lessThan: (id, value) => id < value,
  lessThanOrEqual: (id, value) => id <= value,
}

/**
 * Turns an operator on a lookup's ids into the list of ids that remain: an index finds rows by the
 * values they have, not by values they lack.
 */
function amongIDs(ids: readonly number[], { operator, value }: Operation): Operation {
  const isLeft = leaves[operator]
  if (!isLeft) return { operator, value }
  const values = [value].flat().map((one) => BigInt(one as number | string))
  return {
    operator: 'in',
    value: ids.filter((id) => values.every((one) => isLeft(BigInt(id), one))),
  }
}

/**
 * A list of one value becomes that value: for a single value, not for a list, an index has the rows
 * in order.
 */
function plainly({ operator, value }: Operation): Operation {
  if (!takesList(operator) || !Array.isArray(value) || value.length !== 1)
    return { operator, value }
  return { operator: operator === 'in' ? 'equal' : 'notEqual', value: value[0] }
}

function operandOf({ type }: Filter, operator: string, value: unknown): Fragment {
  if (takesList(operator)) return sql`${value}::${raw(type)}[]`
  return sql`${patternOf(operator, value)}::${raw(type)}`
}

/** % and _ in a value are ordinary characters. */
function patternOf(operator: string, value: unknown): unknown {
  const literal = () => String(value).replace(/[\\%_]/g, '\\$&')
  if (operator === 'contains') return `%${literal()}%`
  if (operator === 'beginsWith') return `${literal()}%`
  if (operator === 'endsWith') return `%${literal()}`
  return value
}

const takesList = (operator: string) => operator === 'in' || operator === 'notIn'
