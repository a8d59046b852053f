import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { presentFields } from '../../src/platform/http/present-fields.ts'
import { columnOf } from '../../src/platform/sql/render.ts'
import { rowsOf } from '../support/database.ts'
import {
  type Document,
  readDocument,
  type Schema,
  type Served,
  servedBy,
} from '../support/openapi.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let document: Document
let served: Served[]
before(async () => {
  service = await startService()
  document = await readDocument(service.anyone)
  served = servedBy(document)
})
after(() => service.stop())

/** All schemas inside a schema, at any depth, each with its path. */
function* schemasIn(schema: Schema, path: string): Generator<[string, Schema]> {
  yield [path, schema]
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    yield* schemasIn(inner, `${path}.${name}`)
  for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    yield* schemasIn(inner, path)
  if (schema.items) yield* schemasIn(schema.items, `${path}[]`)
}

describe('The OpenAPI document', () => {
  it('calls operations what a person would', () => {
    const idOf = (name: string) => served.find((one) => one.name === name)?.operation.operationId
    assert.equal(idOf('POST /BizTransaction/Deposit'), 'createDeposit')
    assert.equal(idOf('GET /Product'), 'listProducts')
    assert.equal(idOf('GET /BizEntity'), 'listBizEntities')
    assert.equal(idOf('POST /Distribution/Declare'), 'declareDistribution')
    assert.equal(idOf('GET /Document/File'), 'downloadDocumentFile')
    for (const { operation } of served) assert.match(operation.operationId, /^[a-z][A-Za-z]+$/)
  })

  it('has words for every group of operations', () => {
    assert.deepEqual(
      document.tags.filter(({ description }) => !description),
      [],
      'say what the tag is about in src/platform/http/openapi-names.ts',
    )
  })

  it('says what every field and every parameter means', () => {
    const silent = Object.entries(document.components.schemas)
      .flatMap(([name, schema]) => [...schemasIn(schema, name)])
      .flatMap(([path, { properties = {} }]) =>
        Object.entries(properties).flatMap(([name, { description }]) =>
          description ? [] : [`${path}.${name}`],
        ),
      )
    assert.deepEqual(silent, [], 'add words to src/platform/shape/glossary.ts, or to the schema')
    const parameters = served.flatMap(({ name, operation }) =>
      operation.parameters.flatMap((one) => (one.description ? [] : [`${name} ${one.name}`])),
    )
    assert.deepEqual(parameters, [])
  })

  it('has a name for every value of a lookup', () => {
    let lookups = 0
    for (const [name, schema] of Object.entries(document.components.schemas))
      for (const [path, inner] of schemasIn(schema, name)) {
        const { enum: values, 'x-enum-varnames': names } = inner as Schema & {
          'x-enum-varnames'?: string[]
        }
        if (!names) continue
        lookups++
        assert.equal(names.length, values?.length, path)
        for (const one of names) assert.match(one, /^[A-Za-z][A-Za-z0-9]*$/)
      }
    assert.ok(lookups > 20)
  })

  it('takes decimals as texts too, and files as bytes', () => {
    const { amount } = document.components.schemas.Deposit!.properties!
    assert.deepEqual(amount!.type, ['number', 'string'])
    const { quantity } = document.components.schemas.BizTransaction!.properties!
    assert.deepEqual(quantity!.type, 'number')
    const { operation } = served.find(({ name }) => name === 'GET /Report/File')!
    const bytes = operation.responses['200']!.content['application/octet-stream']!.schema
    assert.equal(bytes.format, 'binary')
  })

  it('says which fields a form must have: those of the JSON, and the file for its content', () => {
    const requiredOf = (name: string) =>
      served.find((one) => one.name === name)!.operation.requestBody!.content[
        'multipart/form-data'
      ]!.schema.required
    assert.deepEqual(requiredOf('POST /Import'), ['type', 'mode'])
    assert.deepEqual(requiredOf('PUT /Document/File'), ['file'])
  })

  it('says of no field that it is never null whose column may be', async () => {
    const tables: Record<string, string> = {
      ...{ RunPayment: 'payment', Event: 'event', User: 'app_user' },
      ...{ WebhookWithSecret: 'webhook' },
    }
    const rows = await rowsOf(
      service.connection,
      `select table_name as "table", column_name as name, is_nullable = 'YES' as "mayBeNull"
      from information_schema.columns where table_schema = 'public'`,
    )
    const mayBeNull = new Map(rows.map((row) => [`${row.table}.${row.name}`, row.mayBeNull]))
    const claims = [...presentFields].flatMap(([record, fields]) => {
      const shown = document.components.schemas[record]?.properties ?? {}
      return [...fields].map((field) => ({ record, field, shown: shown[field] }))
    })
    assert.deepEqual(
      claims
        .filter(({ shown }) => !shown || shown.anyOf)
        .map(({ record, field }) => record + field),
      [],
      'fields that are shown otherwise, or not at all',
    )
    const backed = claims.flatMap(({ record, field }) => {
      const column = `${tables[record] ?? columnOf(record)}.${columnOf(field)}`
      return mayBeNull.has(column) ? [column] : []
    })
    assert.ok(backed.length > 100)
    // What is worked out from a column that may be null, and is not.
    const workedOut = ['investment_price.application_price', 'investment_price.redemption_price']
    assert.deepEqual(
      backed.filter((column) => mayBeNull.get(column) && !workedOut.includes(column)),
      [],
    )
  })

  it('tells receivers of webhooks what they get', () => {
    const { event } = (document as Document & { webhooks: Record<string, Webhook> }).webhooks
    assert.deepEqual(
      event!.post.parameters.map(({ name }) => name),
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    )
    const { data } = document.components.schemas.WebhookEvent!.properties!
    assert.deepEqual(Object.keys(data!.properties!), [
      ...['eventID', 'productID', 'resource', 'ids', 'counts', 'userID'],
    ])
  })
})

type Webhook = { post: { parameters: { name: string }[] } }
