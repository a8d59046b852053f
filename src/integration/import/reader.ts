import { invalid, type Problem, Refusal } from '../../platform/refusal.ts'
import { parseJson } from '../../platform/shape/json.ts'
import { bodyOf, type Head, headOf, verdictsIn } from './columns.ts'
import type { Item, RefusedRow } from './item.ts'
import type { Kind } from './kinds.ts'
import { badFile, type SourceRow, textOf } from './row.ts'
import type { DateFormat, Format, Mapping } from './schema.ts'

/** Turns the rows of a file into request bodies and checks each by the rules of its operation. */
export type RowReader = {
  /** Returns undefined for the head of a table. */
  read: (row: SourceRow) => Item | RefusedRow | undefined
  /** Names of columns, or of JSON members, that are not fields. */
  unknown: () => string[]
  /** Refuses a file that was empty. */
  finish: () => void
}

type Terms = { format: Format; dateFormat: DateFormat; mapping: Mapping }

export const readerOf = (kind: Kind, terms: Terms): RowReader =>
  terms.format === 'jsonl' ? jsonReader(kind) : tableReader(kind, terms)

function tableReader(kind: Kind, { mapping, dateFormat }: Terms): RowReader {
  let head: Head | undefined
  return {
    read: (row) => {
      if (!head) {
        head = headOf(kind.fields, row.cells, mapping)
        return undefined
      }
      const { body, problems } = bodyOf(head, row.cells, dateFormat)
      const item = itemOf(kind, row.line, body, problems)
      return 'problems' in item ? { ...item, problems: item.problems.map(inColumns) } : item
    },
    unknown: () => told(head?.unknown ?? [], (others) => `and ${others} more`),
    finish: () => {
      if (!head) throw badFile('The file is empty.')
    },
  }
}

/** Changes JSON paths to column headings: `list[1].name` becomes `list.2.name`. */
export function inColumns(problem: Problem): Problem {
  const column = (text: string) =>
    text.replaceAll(/\[(\d+)\]/g, (_, place) => (place === '0' ? '' : `.${Number(place) + 1}`))
  const { field, message } = problem
  return { ...problem, ...(field && { field: column(field) }), message: column(message) }
}

/** How many unknown names are reported, and how many letters of each. */
const mostUnknown = 100
const longestName = 200

function told(names: readonly string[], rest: (others: number) => string): string[] {
  const first = names.slice(0, mostUnknown).map((name) => {
    const letters = [...name]
    return letters.length > longestName ? `${letters.slice(0, longestName).join('')}…` : name
  })
  return names.length > mostUnknown ? [...first, rest(names.length - mostUnknown)] : first
}

function jsonReader(kind: Kind): RowReader {
  const unknown = new Set<string>()
  let isEmpty = true
  return {
    read: ({ line, cells }) => {
      isEmpty = false
      const body = objectIn(textOf(cells[0]))
      if (body instanceof Refusal) return { line, problems: body.problems }
      const members = Object.keys(body)
      const verdicts = members.slice(0, verdictsIn(members))
      return itemOf(kind, line, body, [], (names) => {
        for (const name of names)
          if (name !== 'operation' && !verdicts.includes(name) && unknown.size <= mostUnknown)
            unknown.add(name)
      })
    },
    // Each line may have other unknown names, so they are not counted.
    unknown: () => told([...unknown], () => 'and more'),
    finish: () => {
      if (isEmpty) throw badFile('The file is empty.')
    },
  }
}

function objectIn(text: string): Record<string, unknown> | Refusal {
  try {
    const value = parseJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
    return invalid('malformed_json', 'The line is not a JSON object.')
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

type Told = (ignored: readonly string[]) => void

function itemOf(
  kind: Kind,
  line: number,
  given: Record<string, unknown>,
  known: Problem[],
  ignoring?: Told,
): Item | RefusedRow {
  const operation = operationOf(kind, given)
  if (operation === undefined) return { line, problems: [...known, noOperation(kind)] }
  try {
    const { body, ignored } = kind.read(operation, given)
    ignoring?.(ignored)
    const odd = ignoring ? [] : ignored.filter((name) => name !== 'operation')
    const problems = [...known, ...odd.map((field) => notOf(operation, field))]
    return problems.length > 0 ? { line, problems } : { line, operation, body }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { line, problems: [...known, ...error.problems] }
  }
}

/** The operation of a row, given in any letter case; '' if the type has only one operation. */
function operationOf({ operations }: Kind, given: Record<string, unknown>): string | undefined {
  if (!operations) return ''
  const [, named] = Object.entries(given).find(([name]) => name.toLowerCase() === 'operation') ?? []
  return operations.find((one) => one.toLowerCase() === String(named).toLowerCase())
}

const noOperation = ({ operations = [] }: Kind): Problem => ({
  code: 'invalid_value',
  field: 'operation',
  message: `operation must be one of ${operations.join(', ')}.`,
})
const notOf = (operation: string, field: string): Problem => ({
  code: 'not_of_operation',
  field,
  message: `${operation} has no field ${field}.`,
})
