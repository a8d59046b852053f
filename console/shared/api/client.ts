import { connectionLost } from './connection.ts'
import { readJson } from './decimals.ts'
import { ApiError, type Envelope, noConnection } from './error.ts'
import { currentToken, renew } from './session.ts'

export type Params = Record<string, string | number | boolean | null | undefined>

/** One intent, one key: pressing twice or trying again does it once. */
export const newIntent = () => crypto.randomUUID()

type Options = {
  params?: Params | undefined
  body?: unknown
  intent?: string | undefined
  headers?: Record<string, string> | undefined
}

async function send(method: string, path: string, options: Options): Promise<Response> {
  const { params, body, intent, headers: more } = options
  const isForm = body instanceof FormData
  const headers = new Headers({ Version: '2.0', Authorization: currentToken() ?? '', ...more })
  if (body !== undefined && !isForm) headers.set('Content-Type', 'application/json')
  if (intent) headers.set('Idempotency-Key', intent)
  const payload = isForm ? body : JSON.stringify(body)
  try {
    return await fetch(path + queryOf(params), {
      method,
      headers,
      ...(body !== undefined && { body: payload }),
    })
  } catch {
    connectionLost()
    throw noConnection()
  }
}

function queryOf(params: Params = {}): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length > 0 ? `?${query}` : ''
}

/** The answer to a request; a token that has run out is renewed, and the request sent again. */
async function answered(method: string, path: string, options: Options): Promise<Response> {
  const first = await send(method, path, options)
  if (first.status === 401) await first.body?.cancel()
  const answer = first.status === 401 ? await again(method, path, options) : first
  if (answer.ok) return answer
  throw ApiError.of(answer, await envelopeOf<unknown>(answer).catch(() => undefined))
}

async function again(method: string, path: string, options: Options) {
  await renew()
  return send(method, path, options)
}

const envelopeOf = async <T>(answer: Response) => readJson(await answer.text()) as Envelope<T>

async function call<T>(method: string, path: string, options: Options): Promise<Envelope<T>> {
  return envelopeOf<T>(await answered(method, path, options))
}

export const api = {
  get: <T>(path: string, params?: Params) => call<T>('GET', path, { params }),
  post: <T>(path: string, body: unknown, intent?: string) =>
    call<T>('POST', path, { body, intent }),
  /** With a tag, only if the record is still as it was read. */
  put: <T>(path: string, body: unknown, intent?: string, tag?: string | null) =>
    call<T>('PUT', path, { body, intent, ...(tag && { headers: { 'If-Match': tag } }) }),
  /** One record with its tag. */
  tagged: async <T>(path: string, params: Params) => {
    const answer = await answered('GET', path, { params })
    const tag = answer.headers.get('etag')
    return { ...(await envelopeOf<T>(answer)), tag }
  },
  delete: (path: string, params: Params) => call<null>('DELETE', path, { params }),
  /** A file's own bytes. */
  file: async (path: string, params: Params, headers?: Record<string, string>) => {
    const answer = await answered('GET', path, { params: { ...params, Raw: true }, headers })
    return answer.blob()
  },
}
