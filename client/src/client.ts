import { type Problem, RegistryError } from './errors.ts'
import { parseExactly } from './json.ts'
import { type Credentials, sessionOf } from './session.ts'
import type { AnswerOf, BodyOf, DataOf, ItemOf, Method, PathOf, QueryOf } from './types.ts'
import { isWaiting, type Waiting } from './waiting.ts'

export type ClientOptions = {
  /** The address of the registry, such as http://127.0.0.1:3000. */
  baseUrl: string
  credentials?: Credentials
  /** The names of decimal fields, as `generate.mjs` lists them; their values are read as texts. */
  decimals?: Iterable<string>
  /**
   * The most attempts for a request that does not get through, including the first; 4 by default.
   */
  attempts?: number
  fetch?: typeof fetch
}

export type CallOptions = {
  signal?: AbortSignal
  /**
   * Your own Idempotency-Key, under which a write is done once; by default each call gets a new
   * one.
   */
  idempotencyKey?: string
  /** Additional headers, such as If-Match. */
  headers?: Record<string, string>
  /** Called when the write waits for approval instead of being done, whatever the call returns. */
  onWaiting?: (waiting: Waiting) => void
}

type Query = Record<string, unknown>
type Sent = CallOptions & { query?: Query; body?: unknown; form?: FormData }
/** One event of the feed. */
export type RegistryEvent = {
  eventID: number
  cursor: string
  type: string
  occurredDate: string
  productID: number | null
  resource: string
  ids: number[]
  counts: Record<string, number> | null
  userID: number | null
}

/** An answer with its text; the text is empty for a file. */
type Got = { response: Response; text: string }

const whole = async (response: Response): Promise<Got> => ({
  response,
  text: await response.text(),
})

/** The caller reads a file as a stream; a refusal is read here as text. */
const streamed = async (response: Response): Promise<Got> =>
  response.ok ? { response, text: '' } : whole(response)

/**
 * Sends calls to the registry: authenticated, with an Idempotency-Key, and retried where that may
 * help.
 */
function transportOf(options: ClientOptions) {
  const { baseUrl, credentials, attempts = 4, fetch: reach = fetch } = options
  const decimals = new Set(options.decimals ?? [])
  // Session calls have an Idempotency-Key as well: if the answer to a refresh token were lost,
  // using the token a second time would end its session.
  const enter = async (path: string, body: object) =>
    (await open('POST', path, { body, idempotencyKey: newKey() })).data
  const session = credentials && sessionOf(credentials, enter)

  /** A call without a token, used to sign in and to refresh the token. */
  const open = async (method: string, path: string, sent: Sent) =>
    answerOf(await tried(async () => whole(await once(method, path, sent)), attempts, sent.signal))

  async function once(method: string, path: string, sent: Sent, authorization?: string) {
    const headers = new Headers({ Version: '2.0', Accept: 'application/json', ...sent.headers })
    if (authorization) headers.set('Authorization', authorization)
    if (sent.idempotencyKey) headers.set('Idempotency-Key', sent.idempotencyKey)
    if (sent.body !== undefined) headers.set('Content-Type', 'application/json')
    const body = sent.form ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
    return reach(baseUrl.replace(/\/$/, '') + path + searchOf(sent.query), {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(sent.signal && { signal: sent.signal }),
    })
  }

  /**
   * Sends a request. Every write has an Idempotency-Key, so that sending it again is safe whatever
   * became of the first attempt, even if its answer broke off halfway.
   */
  async function request(method: string, path: string, asked: Sent, take = whole): Promise<Got> {
    const isKeyed = method !== 'GET'
    const sent = isKeyed ? { ...asked, idempotencyKey: asked.idempotencyKey ?? newKey() } : asked
    const attempt = async () => {
      const token = await session?.authorization()
      // Read the answer to its end first: getting another token may take as long as a user takes to
      // type a password.
      const got = await take(await once(method, path, sent, token))
      if (got.response.status !== 401 || !token) return got
      if (isOfPassword(got.text) || !(await session?.renew(token))) return got
      return take(await once(method, path, sent, await session?.authorization()))
    }
    return tried(attempt, attempts, sent.signal)
  }

  /**
   * Whether a password or code was refused, and not the token: sending it again would count as
   * another failed attempt.
   */
  const isOfPassword = (text: string) =>
    (refusalIn(text, decimals).errors ?? []).some(({ code }) => ofPassword.has(code))

  function answerOf({ response, text }: Got) {
    if (response.ok) return parseExactly(text, decimals) as Envelope
    const { message = response.statusText, errors = [] } = refusalIn(text, decimals)
    throw new RegistryError(
      response.status,
      message ?? '',
      errors,
      response.headers.get('X-Request-Id'),
    )
  }

  /** Sends any call and returns the whole answer. Status 202 means accepted and not done yet. */
  async function send(method: Uppercase<Method>, path: string, sent: Sent = {}) {
    const got = await request(method, path, sent)
    const { headers, status } = got.response
    const envelope = answerOf(got)
    if (isWaiting(envelope.data)) sent.onWaiting?.(envelope.data)
    return { headers, status, envelope }
  }

  const call = async (method: Method, path: string, sent: Sent) =>
    (await send(method.toUpperCase() as Uppercase<Method>, path, sent)).envelope

  return { request, answerOf, call, send }
}

/**
 * A client of the registry. Give it the generated `paths` for types: createClient<paths>({ … }).
 * Works wherever there is fetch.
 */
