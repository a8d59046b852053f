import type { TSchema } from 'typebox'
import type { Problem } from '../refusal.ts'
import { isDateTime } from './dates.ts'
import { plainDecimal } from './decimal.ts'
import { WrittenNumber } from './json.ts'

/**
 * Brings what a client sent into the shape a schema describes, before the rules are checked:
 * names in the schema's letter case, unknown fields dropped, null as absent, 0 as "no id",
 * decimals as their plain digits, dates cut from date-times. It judges nothing but a name that is
 * given twice; what does not fit is passed on as it is, for the rules to refuse.
 */
export type Conform = (value: unknown, problems: Problem[], path: string) => unknown

type Node = TSchema & {
  type?: string
  format?: string
  items?: Node
  properties?: Record<string, Node>
  decimal?: object
  lookup?: string
  identifier?: boolean
  lone?: boolean
}

export function conformTo(schema: TSchema): Conform {
  const node = schema as Node
  if (node.properties) return conformObject(node.properties)
  if (node.items) return conformArray(node)
  if (node.decimal) return (value) => (value === null ? undefined : (plainDecimal(value) ?? value))
  if (node.type === 'integer') return conformInteger(Boolean(node.lookup ?? node.identifier))
  if (node.format === 'date') return (value) => cutDate(value ?? undefined)
  return (value) => value ?? undefined
}

function conformObject(properties: Record<string, Node>): Conform {
  const fields = new Map(
    Object.entries(properties).map(([name, schema]) => [
      name.toLowerCase(),
      { name, conform: conformTo(schema) },
    ]),
  )
  return (value, problems, path) => {
    if (!isPlainObject(value)) return value ?? undefined
    const conformed: Record<string, unknown> = {}
    for (const [key, given] of Object.entries(value)) {
      const field = fields.get(key.toLowerCase())
      if (!field) continue
      const at = path ? `${path}.${field.name}` : field.name
      if (Object.hasOwn(conformed, field.name)) problems.push(givenTwice(at))
      const fieldValue = field.conform(given, problems, at)
      if (fieldValue !== undefined) conformed[field.name] = fieldValue
    }
    return conformed
  }
}

function conformArray(node: Node): Conform {
  const conform = conformTo(node.items as Node)
  return (value, problems, path) => {
    if (node.lone && isPlainObject(value)) return [conform(value, problems, path)]
    if (!Array.isArray(value)) return value ?? undefined
    return value.map((item, i) => conform(item, problems, `${path}[${i}]`) ?? null)
  }
}

const conformInteger =
  (zeroIsNone: boolean): Conform =>
  (value) => {
    const number = value instanceof WrittenNumber ? wholeNumber(value.text) : value
    return number === null || (zeroIsNone && number === 0) ? undefined : number
  }

/** 1.0 and 1e3 are integers too; what a double cannot hold exactly stays as it was written. */
function wholeNumber(text: string): number | string {
  const plain = plainDecimal(text) ?? ''
  const number = /^-?\d+$/.test(plain) ? Number(plain) : Number.NaN
  return Number.isSafeInteger(number) ? number : text
}

const cutDate = (value: unknown) => (isDateTime(value) ? value.slice(0, 10) : value)

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof WrittenNumber)

const givenTwice = (field: string): Problem => ({
  code: 'given_twice',
  field,
  message: `${field} is given twice.`,
})
