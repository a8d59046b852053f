import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Actor } from '../actor.ts'
import type { Access } from '../permission.ts'
import { forbidden, type Refusal } from '../refusal.ts'
import { type Endpoint, methodOf, pathOf } from './endpoint.ts'
import { type HandlerOptions, handlerOf } from './handlers.ts'
import { turns } from './turns.ts'
import { takeFiles } from './upload.ts'
import { checkVersion } from './version.ts'

export type MountOptions = Omit<HandlerOptions, 'inTurn'> & {
  /** Who the Authorization header speaks for; refuses with 401. */
  authenticate: (authorization: string | undefined) => Actor | Promise<Actor>
  maxBodyBytes: number
}

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null
  }
}

export function mount(app: FastifyInstance, endpoints: Endpoint[], options: MountOptions) {
  app.decorateRequest('actor', null)
  const mounted = { ...options, inTurn: ordinaryTurns(options.database.connections) }
  const uploads = endpoints.filter(({ kind }) => kind === 'upload')
  const others = endpoints.filter(({ kind }) => kind !== 'upload')
  for (const endpoint of others) mountEndpoint(app, endpoint, mounted)
  app.register(async (scope) => {
    await takeFiles(scope)
    for (const endpoint of uploads) mountEndpoint(scope, endpoint, mounted)
  })
}

type Mounted = MountOptions & HandlerOptions

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
