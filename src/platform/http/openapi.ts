import type { TObject, TSchema } from 'typebox'
import { type DecimalRule, isOwnKeyword, nodeOf } from '../shape/keywords.ts'
import { type Endpoint, isWrite, methodOf, pathOf } from './endpoint.ts'
import { limitPages } from './paging.ts'

/**
 * The OpenAPI 3.1 document, from the endpoints themselves: a schema is JSON Schema already, so this
 * only gathers them, names the ones that have a name, and says what every operation has in common.
 */
export function openapiDocument(endpoints: Endpoint[], version: string, maxPageSize: number) {
  const components: Record<string, unknown> = { Failure: failureSchema }
  const show = (schema: TSchema) => shownSchema(schema, components)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of endpoints) {
    const path = pathOf(endpoint)
    const method = methodOf(endpoint).toLowerCase()
    paths[path] = { ...paths[path], [method]: operationOf(endpoint, show, maxPageSize) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Registry Platform', version, description: about, license },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        accessToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The access token from POST /User/Login, as it is or after "Bearer ".',
        },
      },
    },
  }
}

const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
const about = `An investor and unit registry. Every answer is the envelope
\`{ result, message, recordCount, data }\`; a failure has \`result: false\` and \`errors\` beside
it. Paths, parameter names, filter operators and field names match in any letter case. Every POST
and PUT takes an optional \`Idempotency-Key\` header, so that it can be sent again safely.`

type Show = (schema: TSchema) => unknown

function operationOf(endpoint: Endpoint, show: Show, maxPageSize: number) {
  const { access, body, data, summary, description, query, anyVersion } = endpoint
  const [, tag] = pathOf(endpoint).split('/')
  const isPaged = Boolean(query?.properties.PageSize)
  const parameters = [
    ...(anyVersion ? [] : [versionHeader]),
    ...(isRetried(endpoint) ? [idempotencyHeader] : []),
    ...queryParameters(query && limitPages(query, maxPageSize), show),
  ]
  return {
    operationId: endpoint.operation.replace(/[ /]+(\w)/g, (_, letter) => letter.toUpperCase()),
    tags: [tag],
    summary,
    description: [description, needs(access)].filter(Boolean).join('\n\n'),
    ...(access !== 'public' && { security: [{ accessToken: [] }] }),
    parameters,
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: bodySchema(body, show) },
          ...(endpoint.kind === 'upload' && {
            'multipart/form-data': { schema: formSchema(body, show) },
          }),
        },
      },
    }),
    responses: responsesOf(endpoint, {
      done: envelope(show(data), besideData(endpoint), isPaged),
      accepted: endpoint.accepted && envelope(show(endpoint.accepted), {}, false),
    }),
  }
}

const needs = (access: Endpoint['access']) => {
  if (access === 'public') return 'Needs no token.'
  return access === 'signed-in' ? 'Any signed-in user.' : `Needs the permission \`${access}\`.`
}

const bodySchema = (body: TSchema, show: Show) => {
  const { lone, items } = nodeOf(body)
  return lone && items ? { oneOf: [show(items), show(body)] } : show(body)
}

/** The same as a form, where the file itself stands in a field of its own. */
const formSchema = (body: TSchema, show: Show) => {
  const { content: _content, ...fields } = (body as TObject).properties
  const shown = Object.entries(fields).map(([name, field]) => [name, show(field as TSchema)])
  return {
    type: 'object',
    required: ['file'],
    properties: { ...Object.fromEntries(shown), file: bytesSchema },
  }
}

const isRetried = (endpoint: Endpoint) =>
  isWrite(endpoint) && !endpoint.operation.startsWith('DELETE')

const versionHeader = {
  name: 'Version',
  in: 'header',
  required: true,
  schema: { type: 'string', enum: ['2.0'], default: '2.0' },
}
const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key with the same request within 24 hours replays the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const queryParameters = (query: TObject | undefined, show: Show) =>
  Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...shown } = show(schema as TSchema) as { description?: string }
    const list = 'items' in (schema as object)
    return {
      name,
      in: 'query',
      required: ((query?.required ?? []) as readonly string[]).includes(name),
      ...(description && { description }),
      ...(list && { style: 'form', explode: false }),
      schema: shown,
    }
  })

/** What stands beside the data: some of its own fields again, and texts of the operation. */
const besideData = ({ data, beside = [], texts = [] }: Endpoint) =>
  Object.fromEntries([
    ...beside.map((name) => [name, (data as TObject).properties[name]]),
    ...texts.map((name) => [name, { type: 'string' }]),
  ])

