import type { TObject, TSchema } from 'typebox'
import { type Problem, refuseAll } from '../refusal.ts'
import { conformTo } from './conform.ts'
import { nodeOf } from './keywords.ts'
import { mostProblems, rulesOf } from './rules.ts'

/** Reads the body of a request by its schema; refuses it with everything that is wrong. */
export function bodyReader(schema: TSchema): (body: unknown) => unknown {
  const conform = conformTo(schema)
  const many = rulesOf(schema)
  const lone = rulesOf(schema, (path) => path.replace(/^\[0\]\.?/, ''))
  return (body) => {
    const problems: Problem[] = []
    const conformed = conform(body ?? null, problems, '')
    const rules = Array.isArray(body) ? many : lone
    refuseAll(400, [...problems, ...rules(conformed ?? null)].slice(0, mostProblems))
    return conformed
  }
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
  const { type, items, identifier } = nodeOf(schema)
  if (items) {
    const turn = turnText(items)
    return (value) => value.split(',').map(turn)
  }
  if (type === 'integer')
    return (value) => {
      const number = /^-?\d{1,16}$/.test(value) ? Number(value) : value
      return identifier && number === 0 ? undefined : number
    }
  if (type === 'boolean') return (value) => booleans[value.toLowerCase()] ?? value
  return (value) => value
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
