import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Actor } from '../actor.ts'
import { forbidden, invalid, permissionMissing, Refusal } from '../refusal.ts'
import { limitsOf, shortBody } from './bodies.ts'
import { type Endpoint, methodOf, pathOf } from './endpoint.ts'
import { taggingsOf } from './etag.ts'
import { type HandlerOptions, handlerOf } from './handlers.ts'
import { readTurns } from './read-turns.ts'
import { turns } from './turns.ts'
import { takeFiles } from './upload.ts'
import { checkVersion } from './version.ts'

export type MountOptions = Omit<HandlerOptions, 'reads' | 'writes' | 'taggings'> & {
  /** The user whom the Authorization header identifies; refuses with 401. */
  authenticate: (authorization: string | undefined, address: string) => Actor | Promise<Actor>
  maxBodyBytes: number
  /** Counts a request that is refused here; the refusal of one that is too many. */
  countRefused: (request: FastifyRequest) => Promise<Refusal | undefined>
}

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null
  }
}

export function mount(app: FastifyInstance, endpoints: Endpoint[], options: MountOptions) {
  app.decorateRequest('actor', null)
  const { connections } = options.database
  const mounted = {
    ...options,
    taggings: taggingsOf(endpoints),
    reads: readTurns(connections),
    writes: writeTurns(connections),
  }
  const uploads = endpoints.filter(({ kind }) => kind === 'upload')
  const others = endpoints.filter(({ kind }) => kind !== 'upload')
  for (const endpoint of others) mountEndpoint(app, endpoint, mounted)
  app.register(async (scope) => {
    await takeFiles(scope)
    for (const endpoint of uploads) mountEndpoint(scope, endpoint, mounted)
  })
}

type Mounted = MountOptions & HandlerOptions

/**
 * The queue of all writes but postings. They might all wait for one locked record, so some
 * connections are left for the ledger's postings.
 */
const writeTurns = (connections: number) =>
  turns({
    most: Math.max(2, connections - 4),
    spare: Math.floor(connections / 5),
    longestQueue: 1000,
    full: 'Too many changes are waiting for their turn; try again shortly.',
  })

function mountEndpoint(app: FastifyInstance, endpoint: Endpoint, options: Mounted) {
  const { access, operation } = endpoint
  if (!access) throw new Error(`${operation} declares no permission.`)
  const { bodyLimit, mostItems } = limitsOf(endpoint.body, options.maxBodyBytes)
  app.route({
    method: methodOf(endpoint),
    url: pathOf(endpoint),
    bodyLimit: access === 'public' ? Math.min(bodyLimit, shortBody) : bodyLimit,
    config: { lists: { mostItems } },
    onRequest: gateOf(endpoint, options),
    handler: handlerOf(endpoint, options),
  })
}

/**
 * Admits callers with the required access. Recently seen callers are authenticated synchronously,
 * without an extra turn of the event loop.
 */
function gateOf(endpoint: Endpoint, options: MountOptions): onRequestHookHandler {
  const { countRefused } = options
  return (request, _reply, done) => {
    const judged = judge(request, endpoint, options)
    if (judged === undefined) return done()
    const counted = async (refusal: Error | undefined) =>
      refusal instanceof Refusal ? ((await countRefused(request)) ?? refusal) : refusal
    Promise.resolve(judged).then(counted).then(done, done)
  }
}

/** The refusal of a caller without the required access, or the failure to find out. */
function judge(request: FastifyRequest, endpoint: Endpoint, { authenticate }: MountOptions) {
  const { access, anyVersion, recognises } = endpoint
  const { authorization } = request.headers
  try {
    if (!anyVersion) checkVersion(request)
    refuseTwoTokens(request)
    if (access === 'public' && !(recognises && authorization !== undefined)) return undefined
    const caller = authenticate(authorization, request.ip)
    if (!(caller instanceof Promise)) return refusalFor(request, caller, endpoint)
    return caller.then(
      (actor) => refusalFor(request, actor, endpoint),
      (error: Error) => error,
    )
  } catch (error) {
    return error as Error
  }
}

/**
 * Refuses two Authorization headers: Node keeps the first, and a proxy in between may have checked
 * the second.
 */
function refuseTwoTokens({ raw: { rawHeaders, headers } }: FastifyRequest) {
  if (headers.authorization === undefined) return
  const names = rawHeaders.filter((name, i) => i % 2 === 0 && /^authorization$/i.test(name))
  if (names.length > 1)
    throw invalid('given_twice', 'Send one Authorization header.', 'Authorization')
}

function refusalFor(request: FastifyRequest, actor: Actor, endpoint: Endpoint) {
  request.actor = actor
  const { access, peopleOnly, whileEnrolling } = endpoint
  if (access === 'public') return undefined
  if (actor.isHalf && !whileEnrolling) return factorMissing()
  if (actor.apiKeyID !== undefined && peopleOnly) return personNeeded()
  return access === 'signed-in' || actor.permissions.has(access)
    ? undefined
    : permissionMissing(access)
}

const factorMissing = () =>
  forbidden('second_factor_required', 'Enrol a second factor first: POST /User/SecondFactor.')
const personNeeded = () =>
  forbidden('people_only', 'An API key cannot do this; sign in with a password.')
