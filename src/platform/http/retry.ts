import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../refusal.ts'
import type { RetryKey } from '../sql/retry-keys.ts'
import { isReplayed, type Request, type WriteEndpoint } from './endpoint.ts'

export type Seal = { seal: (text: string) => string; unseal: (text: string) => string }

export type RetryOptions = {
  /** The key of the fingerprints, so that they reveal nothing about the requests. */
  fingerprintKey: Buffer
  /** Encrypts kept answers that hold secrets. */
  sealed: Seal
}

/** The Idempotency-Key of a request, with a fingerprint that tells this request from others. */
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
  // An API key may see less than its user or another API key, so they must not share answers.
  const program = actor?.apiKeyID === undefined ? [] : [actor.apiKeyID]
  const fingerprint = printOf(operation, query, body, ...program).subarray(0, fingerprintBytes)
  // Callers who are not signed in share one space of keys, so the request becomes part of the key.
  const key = access === 'public' ? printOf(given, operation, body).toString('base64url') : given
  return { key, fingerprint, ...(secret ? sealed : { seal: asItIs, unseal: unpack }) }
}

/** 128 bits: no two requests will ever have the same fingerprint by accident. */
const fingerprintBytes = 16

function keyIn({ 'idempotency-key': key }: IncomingHttpHeaders): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw invalid('invalid_value', 'Idempotency-Key must be 1 to 255 characters.', 'Idempotency-Key')
}

/** Sorts fields by name: two clients may send the fields of the same body in different order. */
const inNameOrder = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

const asItIs = (text: string) => text
