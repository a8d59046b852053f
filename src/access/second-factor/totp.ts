import { createHmac, randomBytes } from 'node:crypto'
import { isSecret } from '../../platform/secrets.ts'

/**
 * Time-based codes (RFC 6238): SHA-1, six digits, thirty seconds, as all authenticators support.
 */
const stepSeconds = 30
const digits = 6
/** A code is accepted one step early or late, because clocks differ. */
const tolerance = 1

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Bytes in base32 (RFC 4648), without padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((eight) => Number.parseInt(eight, 2)))
}

export const newSecret = () => base32(randomBytes(20))

export const otpauthUrl = (username: string, secret: string) =>
  `otpauth://totp/${encodeURIComponent(`Registry:${username}`)}?secret=${secret}` +
  `&issuer=Registry&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`

export const stepAt = (milliseconds: number) => Math.floor(milliseconds / 1000 / stepSeconds)

export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = hash.at(-1)! & 15
  const number = (hash.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/**
 * The time step that a code belongs to, among the steps accepted at `now`; undefined if none
 * matches.
 */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const present = stepAt(now)
  const near = Array.from({ length: 2 * tolerance + 1 }, (_, i) => present - tolerance + i)
  // All steps are compared, so that the response time reveals nothing.
  const found = near.filter((step) => isSecret(code, codeAt(secret, step)))
  return found[0]
}
