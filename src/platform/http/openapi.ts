import { type TObject, type TSchema, Type } from 'typebox'
import { type Codes, codesOf, problemCodes, sharedCodes } from '../problem-codes.ts'
import { nodeOf } from '../shape/keywords.ts'
import { type Endpoint, isReplayed, isWrite, methodOf, pathOf } from './endpoint.ts'
import { heedsIfMatch, taggingsOf } from './etag.ts'
import { nameOf, tagOf, tagsOf } from './openapi-names.ts'
import { answerNames, described, type Show, schemaGallery } from './openapi-shapes.ts'
import { limitPages } from './paging.ts'
import { canWait, KeptForApproval } from './waiting.ts'

/**
 * Builds the OpenAPI 3.1 document from the endpoints. Their schemas are JSON Schema already, so
 * this gathers them, moves named schemas to the components, and adds what all operations share.
 */
export function openapiDocument(
  endpoints: Endpoint[],
  version: string,
  maxPageSize: number,
  webhooks: readonly Webhook[] = [],
) {
  const components: Record<string, unknown> = { Failure: failureSchema, ...sharedFailures() }
  const show = schemaGallery(components, answerNames(endpoints.map(({ data }) => data)))
  const taggings = taggingsOf(endpoints)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of endpoints) {
    const path = pathOf(endpoint)
    const method = methodOf(endpoint).toLowerCase()
    const isConditional = heedsIfMatch(endpoint, taggings)
    paths[path] = {
      ...paths[path],
      [method]: operationOf(endpoint, { show, maxPageSize, isConditional }),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Registry Platform', version, description: about, license },
    servers: [{ url: '/' }],
    tags: tagsOf(endpoints),
    paths,
    webhooks: Object.fromEntries(webhooks.map((one) => [one.name, { post: webhookOf(one, show) }])),
    components: {
      schemas: components,
      securitySchemes: {
        accessToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            'The access token from POST /User/Login, with or without "Bearer " in front of it.',
        },
      },
    },
  }
}

/** A request that the registry sends to a receiver, which answers 2xx once it has it. */
export type Webhook = {
  name: string
  operationId: string
  tag: string
  summary: string
  description: string
  headers: Readonly<Record<string, string>>
  body: TSchema
}

const webhookOf = ({ name: _name, headers, tag, body, ...words }: Webhook, show: Show) => ({
  ...words,
  tags: [tag],
  parameters: Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  })),
  requestBody: {
    required: true,
    content: { 'application/json': { schema: show(body, 'answer') } },
  },
  responses: {
    '2XX': { description: 'The receiver has the event. It is not sent again.' },
    410: { description: 'The receiver wants no more events. The webhook is deactivated.' },
    default: {
      description:
        'The event is sent again after 5 seconds, then after 1, 5 and 30 minutes, then after 2, ' +
        '5, 10 and 24 hours.',
    },
  },
})

const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
const about = `An investor and unit registry. Every answer is the envelope
\`{ result, message, recordCount, data }\`; a failure has \`result: false\` and also \`errors\`.
The letter case of paths, parameter names, filter operators and field names does not matter. Every
POST, PUT and DELETE that writes, except \`POST /User/Login\`, takes an optional
\`Idempotency-Key\` header, so that it can be sent again safely: a request that was carried out is
not carried out twice, and a request that was refused is tried again.`

type Around = { show: Show; maxPageSize: number; isConditional: boolean }

function operationOf(endpoint: Endpoint, { show, maxPageSize, isConditional }: Around) {
  const { access, body, data, summary, description, query, anyVersion } = endpoint
  const isPaged = Boolean(query?.properties.PageSize)
  const parameters = [
    ...(anyVersion ? [] : [versionHeader]),
    ...(isRetried(endpoint) ? [idempotencyHeader] : []),
    ...(isConditional ? [ifMatchHeader] : []),
    ...queryParameters(query && limitPages(query, maxPageSize), show),
  ]
  return {
    operationId: nameOf(endpoint),
    tags: [tagOf(endpoint)],
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
      done: envelope(show(data, 'answer'), besideData(endpoint, show), isPaged),
      isConditional,
      accepted: acceptedOf(endpoint, show),
    }),
  }
}

