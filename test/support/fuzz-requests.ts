import fc from 'fast-check'
import {
  dates,
  decimals,
  Fresh,
  fresh,
  inBody,
  inQuery,
  Known,
  known,
  prototypeKeys,
  type Schemas,
  strange,
  texts,
  valuesOf,
  Written,
  world,
} from './fuzz-values.ts'
import { bodyOf, queryOf, type Schema, type Served } from './openapi.ts'

/** Oddities of the JSON of a body; a field or object is named by its number in writing order. */
type Quirks = {
  /** This field is written twice, the second time perhaps in capitals. */
  twice?: number | undefined
  upper?: number | undefined
  /** An object gets one more field, with this name. */
  extra?: { place: number; key: string } | undefined
}

export type Draft = {
  path: string
  query: readonly { name: string; value: unknown; raw?: string | undefined }[]
  headers: Record<string, string>
  /** Who sends the request: an index of the personas. */
  who: number
  body?: { value: unknown; quirks: Quirks } | { text: string } | undefined
}

/** Finds a value of a field of this name in earlier answers; without a choice, a new name. */
export type Recall = (field: string, choice?: number) => string | number

/** Requests to one operation, made from its entry in the OpenAPI document. */
export function draftsOf(one: Served, schemas: Schemas): fc.Arbitrary<Draft> {
  const { path, operation } = one
  return fc.record({
    path: pathsLike(path),
    query: queriesOf(one, schemas),
    headers: headersOf(Boolean(operation.requestBody)),
    who: fc.oneof(
      { arbitrary: fc.constant(0), weight: 12 },
      { arbitrary: fc.constant(1), weight: 3 },
      fc.integer({ min: 2, max: 5 }),
    ),
    body: bodiesOf(one, schemas),
  })
}

const pathsLike = (path: string) =>
  fc.oneof(
    { arbitrary: fc.constant(path), weight: 20 },
    fc.constantFrom(
      path.toLowerCase(),
      path.toUpperCase(),
      `${path}/`,
      `/${path}`,
      `${path}//`,
      `${path};x=1`,
      `${path}%00`,
      `${path}%2f`,
      path.replace(/\/(.)/, (_, letter) => `/%${letter.charCodeAt(0).toString(16)}`),
      `/x/..${path}`,
    ),
  )

const operators = `equal notEqual in notIn contains beginsWith endsWith greaterThan lessThan
greaterThanOrEqual lessThanOrEqual from to between like EQUAL equal.equal __proto__`.split(/\s+/)
const rawValues = ['%', '%zz', '%c3%28', '%00', '%ed%a0%80', '+', '%2B', 'a%0d%0ab', '%u0041']

/** Query strings, mostly of the operation's own parameters, with any suffix on any of them. */
function queriesOf({ method, operation }: Served, schemas: Schemas): fc.Arbitrary<Draft['query']> {
  const parameters = queryOf(operation)
  const names = parameters.length > 0 ? parameters : [{ name: 'PageSize', schema: {} as Schema }]
  const valued = ({ name, schema }: { name: string; schema: Schema }) =>
    fc.record({
      name: fc.oneof({ arbitrary: fc.constant(name), weight: 20 }, misspelt(name)),
      value: valuesOf(schemas, name, schema, inQuery, 1),
      raw: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 30 },
        fc.constantFrom(...rawValues),
      ),
    })
  const named = fc.constantFrom(...names).chain(valued)
  const once = { maxLength: 3, selector: ({ name }: { name: string }) => name }
  const some = fc.oneof(
    { arbitrary: fc.uniqueArray(named, once), weight: 12 },
    named.map((one) => [one, one]),
  )
  const needed = fc.tuple(...parameters.filter(({ required }) => required).map(valued))
  const inProduct = parameters.some(({ name }) => name === 'ProductID')
    ? fc.oneof(
        world.map((value) => [{ name: 'ProductID', value }]),
        fc.constant([]),
      )
    : fc.constant([])
  const right = fc.tuple(needed, inProduct, some).map((parts) => parts.flat())
  const isLikely = (method === 'GET' || method === 'DELETE') && parameters.length > 0
  return isLikely ? right : fc.oneof({ arbitrary: fc.constant([]), weight: 12 }, some)
}

