import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { makeFolder } from './folder.ts'

/** Keys for separate uses, all drawn from the one secret that signs tokens. */
export type Secrets = {
  tokenKey: string
  fingerprintKey: Buffer
  sealKey: Buffer
  nameKey: Buffer
  factorKey: Buffer
  requestKey: Buffer
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
  }
}

const keyName = 'encryption-key'
const previousName = 'previous-encryption-keys'

/** The keys of tax numbers: the one that seals, and those that older values may still need. */
export function readEncryptionKeys(config: Config): { current: Buffer; previous: Buffer[] } {
  const { encryptionKey, previousEncryptionKeys, dataDir } = config
  const current = encryptionKey ?? keyFile(dataDir, keyName, newEncryptionKey)
  const previousFile = join(dataDir, 'keys', previousName)
  const kept = existsSync(previousFile) ? readFileSync(previousFile, 'utf8').split('\n') : []
  const previous = [...previousEncryptionKeys, ...kept.filter(Boolean)]
  return { current: fromBase64(current), previous: previous.map(fromBase64) }
}

/** The keys there are, without making one where there is none. */
export function presentEncryptionKeys(config: Config): Buffer[] {
  const isThere = config.encryptionKey || existsSync(join(config.dataDir, 'keys', keyName))
  if (!isThere) return config.previousEncryptionKeys.map(fromBase64)
  const { current, previous } = readEncryptionKeys(config)
  return [current, ...previous]
}

/** A new key in the key file; the old one stays beside it for what it has sealed. */
export function replaceEncryptionKey({ dataDir }: Config) {
  const path = join(dataDir, 'keys', keyName)
  const previousFile = join(dataDir, 'keys', previousName)
  appendFileSync(previousFile, `${keyFile(dataDir, keyName, newEncryptionKey)}\n`, { mode: 0o600 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, newEncryptionKey(), { mode: 0o600, flag: 'wx' })
  renameSync(draft, path)
}

const newEncryptionKey = () => randomBytes(32).toString('base64')
const fromBase64 = (key: string) => Buffer.from(key, 'base64')

/** A generated secret beside the data, readable by us only; the same one at every start. */
export function keyFile(dataDir: string, name: string, make = newSecret): string {
  const folder = join(dataDir, 'keys')
  const path = join(folder, name)
  makeFolder(folder)
  if (!existsSync(path)) publish(path, make())
  return readFileSync(path, 'utf8')
}

const newSecret = () => randomBytes(48).toString('base64url')

/** Written whole under another name, then linked: two starts at once agree on one key. */
function publish(path: string, secret: string) {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, secret, { mode: 0o600, flag: 'wx' })
    linkSync(draft, path)
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

/** Both with one key. */
export const sealedWith = (key: Buffer) => ({
  seal: (text: string) => seal(key, text),
  unseal: (text: string) => unseal(key, text),
})
