import fc from 'fast-check'
import type { Schema } from './openapi.ts'

/**
 * A placeholder for an id, code or name from an earlier answer, chosen when the request is sent. A
 * choice below zero names one of the worlds, whose records belong together.
 */
export class Known {
  readonly choice: number

  constructor(choice: number) {
    this.choice = choice
  }
}

/** A placeholder for a name that no record has yet. */
export class Fresh {}

/** A text to be written into the JSON as it is, even if it is not valid JSON. */
export class Written {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Property names that have a meaning in JavaScript. */
export const prototypeKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf']

const hostileTexts = [
  '',
  ' ',
  '\t\r\n',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00x',
  '\u202eevil\u202c',
  'e\u0301\u0301\u0301\u0301',
  '\u0627\u0644\u0639\u0631\u0628\u064a\u0629',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
  '\ufeff\uffff\u2028',
  '\ufdfa\u0130\u0131\u00df',
  '\u001b[31m',
  'x'.repeat(3000),
  "'; drop table product; --",
  "1' or '1'='1",
  '1); select pg_sleep(9)--',
  '$1::int',
  '../../../etc/passwd',
  '..\\..\\x',
  '%2e%2e%2f',
  '%_\\',
  '%',
  '<script>1</script>',
  '=1+1',
  'NaN',
  'Infinity',
  '-infinity',
  'now',
  '1e5',
  '0x10',
  ' 1',
  '1,2',
  'null',
  'true',
  '2024-02-30',
  '2024-13-01',
  '0000-01-01',
  '0001-01-01',
  '9999-12-31T23:59:59Z',
  '294277-01-01',
  '2024-01-01T25:00:00Z',
  '2024-01-01T00:00:00+14:00',
  '********1',
  ...prototypeKeys,
]

const hostileNumbers = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1.0',
  '1e2',
  '-0.00000001',
  '2147483648',
  '9007199254740993',
  '9223372036854775808',
  '123456789012345678.12345678',
  '1e21',
  '1e400',
  '-1e400',
  '1e-400',
  '9'.repeat(400),
  `0.${'0'.repeat(300)}1`,
  '00',
  '+1',
  '.5',
  '0x10',
  'NaN',
  'Infinity',
]

const others: unknown[] = [null, true, false, [], {}, [[]], [null], [{}], { a: 1 }]

export const texts = fc.oneof(
  fc.constantFrom('x', 'AU', 'AUS', 'NSW', '2000', 'a@example.com', '083-001', 'Ann', 'M'),
  fc.string({ maxLength: 12, unit: 'grapheme' }),
  fc.string({ maxLength: 6, unit: 'binary' }),
)

export const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.constantFrom(...hostileNumbers).map((text) => new Written(text)),
  fc.constantFrom(...others),
  texts,
)

export const known = fc.nat(999).map((choice) => new Known(choice))
const worlds = 2
export const world = fc.integer({ min: -worlds, max: -1 }).map((choice) => new Known(choice))
export const fresh = fc.constant(new Fresh())
const days = ['2024-01-01', '2024-02-29', '2020-06-30', '1990-12-31', '2031-01-01', '2024-06-30']
export const dates = fc.constantFrom(...days)
export const decimals = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 100, 50, '0.1', 12.5, -5, '123456789012345678', 1e-9, '99.99'),
  fc.integer({ min: -1000, max: 1000 }),
)

/** The limits of what a schema takes, with the values next to them on both sides. */
function edgesOf({ minimum, maximum, maxLength, minLength }: Schema): fc.Arbitrary<unknown>[] {
  const numbers = [minimum, maximum].flatMap((end) =>
    end === undefined ? [] : [end - 1, end, end + 1],
  )
  const lengths = [minLength, maxLength].flatMap((end) =>
    end === undefined || end > 3000 ? [] : [Math.max(0, end - 1), end, end + 1],
  )
  const all = [...numbers, ...lengths.map((length) => 'é'.repeat(length))]
  return all.length > 0 ? [fc.constantFrom(...all)] : []
}

type Weights = { right: number; edge: number; strange: number }
/** Bodies have many fields, and one wrong field gets a refusal, so wrong values must be rare. */
export const inBody: Weights = { right: 60, edge: 1, strange: 1 }
export const inQuery: Weights = { right: 20, edge: 1, strange: 2 }

export type Schemas = Record<string, Schema>

/** Values that fit a schema, and now and then one that does not. */
export function valuesOf(
  schemas: Schemas,
  name: string,
  schema: Schema,
  weights: Weights,
  depth = 0,
): fc.Arbitrary<unknown> {
  const right = rightOf(schemas, name, schema, weights, depth)
  return fc.oneof(
    { arbitrary: right, weight: weights.right },
    ...edgesOf(schema).map((arbitrary) => ({ arbitrary, weight: weights.edge })),
    { arbitrary: strange, weight: weights.strange },
  )
}

function rightOf(
  schemas: Schemas,
  name: string,
  schema: Schema,
  weights: Weights,
  depth: number,
): fc.Arbitrary<unknown> {
  const inner = (part: Schema, deeper: number, as = name) =>
    valuesOf(schemas, as, part, weights, depth + deeper)
  if (schema.$ref)
    return rightOf(schemas, name, schemas[schema.$ref.split('/').at(-1)!]!, weights, depth)
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return fc.oneof(...choices.map((choice) => inner(choice, 0)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.properties) {
    if (depth > 3) return fc.constant({})
    const fields = Object.entries(schema.properties).map(([field, part]) => [
      field,
      fc.option(inner(part, 1, field), { freq: depth > 0 ? 1 : 2, nil: undefined }),
    ])
    return fc.record(Object.fromEntries(fields))
  }
  if (schema.items) return fc.array(inner(schema.items, 1), { maxLength: depth > 1 ? 1 : 2 })
  return scalarOf(name, schema)
}

function scalarOf(name: string, { type, format, maxLength }: Schema): fc.Arbitrary<unknown> {
  if (type === 'integer')
    return /IDs?(\.|$)/i.test(name)
      ? fc.oneof({ arbitrary: known, weight: 6 }, fc.integer({ min: 0, max: 4 }))
      : fc.integer({ min: 0, max: 100 })
  if (type === 'number') return decimals
  if (type === 'boolean') return fc.boolean()
  if (format === 'date') return dates
  if (format === 'date-time') return dates.map((date) => `${date}T12:00:00Z`)
  const text = texts.map((one) => one.slice(0, maxLength))
  return /(Id|Code|Number|name|password|token)(\.|$)/i.test(name)
    ? fc.oneof({ arbitrary: known, weight: 2 }, fresh, text)
    : text
}
