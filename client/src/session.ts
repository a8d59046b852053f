/** How a client says who it is: with an API key, or by signing in. */
export type Credentials = { apiKey: string } | { username: string; password: string; code?: string }

type Tokens = { accessToken: string; refreshToken: string }
type Post = (path: string, body: object) => Promise<Tokens>

/** Signs in when first needed; a token that has run out is replaced once for all who wait. */
export function sessionOf(credentials: Credentials, post: Post) {
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