/**
 * The 202 answer: for work that goes on in the background, and for writes that an approval rule can
 * hold back.
 */
function acceptedOf(endpoint: Endpoint, show: Show) {
  const { accepted } = endpoint
  const schemas = [...(accepted ? [accepted] : []), ...(canWait(endpoint) ? [KeptForApproval] : [])]
  const [first, ...others] = schemas.map((schema) => show(schema, 'answer'))
  if (!first) return undefined
  return envelope(others.length > 0 ? { anyOf: [first, ...others] } : first, {}, false)
}

const needs = (access: Endpoint['access']) => {
  if (access === 'public') return 'Needs no token.'
  return access === 'signed-in' ? 'Any signed-in user.' : `Needs the permission \`${access}\`.`
}

const bodySchema = (body: TSchema, show: Show) => {
  const { lone, items } = nodeOf(body)
  return lone && items
    ? { oneOf: [show(items, 'input'), show(body, 'input')] }
    : show(body, 'input')
}

/** The body as a form; the file is a field of its own, in place of the content. */
const formSchema = (body: TSchema, show: Show) => {
  const { properties, required = [] } = body as TObject & { required?: readonly string[] }
  const { content: _content, ...fields } = properties
  const shown = Object.entries(fields as Record<string, TSchema>).map(([name, field]) => [
    name,
    described(name, field, show(field, 'input')),
  ])
  return {
    type: 'object',
    required: required.map((name) => (name === 'content' ? 'file' : name)),
    properties: { ...Object.fromEntries(shown), file: bytesSchema },
  }
}

const isRetried = (endpoint: Endpoint) => isWrite(endpoint) && isReplayed(endpoint)

const versionHeader = {
  name: 'Version',
  in: 'header',
  // The header is mandatory, but declared optional: generated clients set it once instead of
  // passing it to every call.
  required: false,
  description: 'Must be 2.0 in every request. Set it once, for all requests of your client.',
  schema: { type: 'string', enum: ['2.0'], default: '2.0' },
}
const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'If a request is sent again with the same key within 24 hours, and the first one was ' +
    'carried out (2xx), its answer is returned again and nothing is done twice. If the first ' +
    'one was refused, the request is tried again. The same key with a different request is ' +
    'refused with 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const ifMatchHeader = {
  name: 'If-Match',
  in: 'header',
  description:
    'The ETag that you got when you read the record. If the record has changed since, nothing ' +
    'is written (412).',
  schema: { type: 'string' },
}
const etagHeader = {
  ETag: {
    description:
      'Only if one record was requested by its id. Send it as If-Match when you change the record.',
    schema: { type: 'string' },
  },
}

const queryParameters = (query: TObject | undefined, show: Show) =>
  Object.entries((query?.properties ?? {}) as Record<string, TSchema>).map(([name, schema]) => {
    const [field = '', operator] = name.split('.')
    const shown = described(field, schema, show(schema, 'input'))
    const { description, ...own } = shown as { description?: string }
    const words = operator ? `${compared[operator]} ${description ?? ''}` : description
    const list = 'items' in (schema as object)
    return {
      name,
      in: 'query',
      required: ((query?.required ?? []) as readonly string[]).includes(name),
      ...(words && { description: words.trim() }),
      ...(list && { style: 'form', explode: false }),
      schema: own,
    }
  })

const compared: Record<string, string> = {
  equal: 'Equal to this value.',
  notEqual: 'Not equal to this value.',
  in: 'One of these values, separated by commas.',
  notIn: 'None of these values, separated by commas.',
  greaterThan: 'Greater or later than this value.',
  greaterThanOrEqual: 'Equal to this value, greater or later.',
  lessThan: 'Less or earlier than this value.',
  lessThanOrEqual: 'Equal to this value, less or earlier.',
  contains: 'Contains this text, in any letter case.',
  beginsWith: 'Begins with this text, in any letter case.',
  endsWith: 'Ends with this text, in any letter case.',
}

/**
 * The fields beside `data` in the envelope: repeated fields of the data, and texts of the
 * operation.
 */
