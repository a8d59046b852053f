import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { verify } from '../src/verify/verify.ts'
import type { Reply } from './support/client.ts'
import { type Service, startService } from './support/service.ts'

/**
 * Every operation gets requests made from its own entry in the OpenAPI document: mostly right,
 * with here and there something that does not belong. Whatever it is, the answer is an envelope and
 * never a fault of ours. A failure prints its seed and the smallest request that fails.
 */
type Schema = {
  $ref?: string
  oneOf?: Schema[]
  anyOf?: Schema[]
  enum?: unknown[]
  type?: string
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  items?: Schema
  properties?: Record<string, Schema>
  example?: unknown
}
type Operation = {
  parameters: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
}

const runs = Number(process.env.FUZZ_RUNS ?? 15)

let service: Service
let schemas: Record<string, Schema>
let operations: { method: string; path: string; operation: Operation }[]
before(async () => {
  service = await startService({ REGISTRY_LOG_LEVEL: 'error' }) // a fault tells its cause
  const document = JSON.parse((await service.anyone.get('/openapi.json')).text)
  schemas = document.components.schemas
  operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
  )
  // The ledger first, before others deactivate and delete what it stands on.
  const isLedger = ({ path }: { path: string }) => /^\/(Biz(Event|Transaction)|Dist)/.test(path)
  operations.sort((a, b) => Number(isLedger(b)) - Number(isLedger(a)))
  await seed()
})
after(() => service.stop())

/** What the examples speak of: two products, two classes, two investors, some units. */
async function seed() {
  const { admin } = service
  const product = { productID: 1 }
  for (const name of ['GROWTH', 'INCOME'])
    await admin.post('/Product', { name, externalProductId: name })
  for (const securityCode of ['GRA', 'GRB']) {
    await admin.post('/Investment', { ...product, name: securityCode, securityCode })
    const price = { ...product, securityCode, priceDate: '2024-01-01', price: 1.25 }
    await admin.post('/Investment/Price', price)
  }
  for (const name of ['Ann', 'Bo'])
    await admin.post('/BizEntity', {
      name,
      bizEntityTypeID: 1,
      bizEntityStatusID: 1,
      accounts: [product],
      bizEntityParties: [{ person: { firstName: name } }],
    })
  const units = { ...product, securityCode: 'GRA', quantity: 5000, transactionDate: '2024-02-01' }
  for (const accountID of [1, 2])
    await admin.post('/BizTransaction/Allotment', { ...units, accountID })
}

const strange = fc.constantFrom<unknown>(
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -0.000_000_01,
  1e21,
  true,
  [],
  {},
  [[]],
  [null],
  'x'.repeat(3000),
  '\u0000',
  '\ud800',
  '😀',
  "'; drop table product; --",
  '%_\\',
  '1e5',
  'NaN',
  'Infinity',
  '2024-02-30',
  '9999-12-31T23:59:59Z',
  '0001-01-01',
  '********1',
)

const texts = fc.oneof(
  fc.constantFrom('GROWTH', 'GRA', 'GRB', 'x', 'AU', 'NSW', '2000', 'a@example.com', '083-001'),
  fc.string({ maxLength: 12, unit: 'grapheme' }),
)
const dates = fc.constantFrom('2024-01-01', '2024-02-29', '2020-06-30', '1990-12-31', '2031-01-01')
const decimals = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 100, 50, '0.1', 12.5, -5, '123456789012345678', 1e-9, '99.99'),
  fc.integer({ min: -1000, max: 1000 }),
)

/** Values that a schema asks for, and now and then one that it does not. */
function valuesOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const right = rightOf(schema, depth)
  return depth === 0 ? right : fc.oneof({ arbitrary: right, weight: 24 }, strange)
}

function rightOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref) return rightOf(schemas[schema.$ref.split('/').at(-1)!]!, depth)
  const choices = schema.oneOf ?? schema.anyOf
  if (choices) return fc.oneof(...choices.map((choice) => valuesOf(choice, depth)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.properties) return objectOf(schema.properties, depth)
  if (schema.items) return fc.array(valuesOf(schema.items, depth + 1), { maxLength: 3 })
  if (schema.type === 'integer') return fc.constantFrom(1, 1, 2, 3, 0, schema.maximum ?? 4)
  if (schema.type === 'number') return decimals
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.format === 'date') return dates
  if (schema.format === 'date-time') return dates.map((date) => `${date}T12:00:00Z`)
  return texts.map((text) => text.slice(0, schema.maxLength))
}

/** Some of the fields, more of them near the top, where most is required. */
function objectOf(properties: Record<string, Schema>, depth: number): fc.Arbitrary<unknown> {
  const left = { freq: depth > 1 ? 1 : 2, nil: undefined }
  if (depth > 4) return fc.constant({})
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    fc.option(valuesOf(schema, depth + 1), left),
  ])
  return fc.record(Object.fromEntries(fields))
}

type Path = (string | number)[]

/** The places of everything in a value. */
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

/** The example of the document, as it is or with a few things in it that are not right. */
function nearlyRight(schema: Schema): fc.Arbitrary<unknown> {
  const { $ref } = schema.oneOf?.[0] ?? schema
  const { example } = $ref ? schemas[$ref.split('/').at(-1)!]! : schema
  const value = fc.oneof(strange, fc.constant(undefined), decimals, dates, texts)
  const change = fc.tuple(fc.constantFrom(...placesIn(example)), value)
  return fc
    .array(change, { maxLength: 3 })
    .map((changes) => changes.reduce((body, [at, to]) => changed(body, at, to), example))
}

function isEnvelope({ status, text }: Reply, what: string) {
  assert.ok(status < 500, `${what}: ${status} ${text}`)
  const { result, recordCount, errors } = JSON.parse(text)
  assert.equal(result, status === 200, `${what}: ${text}`)
  assert.equal(typeof recordCount, 'number')
  if (!result) assert.ok(errors.length > 0)
}

/** Signing in and out, and one's own password, would end the test rather than the service. */
const isOwnSession = (path: string) => /^\/User/.test(path)

describe('No input yields a fault', () => {
  it('in a body', async () => {
    for (const { method, path, operation } of operations) {
      const schema = operation.requestBody?.content['application/json'].schema
      if (!schema || isOwnSession(path)) continue
      const bodies = fc.oneof(valuesOf(schema), nearlyRight(schema))
      const property = fc.asyncProperty(bodies, async (body) => {
        const reply = await service.admin.call(method, path, JSON.stringify(body))
        isEnvelope(reply, `${method} ${path} ${JSON.stringify(body)}`)
      })
      await fc.assert(property, { numRuns: runs })
    }
  })

  it('in a query string', async () => {
    for (const { method, path, operation } of operations) {
      const parameters = operation.parameters.filter((parameter) => parameter.in === 'query')
      if (parameters.length === 0 || method === 'POST' || isOwnSession(path)) continue
      const one = fc
        .constantFrom(...parameters)
        .chain(({ name, schema }) => valuesOf(schema, 1).map((value) => [name, String(value)]))
      const query = fc.uniqueArray(one, { maxLength: 4, selector: ([name]) => name })
      const property = fc.asyncProperty(query, async (pairs) => {
        const text = new URLSearchParams(pairs as [string, string][]).toString()
        isEnvelope(await service.admin.call(method, `${path}?${text}`), `${method} ${path}?${text}`)
      })
      await fc.assert(property, { numRuns: runs })
    }
  })

  it('nor does what was accepted of it leave a register that is not right', async () => {
    const wrong = (await verify(service.connection)).filter(({ found }) => found > 0)
    assert.deepEqual(wrong, [])
  })
})
