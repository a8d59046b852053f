import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Tls } from '../../config.ts'
import { errorForLog } from '../log.ts'
import { invalid, type Problem, Refusal } from '../refusal.ts'
import { readJsonBodies } from './bodies.ts'
import { followRenewals, oldestProtocol } from './certificate.ts'
import { failureBody, internalFailure, refusalOf } from './failure.ts'
import { letPass } from './let-pass.ts'
import { dropStalledReaders, hasItsOwnTime } from './slow.ts'

export type ServerOptions = {
  logger: FastifyBaseLogger
  maxBodyBytes: number
  /** Use the address that the proxy saw as the caller's, not the proxy's own. */
  behindProxy: boolean
  tls?: Tls | undefined
  /** Aborted when we are about to stop. */
  stopping: AbortSignal
}

const limits = {
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // Node itself would answer a request without Host, without the envelope; see hostMissing.
  requireHostHeader: false,
}

const secured = ({ cert, key }: Tls) => ({ cert, key, minVersion: oldestProtocol })

const jsonType = 'application/json; charset=utf-8'

/**
 * Creates the Fastify server: paths in any letter case, limits on everything, the envelope on every
 * answer.
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { tls } = options
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    // logAnswers writes one line per request instead.
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestID',
    }),
    bodyLimit: options.maxBodyBytes,
    // The time limit of a whole request, from its first byte; Fastify's default is none.
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    ...(tls ? { https: { ...secured(tls), ...limits } } : { http: limits }),
    // Trust only the proxy that connects to us directly, and only if one is configured.
    trustProxy: options.behindProxy && ((_address: string, hop: number) => hop === 0),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    genReqId: ({ headers }: IncomingMessage) => requestID(headers['x-request-id']),
    // Each endpoint reads the query string by its own schema; see input.ts.
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      querystringParser: () => ({}),
    },
    // A child logger per request costs more than all our logging of it, so all requests share one.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    clientErrorHandler: answerBrokenRequest(options.logger),
    frameworkErrors: (error: unknown, _request: unknown, reply: FastifyReply) =>
      answerFailure(reply, error),
  } as object) as unknown as FastifyInstance

  if (tls) followRenewals(app, tls, options.logger)
  readJsonBodies(app)
  // An unknown Expect header is ignored; Node would refuse it without the envelope.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  const headers = tls ? { ...answerHeaders, ...httpsOnly } : answerHeaders
  // These hooks use callbacks instead of promises, because every request goes through them.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id)
    done(hostMissing(request))
  })
  logAnswers(app, options.logger)
  app.setErrorHandler((error, _request, reply) => answerFailure(reply, error))
  letGoWhenClosing(app, options.stopping)
  dropStalledReaders(app.server)
  return app
}

/** Headers for browsers: an answer is data, not a page, and no other site may use it. */
const answerHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}
const httpsOnly = { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }

/**
 * Logs one line per answer. The line holds nothing that a caller wrote, so nothing needs redaction.
 */
function logAnswers(app: FastifyInstance, logger: FastifyBaseLogger) {
  const log = logger.child({}, { redact: [] } as object)
  app.addHook('onResponse', ({ method, routeOptions, id }, reply, done) => {
    // The route, not the URL: query strings hold names, external ids and account numbers.
    const route = routeOptions.url ?? '(no route)'
    const milliseconds = Math.round(reply.elapsedTime)
    log.info({ requestID: id, method, route, status: reply.statusCode, milliseconds }, 'answered')
    done()
  })
}

/**
 * Makes every answer close its connection once the server stops: a kept-alive connection would
 * delay the stop.
 */
function letGoWhenClosing(app: FastifyInstance, stopping: AbortSignal) {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing || stopping.aborted) reply.header('connection', 'close')
    done(null, payload)
  })
  // A connection whose answer was under way when closing began becomes idle only now; Node would
  // wait for the client to hang up.
  app.addHook('onResponse', (_request, _reply, done) => {
    if (closing) setImmediate(() => app.server.closeIdleConnections())
    done()
  })
}

