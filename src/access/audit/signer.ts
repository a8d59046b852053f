import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify as verifySignature,
} from 'node:crypto'
import type { Config } from '../../config.ts'
import { keyFile } from '../../platform/secrets.ts'

/** A head of the chain: how many records there are, and the hash over them all. */
export type Head = { position: number; hash: Buffer; sealedDate: string }

export type Signer = { publicKey: string; sign: (head: Head) => Buffer }

/** The text that is signed: plain words, so that a kept seal can be checked with any tool. */
export const signedText = ({ position, hash, sealedDate }: Head) =>
  [
    'registry audit seal',
    `position ${position}`,
    `sha256 ${hash.toString('hex')}`,
    `sealed ${sealedDate}\n`,
  ].join('\n')

/** Signs with the Ed25519 key in the keys folder, which the first start generates. */
export function signerOf({ dataDir }: Config): Signer {
  const key = privateKeyOf(keyFile(dataDir, 'audit-signing-key', newKey))
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  return { publicKey, sign: (head) => sign(null, Buffer.from(signedText(head)), key) }
}

function privateKeyOf(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw new Error(
      'keys/audit-signing-key in the data folder holds no private key: bring it back from a ' +
        'backup, or remove it, and the next start makes another.',
    )
  }
}

const newKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

export function isSigned(head: Head, publicKey: string, signature: Buffer): boolean {
  try {
    return verifySignature(null, Buffer.from(signedText(head)), publicKey, signature)
  } catch {
    return false // not a valid public key
  }
}
