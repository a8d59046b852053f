import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import type { Problem } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import { digestOf, doubtOf, maskOf } from '../../platform/sql/render.ts'
import type { Row, Table } from '../../platform/sql/rows.ts'

/**
 * Tax numbers at rest: AES-256-GCM. Each value is bound to its place (table, record, column), so
 * that a copy in another row does not open, and carries the id of its key, so that keys can change.
 * Answers show masks, which are stored beside the sealed values: reading opens nothing. Searches
 * compare a keyed digest, which reveals nothing without the key.
 */
export type Vault = {
  /** The id of the key that new values are sealed with. */
  keyID: string
  /** The ids of all keys that this process can open values with. */
  keyIDs: ReadonlySet<string>
  seal: (place: string, text: string) => string
  /** Undefined when the value is sealed with a key that this process lacks. */
  open: (place: string, sealed: string) => string | undefined
  digest: (text: string) => string
  /**
   * The digests of a text under every known key, to find it whichever key its digest was made with.
   */
  digests: (text: string) => string[]
}

export type EncryptionKeys = { current: Buffer; previous: readonly Buffer[] }

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

export function vaultOf({ current, previous }: EncryptionKeys): Vault {
  const keys = new Map([current, ...previous].map((key) => [keyIDOf(key), key]))
  const keyID = keyIDOf(current)
  return {
    keyID,
    keyIDs: new Set(keys.keys()),
    seal: (place, text) => `${keyID}.${sealed(current, place, text).toString('base64')}`,
    open: (place, value) => {
      const key = keys.get(keyOf(value))
      return key && opened(key, place, Buffer.from(value.slice(value.indexOf('.') + 1), 'base64'))
    },
    digest: (text) => digestWith(current, text),
    digests: (text) => [...keys.values()].map((key) => digestWith(key, text)),
  }
}

/** The id of the key that a value is sealed with. */
export const keyOf = (sealed: string) => sealed.slice(0, sealed.indexOf('.'))

/**
 * A digest made with a key derived from the sealing key, prefixed with the id of the sealing key.
 */
function digestWith(key: Buffer, text: string): string {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'digests of tax numbers', 32))
  return `${keyIDOf(key)}.${createHmac('sha256', own).update(text).digest('base64')}`
}

/** An id that distinguishes keys and reveals nothing about them. */
export const keyIDOf = (key: Buffer) =>
  createHash('sha256').update('registry key id').update(key).digest('hex').slice(0, 16)

function sealed(key: Buffer, place: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place))
  const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden])
}

function opened(key: Buffer, place: string, bytes: Buffer): string {
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes))
    .setAAD(Buffer.from(place))
    .setAuthTag(tag)
  const hidden = bytes.subarray(nonceBytes + tagBytes)
  return decipher.update(hidden, undefined, 'utf8') + decipher.final('utf8')
}

export const placeOf = (table: Table, id: number, column: string) => `${table.name}:${id}:${column}`

/** Masks all characters but the last three; texts of three or fewer are masked whole. */
export const mask = (text: string) => {
  const characters = [...text]
  const hidden = characters.length > 3 ? characters.length - 3 : characters.length
  return '*'.repeat(hidden) + characters.slice(hidden).join('')
}

export const sealedColumns = ({ columns }: Table) => columns.filter(({ sealed }) => sealed)

/**
 * Seals the tax numbers of a row that still holds them in clear. A value equal to the stored mask
 * or the stored number stays as it is; any other value with an asterisk is refused.
 */
export function sealRow(
  vault: Vault,
  table: Table,
  row: Row,
  current: Row | undefined,
  path: string,
): Problem[] {
  const id = row[table.key] as number
  return sealedColumns(table).flatMap((column) => {
    const { name, field, findable } = column
    const given = row[name] as string | null
    const place = placeOf(table, id, name)
    const stored = current?.[name] as string | null | undefined
    const storedMask = current?.[maskOf(name)] ?? null
    const unchanged =
      stored && given !== null && (given === storedMask || isNow(vault, place, stored, given))
    if (unchanged) {
      row[name] = stored
      row[maskOf(name)] = storedMask
      if (findable)
        for (const beside of [digestOf(name), doubtOf(name)])
          row[beside] = current?.[beside] ?? null
      return []
    }
    row[name] = given === null ? null : vault.seal(place, given)
    row[maskOf(name)] = given === null ? null : mask(given)
    if (findable) Object.assign(row, besides(vault, column, given))
    return given?.includes('*') ? [notTheMask(path, field!)] : []
  })
}

/**
 * The digest and the doubt flag stored beside a searchable number. Codes of the tax office have no
 * digest, since nobody is searched for by a code.
 */
export const besides = (
  vault: Vault,
  { name, doubt, standIn }: Table['columns'][number],
  text: string | null,
): Row => ({
  [digestOf(name)]: text === null || standIn!(text) ? null : vault.digest(text),
  [doubtOf(name)]: text === null ? null : doubt!(text),
})

/**
 * Whether the stored value is the given one. A value that no key opens counts as different and is
 * overwritten.
 */
function isNow(vault: Vault, place: string, stored: string, given: string): boolean {
  try {
    return vault.open(place, stored) === given
  } catch {
    return false
  }
}

function notTheMask(path: string, name: string): Problem {
  const field = inside(path, name)
  const message = `${field} has an asterisk and is not the masked number that is stored now.`
  return { code: 'masked_value', field, message }
}
