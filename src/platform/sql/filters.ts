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
  /** What a parameter without an operator means. */
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

// Answers show a moment to the second, so that is what filters compare: by what they can see, a
// caller expects one and the same record under "equal" and "lessThanOrEqual", not "greaterThan".
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

// The operand of these is a pattern already, see operandOf.
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

/** A number or code: blanks around it mean nothing, or what else is read as the stored one. */
export const codeFilter = (
  column: string,
  conformed: (value: string) => unknown = (value) => value.trim(),
): Filter => {
  const plain = textFilter(column)
  return { ...plain, value: { ...plain.value, conformed } as TSchema }
}

/** Values in one list; a longer one belongs in several requests. */
const longestList = 1000

/**
 * The query parameters of a set of filters: AccountID, AccountID.equal, AccountID.in and so on.
 * Their types are of use to `conditions` only, so handlers do not see them.
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

/** What a query asks for, as one condition; several operators on one parameter all hold. */
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

/** Whether it uses any of them by something else than values: then it may fit few or nearly all. */
export const asksWidely = (filters: Filters, query: object) =>
  given(filters, query).some(({ operator }) => operator !== 'equal' && operator !== 'in')

/** What an index of parts finds rows by: three letters or digits in a row. */
const part = /[\p{L}\p{N}]{3}/u
const partOperators = ['contains', 'beginsWith', 'endsWith']

/** Whether it asks for a part of a text that is long enough for that. */
export const asksForPart = (filters: Filters, query: object) =>
  given(filters, query).some(
    ({ operator, value }) => partOperators.includes(operator) && part.test(String(value)),
  )

/** Enough for the index to know few rows by, wherever in a text it is. */
const longPart = /[\p{L}\p{N}]{5}/u

/**
 * What an index of parts is asked for, where a query asks for one: all that have it, and maybe more
 * than that. How a text begins is no help: nearly all ids of a register begin with the same letter,
 * and the index would go through all of them.
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
 * What a query asks of a related record, as conditions on this one: its key is among those that the
 * other table has for it. None where the query asks nothing of the kind.
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

/** What is not a value is the others: an index finds rows by what they have, not by what not. */
function amongIDs(ids: readonly number[], { operator, value }: Operation): Operation {
  const isLeft = leaves[operator]
  if (!isLeft) return { operator, value }
  const values = [value].flat().map((one) => BigInt(one as number | string))
  return {
    operator: 'in',
    value: ids.filter((id) => values.every((one) => isLeft(BigInt(id), one))),
  }
}

/** A list of one is that one: of one value, not of a list, an index has the rows in order. */
function plainly({ operator, value }: Operation): Operation {
  if (!takesList(operator) || !Array.isArray(value) || value.length !== 1)
    return { operator, value }
  return { operator: operator === 'in' ? 'equal' : 'notEqual', value: value[0] }
}

function operandOf({ type }: Filter, operator: string, value: unknown): Fragment {
  if (takesList(operator)) return sql`${value}::${raw(type)}[]`
  return sql`${patternOf(operator, value)}::${raw(type)}`
}

/** % and _ in a value are letters like any other. */
function patternOf(operator: string, value: unknown): unknown {
  const literal = () => String(value).replace(/[\\%_]/g, '\\$&')
  if (operator === 'contains') return `%${literal()}%`
  if (operator === 'beginsWith') return `${literal()}%`
  if (operator === 'endsWith') return `%${literal()}`
  return value
}

const takesList = (operator: string) => operator === 'in' || operator === 'notIn'
