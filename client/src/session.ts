/**
 * A session that the caller keeps, for instance that of a page whose refresh token no script can
 * read.
 */
export type OwnSession = {
  authorization: () => string | undefined | Promise<string | undefined>
  /** Called after a 401; returns whether there is another token now. */
  renew: (refused: string) => Promise<boolean>
}

/** How a client authenticates: with an API key, by signing in, or with a session of its own. */
export type Credentials =
  | { apiKey: string }
  | { username: string; password: string; code?: string }
  | OwnSession

type Tokens = { accessToken: string; refreshToken: string }
type Post = (path: string, body: object) => Promise<Tokens>

/** Signs in when first needed. An expired token is renewed once for all calls that wait. */
export function sessionOf(credentials: Credentials, post: Post): OwnSession {
  if ('renew' in credentials) return credentials
  let tokens: Promise<Tokens> | undefined
  const signIn = () => post('/User/Login', { code: undefined, ...credentials })

  return {
    async authorization(): Promise<string> {
      if ('apiKey' in credentials) return credentials.apiKey
      tokens ??= signIn()
      const pending = tokens
      const { accessToken } = await pending.catch((error) => {
        if (tokens === pending) tokens = undefined
        throw error
      })
      return accessToken
    },

    /** Called after a 401: gets another token than the refused one; false where there is none. */
    async renew(refused: string): Promise<boolean> {
      if ('apiKey' in credentials || !tokens) return false
      const pending = tokens
      const { accessToken, refreshToken } = await pending
      if (accessToken !== refused || tokens !== pending) return true // another call has renewed it
      tokens = post('/User/RefreshToken', { refreshToken }).catch(signIn)
      tokens.catch(() => {
        tokens = undefined
      })
      await tokens
      return true
    },
  }
}
