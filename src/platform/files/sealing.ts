import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline as copy } from 'node:stream/promises'
import { conflict } from '../refusal.ts'

/**
 * Encrypts stored files that may hold tax and bank numbers: AES-256-GCM in frames of 64 KiB, so
 * that a file of any length needs the memory of one frame. A frame's nonce is its number and
 * whether it is the last, under a key for its file alone: frames cannot be left out, moved or taken
 * from another file.
 *
 * A file's key is derived from a keyed digest of its content. Sealing the same content twice gives
 * the same bytes, so it is stored once, and without the key nobody can test guesses of the content.
 */
export type Sealing = {
  /** Seals the file at `path`, whose SHA-256 is known, into the file `to`. */
  seal: (path: string, sha256: string, to: string) => Promise<void>
  /** Decrypts a stored file; a file from before sealing existed is passed on unchanged. */
  open: (stored: Readable) => Promise<Readable>
  /** Whether a file is sealed with another key than the present one. */
  isOld: (stored: Readable) => Promise<boolean>
}

type EncryptionKeys = { current: Buffer; previous: readonly Buffer[] }

const algorithm = 'aes-256-gcm'
const frameBytes = 65_536
const tagBytes = 16
/** Neither a text nor a workbook begins with these bytes. */
const mark = Buffer.from('\0registry sealed')
const idBytes = 8
const saltBytes = 32
const headBytes = mark.length + idBytes + saltBytes

export function sealingWith({ current, previous }: EncryptionKeys): Sealing {
  const own = ownKey(current)
  const keys = new Map([current, ...previous].map(ownKey).map((key) => [idOf(key), key]))
  return {
    seal: (path, sha256, to) => {
      const salt = createHmac('sha256', own).update(sha256).digest()
      const head = Buffer.concat([mark, Buffer.from(idOf(own), 'hex'), salt])
      return copy(
        createReadStream(path),
        inFrames(frameBytes, 0, () => ({ head, turn: sealFrame(fileKey(own, salt)), taken: 0 })),
        createWriteStream(to, { mode: 0o600, flags: 'wx' }),
      )
    },
    open: async (stored) => {
      const opening = inFrames(frameBytes + tagBytes, headBytes, (first) => beginning(keys, first))
      const opened = pipeline(stored, opening, () => {}) // the reader of the stream gets its errors
      await once(opened, 'readable')
      return opened
    },
    isOld: async (stored) => {
      const first = await firstOf(stored)
      return isSealed(first) && keyIn(first) !== idOf(own)
    },
  }
}

const derive = (key: Buffer, salt: Buffer | string, use: string) =>
  Buffer.from(hkdfSync('sha256', key, salt, use, 32))
const ownKey = (key: Buffer) => derive(key, '', 'sealed files')
const fileKey = (own: Buffer, salt: Buffer) => derive(own, salt, 'one sealed file')
const idOf = (own: Buffer) =>
  createHash('sha256')
    .update('id of a file key')
    .update(own)
    .digest('hex')
    .slice(0, 2 * idBytes)

type Frame = (bytes: Buffer, isLast: boolean) => Buffer

const nonces = () => {
  let number = 0
  return (isLast: boolean) => {
    const nonce = Buffer.alloc(12)
    nonce.writeUIntBE(number++, 5, 6)
    nonce[11] = isLast ? 1 : 0
    return nonce
  }
}

function sealFrame(key: Buffer): Frame {
  const next = nonces()
  return (bytes, isLast) => {
    const cipher = createCipheriv(algorithm, key, next(isLast))
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }
}

function openFrame(key: Buffer): Frame {
  const next = nonces()
  return (bytes, isLast) => {
    const hidden = bytes.subarray(0, Math.max(0, bytes.length - tagBytes))
    const decipher = createDecipheriv(algorithm, key, next(isLast))
    decipher.setAuthTag(bytes.subarray(hidden.length))
    return Buffer.concat([decipher.update(hidden), decipher.final()])
  }
}

/**
 * How the frames of a file are processed, bytes to write first, and how many leading bytes are no
 * part of a frame.
 */
type Beginning = { head?: Buffer; turn: Frame; taken: number }

const isSealed = (first: Buffer) => first.subarray(0, mark.length).equals(mark)
const keyIn = (first: Buffer) => first.subarray(mark.length, headBytes - saltBytes).toString('hex')

async function firstOf(stored: Readable): Promise<Buffer> {
  let first = Buffer.alloc(0)
  for await (const piece of stored) {
    first = Buffer.concat([first, piece])
    if (first.length >= headBytes) break
  }
  return first
}

function beginning(keys: ReadonlyMap<string, Buffer>, first: Buffer): Beginning {
  if (!isSealed(first)) return { turn: (bytes) => bytes, taken: 0 }
  const salt = first.subarray(headBytes - saltBytes, headBytes)
  const own = keys.get(keyIn(first))
  if (!own)
    throw conflict(
      'key_missing',
      'The file is sealed with an encryption key that the service does not have: give it in ' +
        'REGISTRY_PREVIOUS_ENCRYPTION_KEYS, or send the file again.',
    )
  return { turn: openFrame(fileKey(own, salt)), taken: headBytes }
}

/**
 * Processes a stream in frames of `size` bytes (the last may be shorter), once `enough` bytes have
 * arrived for `begin` to read the header.
 */
function inFrames(size: number, enough: number, begin: (first: Buffer) => Beginning): Transform {
  let turn: Frame | undefined
  let rest: Buffer = Buffer.alloc(0)
  function* turned(piece: Buffer, isEnd: boolean) {
    rest = Buffer.concat([rest, piece])
    if (!turn && rest.length < enough && !isEnd) return
    if (!turn) {
      const begun = begin(rest)
      turn = begun.turn
      rest = rest.subarray(begun.taken)
      if (begun.head) yield begun.head
    }
    // Only the end shows which frame is the last, so one frame is always held back.
    for (; rest.length > size; rest = rest.subarray(size)) yield turn(rest.subarray(0, size), false)
    if (isEnd) yield turn(rest, true)
  }
  const pass = (stream: Transform, piece: Buffer, isEnd: boolean, done: TransformCallback) => {
    try {
      for (const bytes of turned(piece, isEnd)) stream.push(bytes)
      done()
    } catch (error) {
      done(error as Error) // nobody would catch an exception thrown here
    }
  }
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      pass(this, piece, false, done)
    },
    flush(done) {
      pass(this, Buffer.alloc(0), true, done)
    },
  })
}
