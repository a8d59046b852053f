import type { TSchema } from 'typebox'
import { lookups } from '../lookup/lookups.ts'
import { decimalDigits } from '../shape/decimal.ts'
import { meaningOf } from '../shape/glossary.ts'
import { type DecimalRule, isOwnKeyword, type Node, nodeOf } from '../shape/keywords.ts'
import { presentFields } from './present-fields.ts'

/** Whether a schema describes input or an answer: in input a decimal may be a text. */
export type Side = 'input' | 'answer'
export type Show = (schema: TSchema, side: Side) => Record<string, unknown>

/**
 * Turns schemas into those of the document; named schemas become components and are referred to.
 */
export function schemaGallery(components: Record<string, unknown>, answers: ReadonlySet<string>) {
  const show: Show = (schema, side) => {
    const { $id, ...own } = schema as { $id?: string }
    if (!$id) return plain(own, side)
    const name = side === 'input' && answers.has($id) ? `${$id}Input` : $id
    if (!(name in components)) {
      components[name] = {} // reserves the name, because a schema may contain itself
      components[name] = plain(side === 'answer' ? withPresent($id, own) : own, side)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  /** The schema in plain JSON Schema, with our own keywords translated. */
  function plain(schema: object, side: Side): Record<string, unknown> {
    const { clearable, ...named } = schema as { clearable?: boolean }
    if (clearable) return { anyOf: [plain(named, side), { type: 'null' }] }
    const entries = Object.entries(schema)
      .filter(([keyword]) => !isOwnKeyword(keyword))
      .map(([keyword, value]) => {
        if (keyword === 'properties') return [keyword, fieldsOf(value, side)]
        if (keyword === 'items') return [keyword, show(value, side)]
        if (keyword === 'anyOf') return [keyword, value.map((one: TSchema) => show(one, side))]
        return [keyword, value]
      })
    const { decimal, int64, sensitive, encrypted, lookup } = nodeOf(schema)
    return {
      ...(decimal && decimalSchema(decimal, side)),
      ...(int64 && { type: 'integer', format: 'int64' }),
      ...(sensitive && !encrypted && side === 'input' && { writeOnly: true }),
      ...Object.fromEntries(entries),
      ...(lookup && namesOf(lookup)),
    }
  }

  /** Adds a description to each field: from its schema, otherwise from its name. */
  const fieldsOf = (fields: Record<string, TSchema>, side: Side) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        described(name, field, show(field, side)),
      ]),
    )

  return show
}

/** Removes null from the fields whose schema allows it but that never are null. */
function withPresent(name: string, schema: object): object {
  const present = presentFields.get(name)
  const { properties } = schema as Node
  if (!present || !properties) return schema
  const shown = Object.entries(properties).map(([field, inner]) => [
    field,
    present.has(field) ? (inner.anyOf?.[0] ?? inner) : inner,
  ])
  return { ...schema, properties: Object.fromEntries(shown) }
}

export function described(name: string, field: TSchema, shown: Record<string, unknown>) {
  const description = shown.description ?? innerWords(shown) ?? meaningOf(name, lookupOf(field))
  return { ...shown, description }
}

type Inner = { description?: string }[] | undefined
const innerWords = ({ anyOf }: Record<string, unknown>) => (anyOf as Inner)?.[0]?.description

const lookupOf = (field: TSchema): string | undefined => {
  const node: Node = nodeOf(field)
  return node.lookup ?? node.anyOf?.[0]?.lookup
}

/** The names that code generators give the values. */
function namesOf(category: string) {
  const values = (lookups as Record<string, Record<string, number>>)[category] ?? {}
  return {
    'x-lookup': category,
    'x-enum-varnames': Object.keys(values).map((name) =>
      name.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = '') => next.toUpperCase()),
    ),
  }
}

/** The names of all schemas that occur in answers. */
export function answerNames(schemas: readonly TSchema[]): Set<string> {
  const names = new Set<string>()
  const walk = (schema: TSchema) => {
    const { $id, items, anyOf = [], properties = {} } = nodeOf(schema) as Node & { $id?: string }
    if ($id && names.has($id)) return
    if ($id) names.add($id)
    for (const inner of [...(items ? [items] : []), ...anyOf, ...Object.values(properties)])
      walk(inner)
  }
  schemas.forEach(walk)
  return names
}

const digits = `\\d{1,${decimalDigits}}`
const decimalText = `^-?${digits}(\\.${digits})?$`

/**
 * A decimal, exact in both directions if clients read it from the answer's text and send it as
 * text.
 */
const decimalSchema = (rule: DecimalRule, side: Side) => ({
  ...(side === 'answer'
    ? { type: 'number' }
    : { type: ['number', 'string'], pattern: decimalText }),
  format: 'decimal',
  ...(rule.minimum !== undefined && { minimum: Number(rule.minimum) }),
  ...(rule.above !== undefined && { exclusiveMinimum: Number(rule.above) }),
  ...(rule.maximum !== undefined && { maximum: Number(rule.maximum) }),
})
