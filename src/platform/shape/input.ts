import type { TObject, TSchema } from 'typebox'
import { type Problem, refuseAll } from '../refusal.ts'
import { conformTo } from './conform.ts'
import { isDateTime } from './dates.ts'
import { fieldNames, nodeOf } from './keywords.ts'
import { mostProblems, rulesOf } from './rules.ts'

/** A body as its schema has it, and the fields of it that nobody will look at. */
export type ReadBody = { body: unknown; ignored: string[] }

/**
 * Reads the body of a request by its schema; refuses it with everything that is wrong. Fields that
 * neither it nor the `answer` knows are told as ignored: what an answer shows may be sent back.
 */
export function bodyReader(schema: TSchema, answer: TSchema = {}): (body: unknown) => ReadBody {
  const conform = conformTo(schema)
  const known = fieldNames([schema, answer])
  const many = rulesOf(schema)
  const lone = rulesOf(schema, (path) => path.replace(/^\[0\]\.?/, ''))
  return (given) => {
    const findings = { problems: [], ignored: new Set<string>() }
    const body = conform(given ?? null, findings, '')
    const rules = Array.isArray(given) ? many : lone
    refuseAll(400, [...findings.problems, ...rules(body ?? null)].slice(0, mostProblems))
    return { body, ignored: misspelt(findings.ignored, known) }
  }
}

/** Names told as ignored; who sends more has not misspelt anything. */
const mostIgnored = 20

/** Each once, whatever the item it stood in, and without what is read-only or no name at all. */
function misspelt(paths: Set<string>, known: ReadonlySet<string>): string[] {
  if (paths.size === 0) return []
  const names = [...paths].map((path) => path.replaceAll(/\[\d+\]/g, '').replace(/^\./, ''))
  const unknown = names.filter((name) => !known.has(name.split('.').at(-1)!.toLowerCase()))
  return [...new Set(unknown)].filter((name) => /^[\w.-]{1,60}$/.test(name)).slice(0, mostIgnored)
}

type Query = [name: string, value: string][]

/** Reads the query string by its schema. Its values are text, so each is turned by its field. */
export function queryReader(schema: TObject): (query: Query) => unknown {
  const parameters = new Map(
    Object.entries(schema.properties).map(([name, field]) => [
      name.toLowerCase(),
      { name, turn: turnText(field as TSchema) },
    ]),
  )
  const rules = rulesOf(schema)
  return (query) => {
    const problems: Problem[] = []
    const read: Record<string, unknown> = {}
    const seen = new Set<string>()
    for (const [name, value] of query) {
      const parameter = parameters.get(name.toLowerCase())
      if (!parameter) problems.push(unknownParameter(name))
      else if (seen.has(parameter.name)) problems.push(repeated(parameter.name))
      else if (/\0|\ufffd/.test(value)) problems.push(badText(parameter.name))
      else {
        const turned = parameter.turn(value)
        if (turned !== undefined) read[parameter.name] = turned
        seen.add(parameter.name)
      }
    }
    refuseAll(400, [...problems, ...rules(read)])
    return read
  }
}

type Turn = (value: string) => unknown

function turnText(schema: TSchema): Turn {
  const { type, format, items, identifier, int64, conformed } = nodeOf(schema)
  if (items) {
    const turn = turnText(items)
    return (value) => value.split(',').map((item) => turn(item.trim()))
  }
  if (type === 'integer')
    return (value) => {
      const number = /^-?\d{1,16}$/.test(value) ? Number(value) : value
      return identifier && number === 0 ? undefined : number
    }
  if (format === 'date') return (value) => (isDateTime(value) ? value.slice(0, 10) : value)
  if (int64) return longNumber
  if (type === 'boolean') return (value) => booleans[value.toLowerCase()] ?? value
  return (value) => (conformed ? conformed(value as never) : value)
}

/** Beyond what a double holds exactly it stays text, which PostgreSQL reads as well. */
const longNumber = (value: string) => {
  const number = /^-?\d{1,19}$/.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : value
}

const booleans: Record<string, boolean> = { true: true, false: false }

const unknownParameter = (field: string): Problem => ({
  code: 'unknown_parameter',
  field,
  message: `${field} is not a parameter of this operation.`,
})
const repeated = (field: string): Problem => ({
  code: 'given_twice',
  field,
  message: `${field} is given twice.`,
})
const badText = (field: string): Problem => ({
  code: 'invalid_value',
  field,
  message: `${field} holds a character that is not allowed.`,
})