const hostMissing = ({ headers, raw: { httpVersion } }: FastifyRequest) =>
  headers.host === undefined && httpVersion === '1.1'
    ? invalid('bad_request', 'A request needs the header Host.', 'Host')
    : undefined

const requestID = (given: unknown) =>
  typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()

function answerFailure(reply: FastifyReply, error: unknown): FastifyReply {
  const refusal = refusalOf(error)
  const requestID = reply.request.id
  if (!refusal) reply.log.error({ requestID, err: errorForLog(error) }, 'failed')
  else if (refusal.status >= 500)
    reply.log.warn({ requestID, err: errorForLog(refusal.cause) }, 'unavailable')
  // Fastify would cut the connection off while a body that is too large still arrives.
  reply.removeHeader('connection')
  letPass(reply.request.raw)
  reply.type(jsonType).headers({ 'cache-control': 'no-store', 'x-request-id': requestID })
  if (!refusal) return reply.code(500).send(internalFailure())
  return reply
    .code(refusal.status)
    .headers(refusal.headers)
    .send(failureBody(refusal.message, refusal.problems))
}

export function answerSuccess(
  reply: FastifyReply,
  body: string | readonly Buffer[] | Readable,
): FastifyReply {
  reply.type(jsonType).header('cache-control', 'no-store')
  return reply.send(body instanceof Readable ? body : inOnePiece(reply, body))
}

/**
 * A long text becomes a Buffer: as a string it would be walked three times (measured, joined with
 * the headers, encoded). Long byte pieces are sent one after the other, because joining copies
 * them.
 */
function inOnePiece(reply: FastifyReply, body: string | readonly Buffer[]) {
  if (typeof body === 'string') return body.length > long ? Buffer.from(body) : body
  const length = body.reduce((sum, { length }) => sum + length, 0)
  if (length <= long) return Buffer.concat(body)
  reply.header('content-length', length)
  return Readable.from(body)
}
const long = 100_000

/**
 * Answers input that is not valid HTTP. There is no request and no reply object, so the envelope is
 * written to the socket.
 */
const answerBrokenRequest =
  (log: FastifyBaseLogger) => (error: Error & { code?: string }, socket: Socket) => {
    if (hasItsOwnTime(error, socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const [status, problem] = brokenRequests[error.code ?? ''] ?? ['400 Bad Request', notHttp]
    const body = failureBody(problem.message, [problem])
    const requestID = randomUUID()
    log.info({ requestID, status, code: error.code }, 'broken request')
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: ${jsonType}\r\nX-Request-Id: ${requestID}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
    // The client gets a moment to read the answer and hang up; then the socket is destroyed.
    setTimeout(() => socket.destroy(), 1_000).unref()
  }

const notHttp: Problem = { code: 'bad_request', message: 'This is not a valid HTTP request.' }
const brokenRequests: Record<string, [string, Problem]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    { code: 'timeout', message: 'The request did not arrive in time.' },
  ],
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    { code: 'headers_too_large', message: 'The request headers are too large.' },
  ],
}

/** Unknown paths are 404; a known path under another method is 405 and says which are allowed. */
export function answerUnknownPaths(app: FastifyInstance, methods: Map<string, string[]>) {
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const allowed = methods.get(path.toLowerCase().replace(/(?<=.)\/$/, ''))
    return answerFailure(reply, allowed ? wrongMethod(allowed) : noSuchPath())
  })
}

/** The message does not repeat the path: people put numbers into it that belong into a query. */
const noSuchPath = () =>
  new Refusal(404, [
    { code: 'no_such_path', message: 'There is nothing at this path; /docs lists all there is.' },
  ])
const wrongMethod = (allowed: string[]) =>
  new Refusal(
    405,
    [{ code: 'wrong_method', message: `This path takes ${allowed.join(', ')} only.` }],
    { Allow: allowed.join(', ') },
  )
