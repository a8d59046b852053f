import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { Actor } from '../actor.ts'
import { forbidden, invalid } from '../refusal.ts'
import type { Database } from '../sql/handle.ts'
import { type RetryKey, unitOfWork } from '../sql/unit-of-work.ts'
import { type Endpoint, methodOf, pathOf } from './endpoint.ts'
import { successBody } from './envelope.ts'
import { bodyReader, queryReader } from './input.ts'
import type { Access } from './permission.ts'
import { answerSuccess } from './server.ts'
import { answerRows } from './stream.ts'

export type Seal = { seal: (text: string) => string; unseal: (text: string) => string }

export type MountOptions = {
  database: Database
  /** Who the Authorization header speaks for; refuses with 401. */
  authenticate: (authorization: string | undefined) => Promise<Actor>
  maxPageSize: number
  maxBodyBytes: number
  /** Keys the fingerprints of requests, so that they tell nothing about what was sent. */
  fingerprintKey: Buffer
  /** Hides kept answers that hold secrets. */
  sealed: Seal
}

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null
  }
}

export function mount(app: FastifyInstance, endpoints: Endpoint[], options: MountOptions) {
  app.decorateRequest('actor', null)
  for (const endpoint of endpoints) mountEndpoint(app, endpoint, options)
}

function mountEndpoint(app: FastifyInstance, endpoint: Endpoint, options: MountOptions) {
  const { access, operation, anyVersion } = endpoint
  if (!access) throw new Error(`${operation} declares no permission.`)
  app.route({
    method: methodOf(endpoint),
    url: pathOf(endpoint),
    ...(access === 'public' && { bodyLimit: Math.min(options.maxBodyBytes, strangersBytes) }),
    onRequest: async (request) => {
      if (!anyVersion) checkVersion(request)
      if (access !== 'public') request.actor = await admit(request, access, options)
    },
    handler: handlerOf(endpoint, options),
  })
}

/** What a caller who has not signed in may make us read: room for a username and a password. */
const strangersBytes = 65_536

const apiVersion = '2.0'

function checkVersion({ headers }: FastifyRequest) {
  if (headers.version !== apiVersion)
    throw invalid('version', `Send the header Version: ${apiVersion}.`, 'Version')
}

async function admit({ headers }: FastifyRequest, access: Access, { authenticate }: MountOptions) {
  const actor = await authenticate(headers.authorization)
  if (access !== 'signed-in' && !actor.permissions.has(access))
    throw forbidden('permission_missing', `This needs the permission ${access}.`)
  return actor
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

function handlerOf(endpoint: Endpoint, options: MountOptions): Handler {
  const { read, select, write, through, body } = endpoint
  const query = queryReader(limitPages(endpoint.query ?? noParameters, options.maxPageSize))
  const readBody = body ? bodyReader(body) : () => undefined
  const take = (request: FastifyRequest) => ({
    query: query(parametersOf(request)),
    body: readBody(request.body),
    actor: request.actor as Actor,
    headers: request.headers,
  })
  if (read)
    return async (request, reply) =>
      answerSuccess(reply, successBody(await read(take(request), options.database)))
  if (select)
    return async (request, reply) => answerRows(reply, options.database, select(take(request)))
  const inTurn = endpoint.inTurn ?? ((work) => work())
  return async (request, reply) => {
    const taken = take(request)
    const retry = retryKey(request, taken, endpoint, options)
    const door = { ...writeOf(request, endpoint), retry }
    const { answer, replayed } = await inTurn(() =>
      through
        ? through(taken, door)
        : unitOfWork(options.database, door, (tx) => write!(taken, tx)),
    )
    if (replayed) reply.header('idempotency-replayed', 'true')
    return answerSuccess(reply, successBody(answer, endpoint.beside))
  }
}

const writeOf = ({ actor, id }: FastifyRequest, { operation, resource }: Endpoint) => ({
  userID: actor?.userID ?? null,
  username: actor?.username ?? null,
  operation,
  resource: resource!,
  requestID: id,
})

const noParameters = { type: 'object', properties: {} } as unknown as TObject

/** How large a page may be is a setting, so it enters the schema when the server is assembled. */
export function limitPages(query: TObject, maximum: number): TObject {
  const { PageSize } = query.properties
  if (!PageSize) return query
  const limited = { ...PageSize, maximum, pageLimit: true }
  return { ...query, properties: { ...query.properties, PageSize: limited } } as TObject
}

const parametersOf = ({ raw: { url = '' } }: FastifyRequest) => {
  const mark = url.indexOf('?')
  return mark < 0 ? [] : [...new URLSearchParams(url.slice(mark + 1))]
}

/** The Idempotency-Key of a request with what tells this request from another. */
function retryKey(
  { headers }: FastifyRequest,
  { query, body }: { query: unknown; body: unknown },
  { operation, secret }: Endpoint,
  { fingerprintKey, sealed }: MountOptions,
): RetryKey | undefined {
  const key = headers['idempotency-key']
  if (key === undefined || operation.startsWith('DELETE')) return undefined
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalid(
      'invalid_value',
      'Idempotency-Key must be 1 to 255 characters.',
      'Idempotency-Key',
    )
  const fingerprint = createHmac('sha256', fingerprintKey)
    .update(JSON.stringify([operation, query, body], inNameOrder))
    .digest()
  return { key, fingerprint, ...(secret ? sealed : open) }
}

/** Two clients, or two runs of one, may write the fields of the same body in another order. */
const inNameOrder = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

const open: Seal = { seal: (text) => text, unseal: (text) => text }
