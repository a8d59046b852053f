/** A session that is kept elsewhere: that of a page, say, whose refresh token no script can read. */
export type OwnSession = {
  authorization: () => string | undefined | Promise<string | undefined>
  /** After a 401: whether there is another token now. */
  renew: (refused: string) => Promise<boolean>
}

/** How a client says who it is: with an API key, by signing in, or by a session of its own. */
export type Credentials =
  | { apiKey: string }
  | { username: string; password: string; code?: string }
  | OwnSession

type Tokens = { accessToken: string; refreshToken: string }
type Post = (path: string, body: object) => Promise<Tokens>

/** Signs in when first needed; a token that has run out is replaced once for all who wait. */
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

    /** After a 401: another token than the one refused; false where there is none to be had. */
    async renew(refused: string): Promise<boolean> {
      if ('apiKey' in credentials || !tokens) return false
      const pending = tokens
      const { accessToken, refreshToken } = await pending
      if (accessToken !== refused || tokens !== pending) return true // somebody else has renewed
      tokens = post('/User/RefreshToken', { refreshToken }).catch(signIn)
      tokens.catch(() => {
        tokens = undefined
      })
      await tokens
      return true
    },
  }
}
