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
          description: 'The access token from POST /User/Login, as it is or after "Bearer ".',
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
    '2XX': { description: 'The receiver has it: it is not sent again.' },
    410: { description: 'The receiver wants no more: the webhook is deactivated.' },
    default: { description: 'Sent again: after 5 s, 1 and 5 and 30 min, 2, 5, 10 and 24 h.' },
  },
})

const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
const about = `An investor and unit registry. Every answer is the envelope
\`{ result, message, recordCount, data }\`; a failure has \`result: false\` and \`errors\` beside
it. Paths, parameter names, filter operators and field names match in any letter case. Every POST,
PUT and DELETE that writes, but for \`POST /User/Login\`, takes an optional \`Idempotency-Key\`
header, so that it can be sent again safely: what was done is not done twice, what was refused is
tried anew.`

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

/** The body as a form; the file is a field of its own. */
const formSchema = (body: TSchema, show: Show) => {
  const { content: _content, ...fields } = (body as TObject).properties
  const shown = Object.entries(fields as Record<string, TSchema>).map(([name, field]) => [
    name,
    described(name, field, show(field, 'input')),
  ])
  return {
    type: 'object',
    required: ['file'],
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
    'The same key with the same request within 24 hours replays the answer of the one that was ' +
    'done (2xx); one that was refused is tried anew. With another request it is 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const ifMatchHeader = {
  name: 'If-Match',
  in: 'header',
  description:
    'The ETag of the record as you read it: when it has changed since, nothing is written (412).',
  schema: { type: 'string' },
}
const etagHeader = {
  ETag: {
    description: 'Of one record, asked for by its id: for If-Match, when you change it.',
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
  equal: 'Equal to this.',
  notEqual: 'Not equal to this.',
  in: 'One of these, separated by commas.',
  notIn: 'None of these, separated by commas.',
  greaterThan: 'Greater or later than this.',
  greaterThanOrEqual: 'This, greater or later.',
  lessThan: 'Less or earlier than this.',
  lessThanOrEqual: 'This, less or earlier.',
  contains: 'Contains this, in any letter case.',
  beginsWith: 'Begins with this, in any letter case.',
  endsWith: 'Ends with this, in any letter case.',
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
    message: { type: ['string', 'null'], description: 'Something for people, where there is.' },
    recordCount: { type: 'integer', minimum: 0, description: 'How many records data has.' },
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
    result: { type: 'boolean', const: false, description: 'The request was refused.' },
    message: { type: 'string', description: 'Everything that is wrong, for people.' },
    recordCount: { type: 'integer', const: 0, description: 'A refusal has no records.' },
    data: { type: 'null', description: 'A refusal has no data.' },
    errors: {
      type: 'array',
      description: 'Everything that is wrong, for programs.',
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: {
            type: 'string',
            enum: [...problemCodes.keys()],
            description: 'Stable, for programs.',
          },
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

const bytesSchema = { type: 'string', format: 'binary', description: 'The bytes of the file.' }

type Answers = { done: unknown; accepted: unknown; isConditional: boolean }

const onCondition = { 412: 'The record has changed since it was read; see If-Match.' }

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
        description: 'Taken on: it goes on by itself, or waits for approval.',
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