const envelope = (data: unknown, beside: Record<string, unknown>, isList: boolean) => ({
  type: 'object',
  required: ['result', 'message', 'recordCount', 'data', ...Object.keys(beside)],
  properties: {
    result: { type: 'boolean', const: true },
    message: { type: ['string', 'null'] },
    recordCount: { type: 'integer', minimum: 0 },
    data,
    ...(isList && {
      nextCursor: { type: 'string', description: 'For Cursor; absent on the last page.' },
      totalCount: { type: 'integer', minimum: 0, description: 'With IncludeTotal.' },
    }),
    ...beside,
  },
})

const failureSchema = {
  type: 'object',
  required: ['result', 'message', 'recordCount', 'data', 'errors'],
  properties: {
    result: { type: 'boolean', const: false },
    message: { type: 'string' },
    recordCount: { type: 'integer', const: 0 },
    data: { type: 'null' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', description: 'Stable, for programs.' },
          field: { type: 'string', description: 'bizEntityParties[1].person.gender' },
          message: { type: 'string', description: 'For people.' },
        },
      },
    },
  },
  example: {
    result: false,
    message: 'name is required.',
    recordCount: 0,
    data: null,
    errors: [{ code: 'required', field: 'name', message: 'name is required.' }],
  },
}

const failures: Record<string, string> = {
  400: 'Malformed or invalid input, or a broken rule.',
  401: 'No token, or one that is not valid any more.',
  403: 'The permission is missing.',
  404: 'No such record.',
  409: 'Refused because of the state of the data.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Too many requests.',
  500: 'A fault of ours.',
  503: 'Not ready or overloaded; see Retry-After.',
}

const bytesSchema = { type: 'string', contentMediaType: 'application/octet-stream' }

type Successes = { done: unknown; accepted: unknown }

const responsesOf = (
  { access, recognises, kind, failures: own }: Endpoint,
  { done, accepted }: Successes,
) => ({
  200: {
    description: 'Done.',
    content: {
      'application/json': { schema: done },
      ...(kind === 'download' && { 'application/octet-stream': { schema: bytesSchema } }),
    },
  },
  ...(accepted !== undefined && {
    202: {
      description: 'Taken on; it goes on by itself.',
      content: { 'application/json': { schema: accepted } },
    },
  }),
  ...Object.fromEntries(
    Object.entries({ ...failures, ...own })
      .filter(([status]) => access !== 'public' || recognises || status !== '403')
      .map(([status, description]) => [
        status,
        {
          description,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
        },
      ]),
  ),
})

/** A schema for readers of the document: named ones by reference, our own keywords put plainly. */
function shownSchema(schema: TSchema, components: Record<string, unknown>): unknown {
  const { $id, ...own } = schema as { $id?: string }
  if (!$id) return plainSchema(own, components)
  if (!(($id as string) in components)) {
    components[$id] = {} // its place, before a schema that holds itself comes by again
    components[$id] = plainSchema(own, components)
  }
  return { $ref: `#/components/schemas/${$id}` }
}

function plainSchema(schema: object, components: Record<string, unknown>): unknown {
  const show = (inner: unknown) => shownSchema(inner as TSchema, components)
  const { clearable, ...named } = schema as { clearable?: boolean }
  if (clearable) return { anyOf: [plainSchema(named, components), { type: 'null' }] }
  const plain = Object.entries(schema)
    .filter(([keyword]) => !isOwnKeyword(keyword))
    .map(([keyword, value]) => {
      if (keyword === 'properties')
        return [keyword, Object.fromEntries(Object.entries(value).map(([k, v]) => [k, show(v)]))]
      if (keyword === 'items') return [keyword, show(value)]
      return [keyword, keyword === 'anyOf' ? (value as unknown[]).map(show) : value]
    })
  const { decimal, int64, sensitive, encrypted } = nodeOf(schema)
  return {
    ...(decimal && { type: 'number', ...decimalBounds(decimal) }),
    ...(int64 && { type: 'integer', format: 'int64' }),
    ...(sensitive && !encrypted && { writeOnly: true }),
    ...Object.fromEntries(plain),
  }
}

const decimalBounds = (rule: DecimalRule) => ({
  ...(rule.minimum !== undefined && { minimum: Number(rule.minimum) }),
  ...(rule.above !== undefined && { exclusiveMinimum: Number(rule.above) }),
  ...(rule.maximum !== undefined && { maximum: Number(rule.maximum) }),
})
