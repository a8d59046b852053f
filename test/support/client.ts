import { knowsRefusal } from './known-refusals.ts'

export type Reply = {
  status: number
  headers: Headers
  text: string
  result: boolean
  message: string | null
  recordCount: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  data: any
  errors: { code: string; field?: string; message: string }[]
}

type Extra = Record<string, string | undefined>

/** Calls the service as a user would: over HTTP, with the headers that the specification wants. */
export type Client = ReturnType<typeof clientOf>

/** On a busy machine a test file may run longer than an access token is valid (twenty minutes). */
const renewAfter = 15 * 60_000

export function clientOf(url: string, token?: string, renew?: () => Promise<string>) {
  let [valid, since] = [token, Date.now()]
  const authorization = async () => {
    if (renew && Date.now() - since > renewAfter) [valid, since] = [await renew(), Date.now()]
    return valid
  }
  const call = async (method: string, path: string, body?: unknown, extra: Extra = {}) => {
    const headers = new Headers({ Version: '2.0' })
    const own = await authorization()
    if (own) headers.set('Authorization', own)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    for (const [name, value] of Object.entries(extra))
      if (value === undefined) headers.delete(name)
      else headers.set(name, value)
    const payload = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(payload !== undefined && { body: payload }),
    })
    const reply = await replyOf(answer)
    await knowsRefusal(url, `${method} ${path}`, reply)
    return reply
  }
  return {
    url,
    token,
    authorization,
    call,
    get: (path: string, extra?: Extra) => call('GET', path, undefined, extra),
    /** A body given as a string is sent as it is. */
    post: (path: string, body?: unknown, extra?: Extra) => call('POST', path, body, extra),
    put: (path: string, body?: unknown, extra?: Extra) => call('PUT', path, body, extra),
    delete: (path: string, extra?: Extra) => call('DELETE', path, undefined, extra),
    signIn: async (username: string, password: string) => {
      const login = async (): Promise<string> => {
        const reply = await call('POST', '/User/Login', { username, password })
        if (reply.status !== 200) throw new Error(reply.text)
        return reply.data.accessToken
      }
      return clientOf(url, await login(), login)
    },
  }
}

async function replyOf(answer: Response): Promise<Reply> {
  const text = await answer.text()
  const parsed = (answer.headers.get('content-type') ?? '').includes('json') ? JSON.parse(text) : {}
  return { ...parsed, status: answer.status, headers: answer.headers, text }
}
