import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, isKey } from '../config.ts'
import { giveToOwnerOf, makeFolder, syncFolder, writeSynced } from './folder.ts'
import { conflict } from './refusal.ts'

/** Keys for separate uses, all derived from the one secret that signs tokens. */
export type Secrets = {
  tokenKey: string
  fingerprintKey: Buffer
  sealKey: Buffer
  nameKey: Buffer
  factorKey: Buffer
  requestKey: Buffer
  consoleKey: Buffer
  /** Nodes compare this to find out whether they have the same secret. */
  secretID: string
}

export function readSecrets(config: Config): Secrets {
  const tokenKey = config.jwtSecret ?? keyFile(config.dataDir, 'jwt-secret')
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', tokenKey, '', use, 32))
  return {
    tokenKey,
    fingerprintKey: derive('request fingerprints'),
    sealKey: derive('sealed answers'),
    nameKey: derive('usernames of failed sign-ins'),
    factorKey: derive('second factors'),
    requestKey: derive('requests that wait'),
    consoleKey: derive('sessions of the console'),
    secretID: derive('the secret of a node').toString('hex').slice(0, 16),
  }
}

const keyName = 'encryption-key'
const previousName = 'previous-encryption-keys'

/**
 * The keys that encrypt tax and bank numbers: the current key, and earlier keys that stored values
 * may still need.
 */
export function readEncryptionKeys(config: Config): { current: Buffer; previous: Buffer[] } {
  const { encryptionKey, dataDir } = config
  const current = encryptionKey ?? keyFile(dataDir, keyName, newEncryptionKey)
  return { current: keyOf(current, pathOf(dataDir, keyName)), previous: previousKeys(config) }
}

const previousKeys = ({ previousEncryptionKeys, dataDir }: Config): Buffer[] =>
  [...previousEncryptionKeys, ...keptKeys(dataDir)].map((key) =>
    keyOf(key, pathOf(dataDir, previousName)),
  )

function keptKeys(dataDir: string): string[] {
  const path = pathOf(dataDir, previousName)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}

/** Decodes a key from a file; keys from the environment were checked by config.ts. */
function keyOf(text: string, path: string): Buffer {
  if (isKey(text)) return fromBase64(text)
  throw new Error(`${path} must hold keys of 32 bytes in base64: bring it back from a backup.`)
}

/** The existing encryption keys; unlike readEncryptionKeys, this never makes a key file. */
export function presentEncryptionKeys(config: Config): Buffer[] {
  const isThere = config.encryptionKey || existsSync(pathOf(config.dataDir, keyName))
  if (!isThere) return previousKeys(config)
  const { current, previous } = readEncryptionKeys(config)
  return [current, ...previous]
}

/** The settings and files that hold the encryption keys. */
export const placesOfKeys = (config: Config): string[] => [
  config.encryptionKey ? 'REGISTRY_ENCRYPTION_KEY' : pathOf(config.dataDir, keyName),
  ...(config.previousEncryptionKeys.length > 0 ? ['REGISTRY_PREVIOUS_ENCRYPTION_KEYS'] : []),
  ...[pathOf(config.dataDir, previousName)].filter((path) => existsSync(path)),
]

/**
 * Writes a new key into the key file; the old key is kept beside it for the values it has sealed.
 */
export function replaceEncryptionKey({ dataDir }: Config) {
  const replaced = keyFile(dataDir, keyName, newEncryptionKey)
  replace(pathOf(dataDir, previousName), `${[...keptKeys(dataDir), replaced].join('\n')}\n`)
  replace(pathOf(dataDir, keyName), newEncryptionKey())
}

function replace(path: string, text: string) {
  const draft = draftOf(path)
  writeSynced(draft, text)
  giveToOwnerOf(dirname(path), draft)
  renameSync(draft, path)
  syncFolder(dirname(path))
}

const newEncryptionKey = () => randomBytes(32).toString('base64')
const fromBase64 = (key: string) => Buffer.from(key, 'base64')

/** A generated secret in the data folder, readable by our user only; the same at every start. */
export function keyFile(dataDir: string, name: string, make = newSecret): string {
  const path = pathOf(dataDir, name)
  makeFolder(dirname(path))
  if (!existsSync(path)) publish(path, make())
  const secret = readFileSync(path, 'utf8')
  if (secret.trim() === '') throw new Error(`${path} is empty: bring it back from a backup.`)
  return secret
}

const pathOf = (dataDir: string, name: string) => join(dataDir, 'keys', name)
const draftOf = (path: string) => `${path}.${randomBytes(6).toString('hex')}`
const newSecret = () => randomBytes(48).toString('base64url')

/**
 * Writes the secret completely under another name, then links it: two nodes that start at once
 * agree on one key. It is synced to disk, because values sealed with it survive a power cut, too.
 */
function publish(path: string, secret: string) {
  const draft = draftOf(path)
  try {
    writeSynced(draft, secret)
    giveToOwnerOf(dirname(path), draft)
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

const algorithm = 'aes-256-gcm'

/** AES-256-GCM under a fresh nonce: nonce, tag and text as one base64 string. */
export function seal(key: Buffer, text: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv(algorithm, key, nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
}

export function unseal(key: Buffer, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8')
}

/** Both functions with one key; a value sealed with another key is refused with `refusal`. */
export const sealedWith = (key: Buffer, refusal: string) => ({
  seal: (text: string) => seal(key, text),
  unseal: (text: string) => {
    try {
      return unseal(key, text)
    } catch {
      throw conflict('key_missing', refusal)
    }
  },
})

/**
 * Compares a text with a secret in constant time: the time reveals at most whether the lengths
 * differ.
 */
export function isSecret(given: string, secret: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(secret)]
  return left.length === right.length && timingSafeEqual(left, right)
}
