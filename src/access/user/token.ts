import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createSigner, createVerifier } from 'fast-jwt'
import { unauthenticated } from '../../platform/refusal.ts'

/** Access tokens are JWTs that name a session; the user's rights are looked up and not carried. */
export const accessTokenSeconds = 20 * 60
export const refreshTokenDays = 30

export type Claims = { sub: string; sid: string; exp: number }
export type Tokens = ReturnType<typeof tokensWith>

const issuer = 'registry-platform'

export function tokensWith(key: string) {
  const common = { key, algorithms: ['HS256' as const], allowedIss: issuer, allowedAud: issuer }
  const sign = createSigner({
    key,
    algorithm: 'HS256',
    iss: issuer,
    aud: issuer,
    expiresIn: accessTokenSeconds * 1000,
  })
  const verify = createVerifier({ ...common, requiredClaims: ['exp', 'sid', 'sub'] })
  const verifyOld = createVerifier({
    ...common,
    requiredClaims: ['sid', 'sub'],
    ignoreExpiration: true,
  })
  return {
    /**
     * The jti makes every token unique: two tokens of one session issued in the same second would
     * otherwise be equal, and the actor cached for the first would be used for the second.
     */
    issue: (claims: Omit<Claims, 'exp'>): string => sign({ ...claims, jti: randomUUID() }),
    /** The claims of a valid token. */
    claims: (authorization: string | undefined): Claims => read(verify, authorization),
    /** The claims of a token that may have expired. */
    oldClaims: (authorization: string | undefined): Claims => read(verifyOld, authorization),
  }
}

const signInFirst = () =>
  unauthenticated(
    'unauthenticated',
    'Sign in and send the access token as the Authorization header.',
  )
const signInAgain = () =>
  unauthenticated('token_invalid', 'The access token is not valid or has expired; refresh it.')

function read(verify: (token: string) => Claims, authorization: string | undefined): Claims {
  if (!authorization) throw signInFirst()
  const token = /^(?:Bearer +)?([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization)?.[1]
  if (!token) throw signInAgain()
  const claims = verified(verify, token)
  if (!claims || !uuid.test(claims.sid)) throw signInAgain()
  return claims
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function verified(verify: (token: string) => Claims, token: string): Claims | undefined {
  try {
    return verify(token)
  } catch {
    return undefined
  }
}

/** Refresh tokens are opaque; only their hash is stored. */
export const newRefreshToken = () => randomBytes(32).toString('base64url')
export const refreshTokenHash = (token: string) => createHash('sha256').update(token).digest()
