import type { TSchema } from 'typebox'
import type { Problem } from '../refusal.ts'
import { isDateTime } from './dates.ts'
import { plainDecimal } from './decimal.ts'
import { WrittenNumber } from './json.ts'
import { type Node, nodeOf, usualItems } from './keywords.ts'
import { inside, itemOf } from './path.ts'

/**
 * Brings a client's value into the shape of a schema, before the rules are checked: names in the
 * schema's letter case, unknown fields dropped, null as absent, 0 as "no id", decimals as their
 * plain digits, dates cut from date-times, and the schema's own `conformed`. It reports only names
 * given twice and lists that are too long; any other misfit is passed on unchanged, for the rules
 * to refuse.
 */
export type Conform = (value: unknown, findings: Findings, path: string) => unknown

/** Problems with the shape of a body, and the paths of fields that the schema does not know. */
export type Findings = { problems: Problem[]; ignored: Set<string> }

export function conformTo(schema: TSchema): Conform {
  const node = nodeOf(schema)
  const { conformed, clearable } = node
  const conform = conformKind(node)
  return (value, findings, path) => {
    if (clearable && value === null) return null
    const given = conform(value, findings, path)
    return given === undefined || !conformed ? given : conformed(given as never)
  }
}

function conformKind(node: Node): Conform {
  if (node.properties) return conformObject(node.properties)
  if (node.items) return conformArray(node, node.items)
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
  const named = new Map([...fields.values()].map((field) => [field.name, field]))
  return (value, findings, path) => {
    if (!isPlainObject(value)) return value ?? undefined
    const conformed: Record<string, unknown> = {}
    const entries = Object.entries(value)
    // The JSON reader refuses equal keys, so a field can be given twice only in another letter
    // case.
    const seen = entries.every(([key]) => named.has(key)) ? undefined : new Set<string>()
    for (const [key, given] of entries) {
      const field = named.get(key) ?? fields.get(key.toLowerCase())
      if (!field) {
        findings.ignored.add(inside(path, key))
        continue
      }
      const at = inside(path, field.name)
      if (seen?.has(field.name)) findings.problems.push(givenTwice(at))
      seen?.add(field.name)
      const fieldValue = field.conform(given, findings, at)
      if (fieldValue !== undefined) conformed[field.name] = fieldValue
    }
    return conformed
  }
}

/**
 * Cuts a list that is too long. The rules report everything that is wrong with every item, and for
 * five million bad items (10 MiB) that took ten seconds and 1.6 GB.
 */
function conformArray(node: Node, items: Node): Conform {
  const conform = conformTo(items)
  const most = node.maxItems ?? usualItems
  return (value, findings, path) => {
    if (node.lone && isPlainObject(value)) return [conform(value, findings, path)]
    if (!Array.isArray(value)) return value ?? undefined
    if (value.length > most) findings.problems.push(tooMany(path, most))
    return value.slice(0, most).map((item, i) => conform(item, findings, itemOf(path, i)) ?? null)
  }
}

const conformInteger =
  (zeroIsNone: boolean): Conform =>
  (value) => {
    const number = value instanceof WrittenNumber ? wholeNumber(value.text) : value
    return number === null || (zeroIsNone && number === 0) ? undefined : number
  }

/** Reads 1.0 and 1e3 as integers too; a number that a double cannot hold exactly stays text. */
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

const tooMany = (field: string, most: number): Problem => ({
  code: 'too_many',
  ...(field && { field }),
  message: `${field || 'The body'} has more than ${most} items.`,
})
const givenTwice = (field: string): Problem => ({
  code: 'given_twice',
  field,
  message: `${field} is given twice.`,
})
