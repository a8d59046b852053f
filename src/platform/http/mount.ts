import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { TObject } from 'typebox'
import type { Actor } from '../actor.ts'
import type { Access } from '../permission.ts'
import { forbidden, invalid, type Refusal } from '../refusal.ts'
import { bodyReader, queryReader } from '../shape/input.ts'
import type { Database } from '../sql/handle.ts'
import { type RetryKey, unitOfWork } from '../sql/unit-of-work.ts'
import { answerFile, wantsBytes } from './download.ts'
import { type Endpoint, methodOf, pathOf, type Request } from './endpoint.ts'
import { successBody } from './envelope.ts'
import { answerSuccess } from './server.ts'
import { answerRows } from './stream.ts'
import { turns } from './turns.ts'
import { receive, takeFiles } from './upload.ts'
import { checkVersion } from './version.ts'

export type Seal = { seal: (text: string) => string; unseal: (text: string) => string }

export type MountOptions = {
  database: Database
  /** Who the Authorization header speaks for; refuses with 401. */
  authenticate: (authorization: string | undefined) => Actor | Promise<Actor>
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
  const inTurn = ordinaryTurns(options.database.connections)
  for (const endpoint of endpoints.filter(({ upload }) => !upload))
    mountEndpoint(app, endpoint, { ...options, inTurn })
  app.register(async (scope) => {
    await takeFiles(scope)
    for (const endpoint of endpoints.filter(({ upload }) => upload))
      mountEndpoint(scope, endpoint, { ...options, inTurn })
  })
}

type Mounted = MountOptions & { inTurn: ReturnType<typeof turns> }

/** Writes may all wait for one locked record; some connections are left for the ledger's. */
const ordinaryTurns = (connections: number) =>
  turns({
    most: Math.max(2, connections - 4),
    longestQueue: 500,
    full: 'Too many changes are waiting for their turn; try again shortly.',
  })

function mountEndpoint(app: FastifyInstance, endpoint: Endpoint, options: Mounted) {
  const { access, operation } = endpoint
  if (!access) throw new Error(`${operation} declares no permission.`)
  app.route({
    method: methodOf(endpoint),
    url: pathOf(endpoint),
    ...(access === 'public' && { bodyLimit: Math.min(options.maxBodyBytes, strangersBytes) }),
    onRequest: gateOf(endpoint, options),
    handler: handlerOf(endpoint, options),
  })
}

/** What a caller who has not signed in may make us read: room for a username and a password. */
const strangersBytes = 65_536

/**
 * Lets in who may call. Callers who were met just now are known at once, and their requests go on
 * without a turn of the event loop.
 */
function gateOf(endpoint: Endpoint, { authenticate }: MountOptions): onRequestHookHandler {
  const { access, anyVersion, recognises } = endpoint
  const isOpen = ({ authorization }: IncomingHttpHeaders) =>
    access === 'public' && !(recognises && authorization !== undefined)
  return (request, _reply, done) => {
    if (!anyVersion) checkVersion(request)
    if (isOpen(request.headers)) return done()
    const caller = authenticate(request.headers.authorization)
    if (!(caller instanceof Promise)) return done(refusalFor(request, caller, access))
    caller.then((actor) => done(refusalFor(request, actor, access)), done)
  }
}

function refusalFor(request: FastifyRequest, actor: Actor, access: Access): Refusal | undefined {
  request.actor = actor
  return access === 'public' || access === 'signed-in' || actor.permissions.has(access)
    ? undefined
    : forbidden('permission_missing', `This needs the permission ${access}.`)
}

type Taken = Request<unknown, unknown>
type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

function handlerOf(endpoint: Endpoint, options: Mounted): Handler {
  const { read, select, write, through, download, body } = endpoint
  const query = queryReader(limitPages(endpoint.query ?? noParameters, options.maxPageSize))
  const readBody = body ? bodyReader(body) : () => undefined
  const take = (request: FastifyRequest) => ({
    query: query(parametersOf(request)),
    body: endpoint.upload ? undefined : readBody(request.body),
    actor: request.actor as Actor,
    headers: request.headers,
  })
  if (read)
    return async (request, reply) =>
      answerSuccess(reply, successBody(await read(take(request), options.database)))
  if (select)
    return async (request, reply) => answerRows(reply, options.database, select(take(request)))
  if (download)
    return async (request, reply) => {
      const taken = take(request)
      const { Raw = wantsBytes(request.headers.accept) } = taken.query as { Raw?: boolean }
      return answerFile(reply, await download(taken), Raw)
    }
  const inTurn = endpoint.inTurn ?? (through ? (work) => work() : options.inTurn)
  const perform = async (request: FastifyRequest, reply: FastifyReply, taken: Taken) => {
    const retry = retryKey(request, taken, endpoint, options)
    const door = { ...writeOf(request, endpoint), retry }
    const work = () =>
      through ? through(taken, door) : unitOfWork(options.database, door, (tx) => write!(taken, tx))
    const { answer, replayed } = await inTurn(work, taken)
    if (replayed) reply.header('idempotency-replayed', 'true')
    return answerSuccess(reply, successBody(answer, endpoint.beside))
  }
  const { upload } = endpoint
  if (!upload) return async (request, reply) => perform(request, reply, take(request))
  return async (request, reply) => {
    const taken = take(request)
    const { body: given, file } = await receive(request, body as TObject, upload)
    try {
      const { content: _content, ...told } = readBody(given) as { content: string }
      const kept = await upload.keep(file!, told)
      return await perform(request, reply, { ...taken, body: { ...told, ...kept } })
    } finally {
      await file?.discard()
    }
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
