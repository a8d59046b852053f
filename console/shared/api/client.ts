import { createClient } from '../../../client/src/client.ts'
import { connectionLost, watched } from './connection.ts'
import { decimalFields } from './decimal-fields.ts'
import { type Envelope, noConnection, RegistryError } from './error.ts'
import { atOnce, currentToken, renew, resume } from './session.ts'

export type Params = Record<string, string | number | boolean | null | undefined>

/** One intent, one key: pressing twice or trying again does it once. */
export const newIntent = () => crypto.randomUUID()

/** What a proxy says that has no service behind it; the service's own refusals are JSON. */
const isOfProxy = ({ status, headers }: Response) =>
  [502, 503, 504].includes(status) && !headers.get('content-type')?.includes('json')

/** A file may take all of the line for long: that nothing else is answered then tells nothing. */
const asked: typeof fetch = (to, request) =>
  request?.body instanceof FormData
    ? fetch(to, request)
    : watched((signal) => fetch(to, { ...request, signal }))

const reached: typeof fetch = async (...request) => {
  const answer = await asked(...request).catch(() => undefined)
  if (answer && !isOfProxy(answer)) return answer
  connectionLost()
  throw noConnection()
}

/**
 * The public client, with the page's session. It does not try again by itself: what is waited for
 * and what is sent anew is the page's to say (connection.ts).
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

/** A filter that is empty is none, and a page no larger than the registry gives. */
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
  // Which data it is depends on the path; whoever calls says so.
  return { ...(envelope as Envelope<T>), tag: got.get('etag') }
}

const lacksPermission = (error: unknown) =>
  error instanceof RegistryError && error.problems.some(({ code }) => code === 'permission_missing')

/** What was offered and is refused is not one's any more: the page learns what is. */
async function call<T>(method: Method, path: string, options: Options): Promise<Envelope<T>> {
  try {
    return await answered<T>(method, path, options)
  } catch (error) {
    // Of a read that is refused nothing is known by asking again and again.
    if (method !== 'GET' && lacksPermission(error)) void resume().catch(() => {})
    throw error
  }
}

export const api = {
  get: <T>(path: string, params?: Params) => call<T>('GET', path, { params }),
  post: <T>(path: string, body: unknown, intent?: string) =>
    call<T>('POST', path, { body, intent }),
  /** With a tag, only if the record is still as it was read. */
  put: <T>(path: string, body: unknown, intent?: string, tag?: string | null) =>
    call<T>('PUT', path, { body, intent, ...(tag && { headers: { 'If-Match': tag } }) }),
  /** One record with its tag. */
  tagged: <T>(path: string, params: Params) => answered<T>('GET', path, { params }),
  delete: (path: string, params: Params, intent?: string) =>
    call<unknown>('DELETE', path, { params, intent }),
  /** A file's own bytes. */
  file: async (path: string, params: Params, headers?: Record<string, string>) => {
    const { body, headers: got } = await client.download(path, queryOf(params), {
      ...(headers && { headers }),
    })
    const type = got.get('content-type') ?? ''
    return new Blob([await new Response(body).arrayBuffer()], { type })
  },
}