const misspelt = (name: string) =>
  fc.oneof(
    fc.constantFrom(name.toUpperCase(), name.toLowerCase(), `${name}[]`, `${name}[0]`, ` ${name}`),
    fc.constantFrom(...operators).map((operator) => `${name}.${operator}`),
    fc.constantFrom(`${name}[$ne]`, `${name}[__proto__]`, `${name}.`, `.${name}`, ''),
    fc.constantFrom(...prototypeKeys),
  )

const types = [
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=latin1',
  'application/json\t',
  'application/jsonx',
  'application/merge-patch+json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  '*/*',
  '',
]
const oddHeaders: Record<string, string>[] = [
  { Version: '1.0' },
  { Version: '' },
  { Version: '2.0, 2.0' },
  { Accept: 'application/octet-stream' },
  { Accept: 'text/html' },
  { 'Content-Encoding': 'gzip' },
  { 'X-Document-Password': 'p\u00e4ssword' },
  { 'X-Forwarded-For': "1.2.3.4, ' or 1=1" },
  { 'Idempotency-Key': '' },
  { 'Idempotency-Key': 'x'.repeat(256) },
  { 'Idempotency-Key': '\u00ff' },
]
const keys = fc.integer({ min: 1, max: 20 }).map((n) => ({ 'Idempotency-Key': `again-${n}` }))

const headersOf = (hasBody: boolean): fc.Arbitrary<Record<string, string>> =>
  fc
    .tuple(
      hasBody
        ? fc.oneof(
            { arbitrary: fc.constant('application/json'), weight: 30 },
            fc.constantFrom(...types),
          )
        : fc.constant('application/json'),
      fc.oneof(
        { arbitrary: fc.constant({}), weight: 16 },
        { arbitrary: keys, weight: 2 },
        fc.constantFrom(...oddHeaders),
      ),
    )
    .map(([type, odd]) => ({ 'Content-Type': type, ...odd }))

function bodiesOf({ operation }: Served, schemas: Schemas): fc.Arbitrary<Draft['body']> {
  const schema = bodyOf(operation)
  if (!schema) return fc.oneof({ arbitrary: fc.constant(undefined), weight: 12 }, oddBodies)
  const value = fc.oneof(
    { arbitrary: nearlyRight(schema, schemas), weight: 3 },
    { arbitrary: valuesOf(schemas, '', schema, inBody), weight: 1 },
  )
  const written = fc.record({ value, quirks })
  return fc.oneof({ arbitrary: written, weight: 12 }, { arbitrary: oddBodies, weight: 1 })
}

const place = fc.nat(12)
const quirks: fc.Arbitrary<Quirks> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 10 },
  fc.record({ twice: place }),
  fc.record({ upper: place }),
  fc.record({ extra: fc.record({ place, key: fc.constantFrom(...prototypeKeys, 'x', '') }) }),
)

/** The start of a field in a multipart form with the boundary x. */
const part = '--x\r\nContent-Disposition: form-data; name='

const oddBodies = fc
  .constantFrom(
    '',
    '{',
    '{}',
    '[]',
    'null',
    '"x"',
    '[[]]',
    '[null]',
    '{"a":1,}',
    "{'a':1}",
    '\ufeff{}',
    '{"a":"\\ud800"}',
    '{"\\u0000":1}',
    '{"a":1}{"a":1}',
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '['.repeat(25),
    `${'[{"a":'.repeat(3000)}1`,
    `[${'{},'.repeat(1001)}{}]`,
    `{${Array.from({ length: 1100 }, (_, i) => `"f${i}":1`).join()}}`,
    'productID=1&name=x',
    `${part}"documentID"\r\n\r\n1\r\n${part}"file"; filename="../a"\r\n\r\nHello\r\n--x--\r\n`,
    `${part}"file`,
  )
  .map((text) => ({ text }))

type Path = (string | number)[]

/** The paths of everything inside a value. */
const placesIn = (value: unknown, at: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [
        [...at, key],
        ...placesIn(inner, [...at, key]),
      ])
    : []

function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to
  if (typeof value !== 'object' || value === null) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  copy[key] = changed(copy[key], rest, to)
  return copy
}

