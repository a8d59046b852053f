import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSigner } from 'fast-jwt'
import { permissions } from '../../src/platform/permission.ts'
import { type Client, clientOf } from './client.ts'
import { rowsOf } from './database.ts'
import { adminPassword as password, type Service } from './service.ts'

const key = 'a secret that all nodes of a test share'
const iss = 'registry-platform'
const right = { key, algorithm: 'HS256' as const, iss, aud: iss, expiresIn: 60_000 }
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

type Claims = { sub: string; sid: string }

export function claimsOf(token: string): Claims {
  const [, payload = ''] = token.split('.')
  const { sub, sid } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return { sub, sid }
}

/** A valid token, as the service makes it; each forgery differs from it in one point. */
export const tokenFor = (claims: Claims) => createSigner(right)(claims)

/** Tokens that must be refused although their claims are those of a living session. */
export function forgeriesOf(claims: Claims): Record<string, string> {
  const [head = '', payload = '', signature = ''] = tokenFor(claims).split('.')
  const past = Math.floor(Date.now() / 1000) - 1
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const jwk = publicKey.export({ format: 'jwk' })
  const headed = (more: object) => `${encoded({ alg: 'HS256', typ: 'JWT', ...more })}.${payload}`
  const signed = (more: object) => createSigner({ ...right, ...more })
  const flipped = signature.startsWith('A') ? 'B' : 'A'
  return {
    expired: signed({})({ ...claims, iat: past - 60, exp: past }),
    'without an end': createSigner({ key, algorithm: 'HS256', iss, aud: iss })(claims),
    'not valid yet': signed({ notBefore: 600_000 })(claims),
    'another payload': [head, encoded({ ...claims, sub: '2', iss, aud: iss }), signature].join('.'),
    'another signature': `${head}.${payload}.${flipped}${signature.slice(1)}`,
    'a cut signature': `${head}.${payload}.${signature.slice(0, -2)}`,
    'without a signature': `${head}.${payload}.`,
    'algorithm none': `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'algorithm none, signed': `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.${signature}`,
    'algorithm nOnE': `${encoded({ alg: 'nOnE', typ: 'JWT' })}.${payload}.${signature}`,
    HS384: signed({ algorithm: 'HS384' })(claims),
    HS512: signed({ algorithm: 'HS512' })(claims),
    RS256: signed({ algorithm: 'RS256', key: privateKey.export(pem) })(claims),
    'a key of its own': `${headed({ jwk })}.${signature}`,
    'another key': signed({ key: `${key}!` })(claims),
    'an empty key': signed({ key: ' ' })(claims),
    'another issuer': signed({ iss: 'someone' })(claims),
    'another audience': signed({ aud: 'someone' })(claims),
    'no session': signed({})({ sub: claims.sub }),
    'no user': signed({})({ sid: claims.sid }),
    'a session that is none': signed({})({ ...claims, sid: "' or true --" }),
    'an unknown session': signed({})({ ...claims, sid: crypto.randomUUID() }),
  }
}

/** Access tokens that were valid once; their sessions or users have ended since. */
export async function endedTokens(service: Service): Promise<Record<string, string>> {
  const { admin, anyone } = service
  const signedIn = async () => {
    const username = `ended-${crypto.randomUUID()}`
    const created = await admin.post('/User', { username, password, role: 'Administrator' })
    const { accessToken, refreshToken } = (await anyone.post('/User/Login', { username, password }))
      .data
    return { userID: created.data[0].userID as number, accessToken, refreshToken }
  }
  const [out, inactive, changed, reset, reused] = await Promise.all(
    Array.from({ length: 5 }, signedIn),
  )
  const own = { Authorization: changed!.accessToken }
  await anyone.post('/User/Logout', undefined, { Authorization: out!.accessToken })
  const { userID } = inactive!
  await admin.put('/User', { userID, role: 'Administrator', isActive: false })
  const change = { currentPassword: password, newPassword: 'another password' }
  await anyone.put('/User/Password', change, own)
  await admin.put('/User/Password', { userID: reset!.userID, newPassword: 'another password' })
  const { refreshToken } = reused!
  for (const _twice of [1, 2]) await anyone.post('/User/RefreshToken', { refreshToken })
  await sleep(1000) // every node knows by now
  return {
    'a session that was signed out': out!.accessToken,
    'a user who is not active': inactive!.accessToken,
    'a user who changed the password': changed!.accessToken,
    'a user whose password was reset': reset!.accessToken,
    'a session whose refresh token was used twice': reused!.accessToken,
  }
}

/** Authorization headers that hold no access token at all. */
export async function otherHeaders(service: Service): Promise<Record<string, string>> {
  const login = { username: 'admin', password }
  const { accessToken, refreshToken } = (await service.anyone.post('/User/Login', login)).data
  return {
    'a refresh token': refreshToken,
    'a refresh token as bearer': `Bearer ${refreshToken}`,
    'another scheme': `Basic ${accessToken}`,
    'two tokens': `${accessToken}, ${accessToken}`,
    nothing: 'Bearer',
    'three words': 'a.b.c',
  }
}

/** Creates an API key of a user, and returns a client that uses it. */
export async function newKey(client: Client, given: object): Promise<Client> {
  const reply = await client.post('/ApiKey', { name: 'a program', ...given })
  if (reply.status !== 200) throw new Error(reply.text)
  return clientOf(client.url, reply.data[0].key)
}

/** API keys with all permissions that must be refused: ended, expired, or from another network. */
export async function endedKeys(service: Service): Promise<Record<string, string>> {
  const all = { permissions }
  const keyOf = async (client: Client, given: object = {}) =>
    (await newKey(client, { ...all, ...given })).token!
  const { admin, anyone, connection } = service
  const username = `ended-${crypto.randomUUID()}`
  const [owner] = (await admin.post('/User', { username, password, role: 'Administrator' })).data
  const ofInactive = await keyOf(await anyone.signIn(username, password))
  await admin.put('/User', { userID: owner.userID, isActive: false })
  const [ended] = (await admin.post('/ApiKey', { name: 'ended', ...all })).data
  await admin.delete(`/ApiKey?ApiKeyID=${ended.apiKeyID}`)
  const expired = await keyOf(admin, { expires: '2100-01-01T00:00:00Z' })
  await rowsOf(connection, 'update api_key set expires_date = now() where expires_date is not null')
  return {
    'an API key that is none': `rk_${'x'.repeat(43)}`,
    'an API key that was ended': ended.key,
    'an API key that has expired': expired,
    'an API key of a user who is not active': ofInactive,
    'an API key from elsewhere': await keyOf(admin, { allowedNetworks: ['203.0.113.0/24'] }),
  }
}

/** An administrator who must still enrol a second factor. */
export async function halfSignedIn(service: Service): Promise<Client> {
  const client = await service.userWith({ role: 'Administrator' })
  const { sid } = claimsOf(client.token!)
  await rowsOf(service.connection, 'update session set is_half = true where session_id = $1', [sid])
  return client
}

/** Operations for people only, not for API keys; then those allowed before a second factor. */
export const peopleOnly = [
  'POST /User/Logout',
  'PUT /User/Password',
  'GET /User/Session',
  'DELETE /User/Session',
  'POST /User/SecondFactor',
  'POST /User/SecondFactor/Confirm',
  'DELETE /User/SecondFactor',
  'GET /ApiKey',
  'POST /ApiKey',
  'DELETE /ApiKey',
]
export const whileEnrolling = [
  'POST /User/Logout',
  'GET /User/Me',
  'POST /User/SecondFactor',
  'POST /User/SecondFactor/Confirm',
]
/** This operation needs a code that only the caller's own authenticator has. */
export const ownSecret = 'POST /User/SecondFactor/Confirm'
