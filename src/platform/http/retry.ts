import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../refusal.ts'
import type { RetryKey } from '../sql/retry-keys.ts'
import { isReplayed, type Request, type WriteEndpoint } from './endpoint.ts'

export type Seal = { seal: (text: string) => string; unseal: (text: string) => string }

export type RetryOptions = {
  /** Keys the fingerprints of requests, so that they tell nothing about what was sent. */
  fingerprintKey: Buffer
  /** Hides kept answers that hold secrets. */
  sealed: Seal
}

/** The Idempotency-Key of a request with what tells this request from another. */
export function retryKey(
  { headers, query, body, actor }: Request<unknown, unknown>,
  endpoint: WriteEndpoint,
  { fingerprintKey, sealed }: RetryOptions,
): RetryKey | undefined {
  const { operation, access, secret, unpack = asItIs } = endpoint
  const given = isReplayed(endpoint) ? keyIn(headers) : undefined
  if (given === undefined) return undefined
  const printOf = (...of: unknown[]) =>
    createHmac('sha256', fingerprintKey).update(JSON.stringify(of, inNameOrder)).digest()
  // An API key may see less than its user, or than another of theirs: no answer is for both.
  const program = actor?.apiKeyID === undefined ? [] : [actor.apiKeyID]
  const fingerprint = printOf(operation, query, body, ...program).subarray(0, fingerprintBytes)
  // Those who are not signed in have their keys in common: what they ask for tells them apart.
  const key = access === 'public' ? printOf(given, operation, body).toString('base64url') : given
  return { key, fingerprint, ...(secret ? sealed : { seal: asItIs, unseal: unpack }) }
}

/** No two requests that anybody sends have as many in common. */
const fingerprintBytes = 16

function keyIn({ 'idempotency-key': key }: IncomingHttpHeaders): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw invalid('invalid_value', 'Idempotency-Key must be 1 to 255 characters.', 'Idempotency-Key')
}

/** Two clients, or two runs of one, may write the fields of the same body in another order. */
const inNameOrder = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

const asItIs = (text: string) => text
