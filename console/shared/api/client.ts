import { createClient } from '../../../client/src/client.ts'
import { connectionLost, inTurn, watched } from './connection.ts'
import { decimalFields } from './decimal-fields.ts'
import { type Envelope, noConnection, RegistryError } from './error.ts'
import { atOnce, currentToken, renew, resume } from './session.ts'

export type Params = Record<string, string | number | boolean | null | undefined>

/** A new Idempotency-Key: one for each intent, so that pressing twice or retrying acts once. */
export const newIntent = () => crypto.randomUUID()

/**
 * Whether the answer comes from a proxy that cannot reach the service; refusals of the service are
 * JSON.
 */
const isOfProxy = ({ status, headers }: Response) =>
  [502, 503, 504].includes(status) && !headers.get('content-type')?.includes('json')

/**
 * An upload may fill the connection for long, so it is not given up when the health check is not
 * answered.
 */
const asked: typeof fetch = (to, request) => {
  if (request?.body instanceof FormData) return fetch(to, request)
  const ask = () => watched((signal) => fetch(to, { ...request, signal }))
  return request?.method === 'GET' ? inTurn(ask) : ask()
}

const reached: typeof fetch = async (...request) => {
  const answer = await asked(...request).catch(() => undefined)
  if (answer && !isOfProxy(answer)) return answer
  connectionLost()
  throw noConnection()
}

/**
 * The public client with the session of the page. It makes a single attempt, because the page
 * decides what to wait for and what to send again (connection.ts).
 */
const client = createClient({
  baseUrl: '',
  decimals: decimalFields,
  attempts: 1,
  fetch: reached,
  credentials: { authorization: currentToken, renew: () => renew().then(() => true) },
})

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Options = {
  params?: Params | undefined
  body?: unknown
  intent?: string | undefined
  headers?: Record<string, string> | undefined
}

/** Leaves out empty filters and limits PageSize to the most that the registry returns. */
const queryOf = ({ PageSize, ...params }: Params = {}) => ({
  ...Object.fromEntries(Object.entries(params).filter(([, value]) => value !== '')),
  ...(PageSize && { PageSize: atOnce(Number(PageSize)) }),
})

async function answered<T>(method: Method, path: string, options: Options) {
  const { params, body, intent, headers } = options
  const { envelope, headers: got } = await client.send(method, path, {
    query: queryOf(params),
    ...(body instanceof FormData ? { form: body } : body !== undefined && { body }),
    ...(intent && { idempotencyKey: intent }),
    ...(headers && { headers }),
  })
  // The type of the data depends on the path; the caller names it.
  return { ...(envelope as Envelope<T>), tag: got.get('etag') }
}

const lacksPermission = (error: unknown) =>
  error instanceof RegistryError && error.problems.some(({ code }) => code === 'permission_missing')

/**
 * A write refused for a missing permission means that the user's permissions have changed: read
 * them again.
 */
async function call<T>(method: Method, path: string, options: Options): Promise<Envelope<T>> {
  try {
    return await answered<T>(method, path, options)
  } catch (error) {
    // Not for reads: a page repeats refused reads, and asking for the permissions each time tells
    // nothing new.
    if (method !== 'GET' && lacksPermission(error)) void resume().catch(() => {})
    throw error
  }
}

export const api = {
  get: <T>(path: string, params?: Params) => call<T>('GET', path, { params }),
  post: <T>(path: string, body: unknown, intent?: string) =>
    call<T>('POST', path, { body, intent }),
  /** With a tag, saves only if the record is unchanged since it was read. */
  put: <T>(path: string, body: unknown, intent?: string, tag?: string | null) =>
    call<T>('PUT', path, { body, intent, ...(tag && { headers: { 'If-Match': tag } }) }),
  /** Reads one record with its ETag. */
  tagged: <T>(path: string, params: Params) => answered<T>('GET', path, { params }),
  delete: (path: string, params: Params, intent?: string) =>
    call<unknown>('DELETE', path, { params, intent }),
  /** Reads the bytes of a file. */
  file: async (path: string, params: Params, headers?: Record<string, string>) => {
    const { body, headers: got } = await client.download(path, queryOf(params), {
      ...(headers && { headers }),
    })
    const type = got.get('content-type') ?? ''
    return new Blob([await new Response(body).arrayBuffer()], { type })
  },
}
