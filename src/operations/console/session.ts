import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../platform/actor.ts'

export type SessionOptions = {
  /** Whether the browser speaks TLS with this server or with a proxy in front of it. */
  secure: boolean
  /** The largest page size of a list; the console never asks for more. */
  maxPageSize: number
  /** Finds the actor of an access token. */
  authenticate: (authorization: string, address: string) => Actor | Promise<Actor>
  /** Whether a refresh token was used more than `secondsAgo` seconds ago. */
  wasUsed: (refreshToken: string, secondsAgo: number) => Promise<boolean>
  /**
   * The HMAC key that Idempotency-Keys are made with here, so that no one else can ask for an
   * answer given to a page.
   */
  retryKey: Buffer
}

export const sessionPath = '/console/session'
const cookieName = 'registry-session'

/**
 * Bytes of a request body: room for a username and a password, the usual limit for endpoints that
 * strangers can reach.
 */
const bodyLimit = 65_536

/**
 * Signs a browser in. The refresh token goes into a cookie that no script can read and that is sent
 * to this path alone; the access token goes into the page's memory. The public operations do the
 * work: nothing here judges a password or a token itself.
 */
export function serveSession(app: FastifyInstance, options: SessionOptions) {
  app.post(sessionPath, { bodyLimit }, async (request, reply) => {
    const given = (request.body ?? {}) as Record<string, unknown>
    return answer(reply, await ask(app, request, '/User/Login', given), options)
  })
  app.put(sessionPath, { bodyLimit }, async (request, reply) => {
    const refreshToken = cookieOf(request)
    if (!refreshToken) return nobody(reply, options)
    const refreshed = await refresh(app, request, refreshToken, options)
    // Not an error: the page asks when it starts, and shows the sign-in form if nobody is signed
    // in.
    return refreshed.status === 401 ? nobody(reply, options) : answer(reply, refreshed, options)
  })
  app.delete(sessionPath, async (request, reply) => {
    const refreshToken = cookieOf(request)
    if (refreshToken) await signOut(app, request, refreshToken)
    return nobody(reply, options)
  })
}

type Answer = {
  status: number
  headers: Record<string, unknown>
  body: string
}

/** Calls a public operation in the caller's name and from the caller's address. */
async function ask(
  app: FastifyInstance,
  { ip, id, headers: given }: FastifyRequest,
  url: string,
  payload: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { 'x-forwarded-for': forwarded, 'user-agent': agent } = given
  const {
    statusCode,
    body,
    headers: got,
  } = await app.inject({
    method: 'POST',
    url,
    remoteAddress: ip,
    headers: {
      version: '2.0',
      'content-type': 'application/json',
      'x-request-id': id,
      ...(forwarded !== undefined && { 'x-forwarded-for': String(forwarded) }),
      ...(agent !== undefined && { 'user-agent': agent }),
      ...headers,
    },
    payload: JSON.stringify(payload),
  })
  return { status: statusCode, headers: got, body }
}

/**
 * For how many seconds a refresh may be repeated. A second use of a refresh token normally ends its
 * session. But a page that is loaded twice at once, or left before the answer arrived, repeats a
 * refresh without harm: for this long, by the database's clock, it gets the same answer from any
 * node.
 */
const sameMoment = 30

async function refresh(
  app: FastifyInstance,
  request: FastifyRequest,
  refreshToken: string,
  { wasUsed, retryKey }: SessionOptions,
) {
  const isLate = await wasUsed(refreshToken, sameMoment)
  const key = createHmac('sha256', retryKey).update(refreshToken).digest('base64url')
  const again = isLate ? undefined : { 'idempotency-key': key }
  return ask(app, request, '/User/RefreshToken', { refreshToken }, again)
}

async function signOut(app: FastifyInstance, request: FastifyRequest, refreshToken: string) {
  // Sent without an Idempotency-Key: a request repeated after the sign-out must find no session.
  const refreshed = await ask(app, request, '/User/RefreshToken', { refreshToken })
  if (refreshed.status !== 200) return
  const { accessToken } = (JSON.parse(refreshed.body) as SignedIn).data
  await ask(app, request, '/User/Logout', {}, { authorization: accessToken })
}

type SignedIn = {
  data: { accessToken: string; refreshToken: string; expiresIn: number; tokenType: string }
}

async function answer(
  reply: FastifyReply,
  { status, headers, body }: Answer,
  options: SessionOptions,
) {
  reply.code(status).type('application/json; charset=utf-8').header('cache-control', 'no-store')
  const { 'retry-after': retryAfter } = headers
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (status !== 200) return reply.send(body)
  const { refreshToken, ...shown } = (JSON.parse(body) as SignedIn).data
  const { username, userID, permissions, productIDs } = await options.authenticate(
    shown.accessToken,
    reply.request.ip,
  )
  const user = { userID, username, permissions: [...permissions], productIDs }
  setCookie(reply, refreshToken, options)
  const { maxPageSize } = options
  return reply.send(envelope({ ...shown, user, maxPageSize }))
}

/** Answers that nobody is signed in, and removes the cookie. */
function nobody(reply: FastifyReply, options: SessionOptions) {
  setCookie(reply, '', options)
  return reply.type('application/json; charset=utf-8').send(envelope(null))
}

const envelope = (data: object | null) =>
  JSON.stringify({ result: true, message: null, recordCount: data ? 1 : 0, data })

function setCookie(reply: FastifyReply, value: string, { secure }: SessionOptions) {
  const flags = `Path=${sessionPath}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  reply
    .header('cache-control', 'no-store')
    .header('set-cookie', `${cookieName}=${value}; ${flags}${value ? '' : '; Max-Age=0'}`)
}

const cookieOf = ({ headers: { cookie } }: FastifyRequest) =>
  new RegExp(`(?:^|; *)${cookieName}=([\\w-]+)`).exec(cookie ?? '')?.[1]
