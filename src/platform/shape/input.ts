import type { TObject, TSchema } from 'typebox'
import { type Problem, refuseAll } from '../refusal.ts'
import { conformTo } from './conform.ts'
import { isDateTime } from './dates.ts'
import { fieldNames, nodeOf } from './keywords.ts'
import { mostProblems, rulesOf } from './rules.ts'

/** A body in the shape of its schema, and the names of the fields that were ignored. */
export type ReadBody = { body: unknown; ignored: string[] }

/**
 * Reads a request body by its schema; a refusal lists everything that is wrong. Fields that neither
 * the schema nor the `answer` schema knows are reported as ignored. Read-only fields of the answer
 * are not, so a client may send back what it has read.
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

/**
 * The most names reported as ignored; a client that sends more has not merely misspelt something.
 */
const mostIgnored = 20

/**
 * Each ignored name once, whichever item it stood in, without read-only fields and without texts
 * that are no field name.
 */
function misspelt(paths: Set<string>, known: ReadonlySet<string>): string[] {
  if (paths.size === 0) return []
  const names = [...paths].map((path) => path.replaceAll(/\[\d+\]/g, '').replace(/^\./, ''))
  const unknown = names.filter((name) => !known.has(name.split('.').at(-1)!.toLowerCase()))
  return [...new Set(unknown)].filter((name) => /^[\w.-]{1,60}$/.test(name)).slice(0, mostIgnored)
}

type Query = [name: string, value: string][]

/**
 * Reads the query string by its schema. All values are text; each is converted by its field's type.
 */
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

/** A number that a double cannot hold exactly stays text, which PostgreSQL reads as well. */
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
