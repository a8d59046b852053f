import type { TSchema } from 'typebox'
import { lookupValues } from '../../platform/lookup/lookups.ts'
import type { Problem } from '../../platform/refusal.ts'
import { isDate } from '../../platform/shape/dates.ts'
import { type Node, ownNode } from '../../platform/shape/keywords.ts'
import { badFile, type Cell, noValue, textOf } from './row.ts'
import type { DateFormat, Mapping } from './schema.ts'

/**
 * A column of a file and the field of the body that it fills. A nested field is named by its path:
 * `accounts.externalAccountId`, or `bizEntityParties.2.person.firstName` in the second item of a
 * list.
 */
export type Column = { heading: string; path: readonly (string | number)[]; node: Node }

/** The columns by their place in the file. Cells without a column are ignored. */
export type Head = { columns: (Column | undefined)[]; unknown: string[] }

/** Columns that a file of refused rows has before the original columns. */
export const verdictColumns = ['line', 'field', 'code', 'message'] as const

/**
 * How many leading columns are verdicts of an earlier attempt: all four in order, or none. Anywhere
 * else such a name is an ordinary column: many files call a security `Code`.
 */
export const verdictsIn = (headings: readonly string[]): number =>
  verdictColumns.every((name, i) => headings[i]?.trim().toLowerCase() === name)
    ? verdictColumns.length
    : 0

export function headOf(schema: TSchema, headings: readonly Cell[], mapping: Mapping): Head {
  const given = headings.map((heading) => textOf(heading).trim())
  const verdicts = verdictsIn(given)
  // The head ends with the last heading; a cell beyond it is one too many.
  const names = given.slice(verdicts, given.findLastIndex((name) => name !== '') + 1)
  refuseTwice(names)
  const mapped = new Map(mapping.map(({ column, field }) => [column.trim().toLowerCase(), field]))
  const missing = [...mapped.keys()].filter(
    (column) => !names.some((name) => name.toLowerCase() === column),
  )
  if (missing.length > 0) throw badFile(`The file has no column ${missing.join(', ')}.`)
  const unknown: string[] = []
  const columns = names.map((heading, i) => {
    const key = heading.toLowerCase()
    if (key === '') unknown.push(`column ${verdicts + i + 1}`)
    if (key === '') return undefined
    const field = mapped.has(key) ? mapped.get(key) : heading
    if (!field) return undefined
    const found = columnOf(schema, field)
    if (!found && mapped.has(key)) throw badFile(`${field} is no field of such rows.`)
    if (!found) unknown.push(heading)
    return found && { ...found, heading }
  })
  if (!columns.some(Boolean))
    throw badFile('No heading of the first line is a field; see GET /Import/Template.')
  refuseTwice(columns.flatMap((column) => (column ? [column.path.join('.')] : [])))
  return { columns: [...Array<undefined>(verdicts).fill(undefined), ...columns], unknown }
}

function refuseTwice(names: readonly string[]) {
  const seen = new Set<string>()
  for (const name of names.map((one) => one.toLowerCase()).filter(Boolean)) {
    if (seen.has(name)) throw badFile(`The file has the column ${name} twice.`)
    seen.add(name)
  }
}

/** Finds the field of a column name. List items are counted from 1; without a number, the first. */
function columnOf(schema: TSchema, name: string): Omit<Column, 'heading'> | undefined {
  const path: (string | number)[] = []
  let node = ownNode(schema)
  const enterList = (number: number) => {
    path.push(number)
    node = ownNode(node.items as TSchema)
  }
  for (const part of name.split('.')) {
    if (node.items) {
      const isNumber = /^[1-9]\d?$/.test(part)
      enterList(isNumber ? Number(part) - 1 : 0)
      if (isNumber) continue
    }
    const field = Object.keys(node.properties ?? {}).find(
      (own) => own.toLowerCase() === part.toLowerCase(),
    )
    if (!field) return undefined
    path.push(field)
    node = ownNode(node.properties?.[field] as TSchema)
  }
  return node.items || node.properties ? undefined : { path, node }
}

type Given = { body: Record<string, unknown>; problems: Problem[] }

/** The body made of the cells of a row, converted by their fields. Empty cells are left out. */
export function bodyOf({ columns }: Head, cells: readonly Cell[], dates: DateFormat): Given {
  const body: Record<string, unknown> = {}
  const problems: Problem[] = []
  for (const [i, cell] of cells.entries()) {
    const column = columns[i]
    const text = textOf(cell).trim()
    if (text === '') continue
    if (i >= columns.length) {
      problems.push({ code: 'wrong_columns', message: 'The row has more cells than the head.' })
      break
    }
    if (!column) continue
    if (noValue.test(text)) problems.push(notWorkedOut(column, text))
    const value = turned(column, cell, text, dates)
    if (value === undefined) problems.push(notADate(column, dates))
    place(body, column.path, value ?? anyDay)
  }
  return { body: compact(body) as Record<string, unknown>, problems }
}

const notWorkedOut = ({ heading }: Column, text: string): Problem => ({
  code: 'invalid_value',
  field: heading,
  message: `${heading} is ${text}: a formula has no value there.`,
})

/** Replaces a day that cannot be read, so that the field is not also reported as missing. */
const anyDay = '2000-01-01'

const notADate = ({ heading }: Column, dates: DateFormat): Problem => ({
  code: 'invalid_date',
  field: heading,
  message: `${heading} must be a date as ${dates}.`,
})

function place(body: object, path: readonly (string | number)[], value: unknown) {
  let into = body as Record<string | number, unknown>
  for (const [i, step] of path.slice(0, -1).entries()) {
    into[step] ??= typeof path[i + 1] === 'number' ? [] : {}
    into = into[step] as Record<string | number, unknown>
  }
  into[path.at(-1) ?? ''] = value
}

/** Removes gaps from lists: a list of which only the second item was given has one item. */
function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== undefined).map(compact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, compact(inner)]))
}

/** Converts a cell. A text that cannot be converted stays, so that the field's rules refuse it. */
function turned({ node }: Column, cell: Cell, text: string, dates: DateFormat): unknown {
  if (node.format === 'date') return typeof cell === 'object' ? cell.day : dayIn(text, dates)
  if (node.lookup !== undefined) return lookedUp(node.lookup, text)
  if (node.type === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (node.type === 'boolean') return flags[text.toLowerCase()] ?? text
  return text
}

/** Reads a day. YYYY-MM-DD is always read, because the refused rows of a workbook have it so. */
function dayIn(text: string, dates: DateFormat): string | undefined {
  if (/^\d{4}-\d\d-\d\d/.test(text)) return text
  if (dates === 'YYYY-MM-DD') return undefined
  const [, day, month, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  const read = `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`
  return isDate(read) ? read : undefined
}

const flags: Record<string, boolean> = {
  true: true,
  yes: true,
  false: false,
  no: false,
}

const lookupIDs = new Map(
  lookupValues.flatMap(({ category, id, code, name }) =>
    [code, name].map((word): [string, number] => [`${category} ${word}`.toLowerCase(), id]),
  ),
)

/** The id of a lookup value, which may be given by its id, code or name. */
const lookedUp = (category: string, text: string) =>
  /^\d{1,9}$/.test(text)
    ? Number(text)
    : (lookupIDs.get(`${category} ${text}`.toLowerCase()) ?? text)