export function createClient<Paths = Record<string, never>>(options: ClientOptions) {
  const { request, answerOf, call, send } = transportOf(options)
  return {
    /** Reads one page, or whatever else the operation returns; gives the whole envelope. */
    get: <P extends PathOf<Paths, 'get'>>(
      path: P,
      query?: QueryOf<Paths, P, 'get'>,
      more: CallOptions = {},
    ) =>
      call('get', path, { ...more, query: query as Query }) as Promise<AnswerOf<Paths, P, 'get'>>,

    post: async <P extends PathOf<Paths, 'post'>>(
      path: P,
      body: BodyOf<Paths, P, 'post'>,
      more: CallOptions = {},
    ) => (await call('post', path, { ...more, body })).data as DataOf<Paths, P, 'post'>,

    put: async <P extends PathOf<Paths, 'put'>>(
      path: P,
      body: BodyOf<Paths, P, 'put'>,
      more: CallOptions = {},
    ) => (await call('put', path, { ...more, body })).data as DataOf<Paths, P, 'put'>,

    delete: async <P extends PathOf<Paths, 'delete'>>(
      path: P,
      query: QueryOf<Paths, P, 'delete'>,
      more: CallOptions = {},
    ): Promise<void> => {
      await call('delete', path, { ...more, query: query as Query })
    },

    /**
     * Yields every record of a list, page after page: `for await (const product of
     * client.list(…))`.
     */
    async *list<P extends PathOf<Paths, 'get'>>(
      path: P,
      query?: QueryOf<Paths, P, 'get'>,
      more: CallOptions = {},
    ): AsyncGenerator<ItemOf<Paths, P>> {
      for (let Cursor: string | undefined; ; ) {
        const asked: Query = { ...(query as Query), ...(Cursor && { Cursor }) }
        const page = await call('get', path, { ...more, query: asked })
        yield* page.data as ItemOf<Paths, P>[]
        if (!page.nextCursor) return
        Cursor = page.nextCursor
      }
    },

    /**
     * Yields events as they happen, without end; stop with `break` or the signal. Store the cursor
     * of the last event to continue from it later.
     */
    async *events(
      query: { After?: string; Type?: string[]; ProductID?: number; PageSize?: number } = {},
      more: CallOptions = {},
    ): AsyncGenerator<RegistryEvent> {
      let { After } = query
      while (!more.signal?.aborted) {
        const asked: Query = { ...query, Wait: 30, ...(After && { After }) }
        const page = await call('get', '/Event', { ...more, query: asked })
        yield* page.data as RegistryEvent[]
        After = page.cursor
      }
    },

    /**
     * Sends any call and returns the whole answer: the envelope, its status, and the headers for an
     * ETag.
     */
    send,

    /** Returns the bytes of a file as a stream. */
    async download(path: string, query: Query, more: CallOptions = {}) {
      const sent = { ...more, query: { ...query, Raw: true } }
      const got = await request('GET', path, sent, streamed)
      const { ok, body, headers } = got.response
      if (!ok || !body) answerOf(got)
      return { body: body!, headers }
    },

    /** Sends a file with the fields that go with it: lists and objects as JSON. */
    async upload(path: string, fields: Query, file: Blob, name: string, more: CallOptions = {}) {
      return (await call('post', path, { ...more, form: formOf(fields, file, name) })).data
    },
  }
}

/** Codes for a refused password or second-factor code, which a new token would not help. */
const ofPassword = new Set(['sign_in_failed', 'code_required', 'code_wrong'])

/** The envelope of a refusal; empty where a proxy answered and the text is not the registry's. */
function refusalIn(text: string, decimals: ReadonlySet<string>): Partial<Envelope> {
  try {
    return parseExactly(text, decimals) as Envelope
  } catch {
    return {}
  }
}

type Envelope = {
  // biome-ignore lint/suspicious/noExplicitAny: its type is that of the operation
  data: any
  message?: string | null
  errors?: Problem[]
  nextCursor?: string
  cursor?: string
}

const newKey = () => crypto.randomUUID()

/** The entries that have a value; the others are left out. */
const given = (query: Query) =>
  Object.entries(query).filter(([, value]) => value !== undefined && value !== null)

function formOf(fields: Query, file: Blob, name: string): FormData {
  const form = new FormData()
  for (const [field, value] of given(fields))
    form.set(field, typeof value === 'object' ? JSON.stringify(value) : String(value))
  form.set('file', file, name)
  return form
}

function searchOf(query: Query = {}): string {
  const pairs = given(query)
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))
  return pairs.length > 0 ? `?${search}` : ''
}

/**
 * Milliseconds. If the registry asks for a longer pause, the caller gets the refusal instead of
 * waiting.
 */
const longestWait = 60_000

/**
 * Retries where the network failed, or the registry answers that the problem is temporary (429,
 * 503).
 */
async function tried(
  attempt: () => Promise<Got>,
  attempts: number,
  signal: AbortSignal | undefined,
): Promise<Got> {
  for (let left = attempts - 1; ; left--) {
    const got = await attempt().catch((error: unknown) => {
      if (left <= 0 || signal?.aborted || error instanceof RegistryError) throw error
      return undefined
    })
    const response = got?.response
    const asked = (Number(response?.headers.get('Retry-After')) || 0) * 1000
    const passes = response?.status === 503 || response?.status === 429
    if (got && (left <= 0 || !passes || asked > longestWait)) return got
    await pause(Math.max(asked, backoff(attempts - left)), signal)
  }
}

/** Waits; rejects at once with the reason of the signal if the caller aborts. */
const pause = (milliseconds: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })

const backoff = (attempt: number) => 100 * 2 ** attempt * (0.5 + Math.random() / 2)