const isName = (key: unknown) => /(ID|Id|Code|username|token)$/i.test(String(key))

/** The document's example about existing records, with up to three mistakes in it. */
function nearlyRight(schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  const { $ref } = schema.oneOf?.[0] ?? schema
  const { example = {}, properties = {} } = $ref ? schemas[$ref.split('/').at(-1)!]! : schema
  const places = placesIn(example)
  const names = places.filter((at) => isName(at.at(-1)) && !properties[at.at(-1)!]?.enum)
  const choice = world.chain((one) =>
    fc.tuple(
      ...names.map((at) =>
        /^external/.test(String(at.at(-1)))
          ? fc.oneof({ arbitrary: fresh, weight: 4 }, known, fc.constant(one))
          : fc.oneof(
              { arbitrary: fc.constant(one), weight: 12 },
              { arbitrary: known, weight: 3 },
              fresh,
            ),
      ),
    ),
  )
  const value = fc.oneof(strange, fc.constant(undefined), decimals, dates, texts)
  const field = fc.constantFrom(...Object.keys(properties), 'x')
  const more = field.chain((name) =>
    valuesOf(schemas, name, properties[name] ?? {}, inBody, 1).map((to) => ({ at: [name], to })),
  )
  const change = fc.oneof(
    fc.record({ at: fc.constantFrom(...places, []), to: fc.oneof(value, known) }),
    { arbitrary: more, weight: 2 },
  )
  const count = fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, fc.nat(3))
  const changes = count.chain((n) => fc.array(change, { minLength: n, maxLength: n }))
  return fc.tuple(choice, changes).map(([choices, list]) => {
    const about = names.reduce<unknown>((body, at, i) => changed(body, at, choices[i]), example)
    return list.reduce((body, { at, to }) => changed(body, at, to), about)
  })
}

/** Writes a value as JSON, with its quirks. */
export function jsonOf(value: unknown, quirks: Quirks, recall: Recall): string {
  let fields = 0
  let objects = 0
  return write(value, '')

  function write(one: unknown, name: string): string {
    if (one instanceof Known) return JSON.stringify(recall(name, one.choice))
    if (one instanceof Fresh) return JSON.stringify(recall(name))
    if (one instanceof Written) return one.text
    if (Array.isArray(one)) return `[${one.map((item) => write(item, name)).join()}]`
    if (typeof one !== 'object' || one === null) return JSON.stringify(one) ?? 'null'
    const { extra } = quirks
    const added =
      extra && objects++ === extra.place ? [`${JSON.stringify(extra.key)}:{"polluted":true}`] : []
    const own = Object.entries(one).flatMap(([key, inner]) =>
      inner === undefined ? [] : field(key, inner),
    )
    return `{${[...own, ...added].join()}}`
  }

  function field(key: string, inner: unknown): string[] {
    const number = fields++
    const text = write(inner, key)
    const pair = (name: string) => `${JSON.stringify(name)}:${text}`
    if (number === quirks.twice) return [pair(key), pair(number % 2 ? key : key.toUpperCase())]
    return [pair(number === quirks.upper ? key.toUpperCase() : key)]
  }
}

/** The query string of a draft. */
export function queryText(query: Draft['query'], recall: Recall): string {
  const pairs = query.map(
    ({ name, value, raw }) =>
      `${encoded(name)}=${raw ?? encoded(String(plain(name, value, recall)))}`,
  )
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function plain(name: string, value: unknown, recall: Recall): unknown {
  if (value instanceof Known) return recall(name, value.choice)
  if (value instanceof Fresh) return recall(name)
  if (value instanceof Written) return value.text
  return Array.isArray(value) ? value.map((one) => plain(name, one, recall)).join() : value
}

/** Encodes a text for a URL; half a surrogate pair cannot be encoded and becomes raw bytes. */
const encoded = (text: string) =>
  encodeURIComponent(text.replace(/[\ud800-\udfff]/g, '\ufffd')).replaceAll(
    '%EF%BF%BD',
    '%ED%A0%80',
  )