const besideData = ({ data, beside = [], texts = [] }: Endpoint, show: Show) => {
  const { properties = {} } = data as Partial<TObject>
  const own = beside.map((name): [string, TSchema] => [name, properties[name]!])
  const more = texts.map((name): [string, TSchema] => [name, Type.String()])
  return Object.fromEntries(
    [...own, ...more].map(([name, field]) => [name, described(name, field, show(field, 'answer'))]),
  )
}

const envelope = (data: unknown, beside: Record<string, unknown>, isList: boolean) => ({
  type: 'object',
  required: ['result', 'message', 'recordCount', 'data', ...Object.keys(beside)],
  properties: {
    result: { type: 'boolean', const: true, description: 'The request succeeded.' },
    message: { type: ['string', 'null'], description: 'A message for people, if there is one.' },
    recordCount: { type: 'integer', minimum: 0, description: 'The number of records in data.' },
    data,
    ...(isList && {
      nextCursor: {
        type: 'string',
        description: 'Send it as Cursor to get the next page. Absent on the last page.',
      },
      totalCount: {
        type: 'integer',
        minimum: 0,
        description: 'The number of records on all pages. Only with IncludeTotal.',
      },
    }),
    ...beside,
  },
})

const failureSchema = {
  type: 'object',
  required: ['result', 'message', 'recordCount', 'data', 'errors'],
  properties: {
    result: { type: 'boolean', const: false, description: 'The request was refused.' },
    message: { type: 'string', description: 'All errors, as a text for people.' },
    recordCount: { type: 'integer', const: 0, description: 'Always 0 in a refusal.' },
    data: { type: 'null', description: 'Always null in a refusal.' },
    errors: {
      type: 'array',
      description: 'All errors, for programs.',
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: {
            type: 'string',
            enum: [...problemCodes.keys()],
            description: 'A code for programs. It never changes.',
          },
          field: { type: 'string', description: 'bizEntityParties[1].person.gender' },
          message: { type: 'string', description: 'A text for people.' },
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
  401: 'The token is missing or no longer valid.',
  403: 'The permission is missing.',
  404: 'There is no such record.',
  409: 'Refused because of the current state of the data.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Too many requests.',
  500: 'An internal error of the service.',
  503: 'Not ready or overloaded; see Retry-After.',
}

const bytesSchema = { type: 'string', format: 'binary', description: 'The bytes of the file.' }

type Answers = { done: unknown; accepted: unknown; isConditional: boolean }

const onCondition = { 412: 'The record has changed since it was read. See If-Match.' }

function responsesOf(endpoint: Endpoint, { done, accepted, isConditional }: Answers) {
  const { access, recognises, kind, failures: own, operation, body, query } = endpoint
  const pages = Boolean(query?.properties.PageSize)
  const codes = codesOf(operation, { body: Boolean(body), pages })
  const refusals = Object.entries({ ...failures, ...(isConditional && onCondition), ...own })
    .filter(([status]) => access !== 'public' || recognises || status !== '403')
    .map(([status, description]) => [
      status,
      { description, content: { 'application/json': { schema: refusal(Number(status), codes) } } },
    ])
  return {
    200: {
      description: 'Done.',
      ...(endpoint.etag && { headers: etagHeader }),
      content: {
        'application/json': { schema: done },
        ...(kind === 'download' && { 'application/octet-stream': { schema: bytesSchema } }),
      },
    },
    ...(accepted !== undefined && {
      202: {
        description: 'Accepted: the work continues in the background, or waits for approval.',
        content: { 'application/json': { schema: accepted } },
      },
    }),
    ...Object.fromEntries(refusals),
  }
}

/**
 * The schema of a refusal with the codes of its status; code lists that all operations share are
 * components.
 */
const refusal = (status: number, codes: Codes) =>
  codes.areShared(status)
    ? { $ref: `#/components/schemas/Failure${status}` }
    : narrowed(codes.of(status))

const narrowed = (codes: string[]) => ({
  allOf: [
    { $ref: '#/components/schemas/Failure' },
    {
      properties: {
        errors: { items: { properties: { code: { type: 'string', enum: codes } } } },
      },
    },
  ],
})

const sharedFailures = () =>
  Object.fromEntries(sharedCodes.map(([status, codes]) => [`Failure${status}`, narrowed(codes)]))
