import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import sql, { raw } from 'sql-template-tag'
import { type Arrived, type FileDoor, tooLarge } from '../http/upload.ts'
import { invalid, Refusal, tryLater } from '../refusal.ts'
import type { Tx } from '../sql/handle.ts'
import { typeOf } from './kinds.ts'
import { safeName } from './name.ts'
import type { Sealing } from './sealing.ts'
import type { Store } from './store.ts'

export type Transaction = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** The files of documents, reports and imports: receiving, storing and reading them. */
export type Files = FileDoor & {
  /** Creates a file of our own: `write` fills it, then it is measured and stored. */
  make: (write: (path: string) => Promise<void>) => Promise<{ sha256: string; size: number }>
  open: (sha256: string) => Promise<Readable>
  /**
   * Stores a copy sealed with the present key, if the content is sealed with an earlier key;
   * otherwise undefined.
   */
  sealAnew: (sha256: string) => Promise<{ sha256: string } | undefined>
}

export type FilesOptions = {
  store: Store
  /** The folder for files that are still arriving. */
  draftFolder: string
  maxBytes: number
  transaction: Transaction
  /** With `sealing`, contents are stored encrypted; `open` returns them as they arrived. */
  sealing?: Sealing
}

/** The bytes at the beginning of a file that suffice to recognise its kind. */
const headBytes = 4096

export function filesOf(options: FilesOptions): Files {
  const { store, draftFolder, maxBytes, transaction, sealing } = options
  const newDraft = () => join(draftFolder, randomUUID())
  /** The row is written first, then the content; the reference to it comes last. See collect.ts. */
  const put = async ({ sha256, size }: Measured, path: string) => {
    await flush(path).catch(unavailable)
    const claimed = await transaction((tx) => claim(tx, sha256, size))
    await store.put(sha256, path, size).catch(unavailable)
    return { claimed, storedAs: sha256 }
  }
  const publish = async (content: Measured, path: string) => {
    if (!sealing) return put(content, path)
    const sealed = newDraft()
    try {
      await sealing.seal(path, content.sha256, sealed).catch(unavailable)
      return await put(await measure(sealed), sealed)
    } finally {
      await rm(sealed, { force: true })
    }
  }
  const make: Files['make'] = async (write) => {
    const path = newDraft()
    try {
      await write(path)
      const content = await measure(path)
      const { storedAs } = await publish(content, path)
      return { sha256: storedAs, size: content.size }
    } finally {
      await rm(path, { force: true })
    }
  }
  const openStored = async (sha256: string) => {
    const stored = await store.open(sha256).catch(unavailable)
    return sealing ? sealing.open(stored) : stored
  }
  return {
    maxBytes,
    make,
    open: openStored,
    sealAnew: async (sha256) => {
      if (!(await sealing?.isOld(await store.open(sha256).catch(unavailable)))) return undefined
      return make(async (path) =>
        pipeline(await openStored(sha256), createWriteStream(path, { mode: 0o600 })),
      )
    },
    arrive: async (content) => {
      const path = newDraft()
      const file = await write(path, content, maxBytes)
      return Object.assign(file, { path })
    },
    keep: async (file, told, refer) => {
      const { sha256, size, head, path } = file as Arrived & { path: string }
      if (size === 0) throw invalid('invalid_value', 'The file is empty.', 'content')
      const fileName = safeName(told.fileName)
      const contentType = typeOf(head, fileName, told.contentType)
      const { claimed, storedAs } = await publish({ sha256, size }, path)
      try {
        return await refer({ sha256, size, fileName, contentType, ...(sealing && { storedAs }) })
      } catch (error) {
        if (error instanceof Refusal && error.status < 500)
          await transaction((tx) => unclaim(tx, storedAs, claimed))
        throw error
      }
    },
  }
}

/**
 * Syncs a file to disk, only when it is to be kept: a sync slows every database commit meanwhile,
 * and many arriving files are refused.
 */
async function flush(path: string) {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}

/** Writes an arriving file to a draft, and measures it on the way. */
async function write(
  path: string,
  content: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<Arrived> {
  const discard = () => rm(path, { force: true })
  const hash = createHash('sha256')
  const draft = await open(path, 'wx', 0o600).catch(unavailable)
  let size = 0
  let head = Buffer.alloc(0)
  try {
    for await (const piece of content) {
      size += piece.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      if (head.length < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes)])
      hash.update(piece)
      await draft.writeFile(piece).catch(unavailable)
    }
  } catch (error) {
    await draft.close()
    await discard()
    throw error
  }
  await draft.close()
  return { sha256: hash.digest('hex'), size, head, discard }
}

type Measured = { sha256: string; size: number }

async function measure(path: string): Promise<Measured> {
  const hash = createHash('sha256')
  const file = await open(path)
  try {
    const { size } = await file.stat()
    for await (const piece of file.createReadStream({ autoClose: false })) hash.update(piece)
    return { sha256: hash.digest('hex'), size }
  } finally {
    await file.close()
  }
}

/**
 * The present claim date of a content, and the date that it replaced: -infinity if the content is
 * new.
 */
type Claim = { at: string; before: string }

async function claim(tx: Tx, sha256: string, size: number): Promise<Claim> {
  // Locks and reads the row first, because `returning` of the update does not give the old date.
  const [known] = await tx.query<{ before: string }>(sql`
    select claimed_date::text as before from stored_file where sha256 = ${sha256} for update`)
  const [claimed] = await tx.query<{ at: string; isNew: boolean }>(sql`
    insert into stored_file (sha256, size, claimed_date)
    values (${sha256}, ${size}, clock_timestamp())
    on conflict (sha256) do update set claimed_date = excluded.claimed_date
    returning claimed_date as at, xmax = 0 as "isNew"`)
  const { at, isNew } = claimed!
  // If another request stored the same content between the two SQL statements, taking this claim
  // back must not release that content: the date stays.
  return { at, before: isNew ? '-infinity' : (known?.before ?? at) }
}

/** Takes back the claim of a refused file, unless another request has claimed the content since. */
const unclaim = (tx: Tx, sha256: string, { at, before }: Claim) =>
  tx.query(sql`
    update stored_file set claimed_date = ${before}::timestamptz
    where sha256 = ${sha256} and claimed_date = ${at}::timestamptz`)

/**
 * Releases a content when its last reference goes: the next collection deletes it, unless a request
 * stores the same content meanwhile. `since` is when the reference was made.
 */
export const release = (tx: Tx, sha256: string, since: string) =>
  tx.query(sql`
    update stored_file set claimed_date = '-infinity'
    where sha256 = ${sha256} and claimed_date <= ${since}`)

/** All columns that refer to contents; a content that no column names may be deleted. */
const references = [
  'document where file_sha256',
  'report where file_sha256',
  'import where file_sha256',
  'import where errors_sha256',
]

/** Selects the contents that are referred to, for a backup. */
export const contentsInUse = `select sha256, size from stored_file f where ${references
  .map((place) => `exists (select 1 from ${place} = f.sha256)`)
  .join(' or ')}`

/**
 * Removes the rows of contents that nothing refers to and no request is storing, and returns them.
 */
export const takeUnused = (tx: Tx, most: number) =>
  tx.query<{ sha256: string }>(sql`
    delete from stored_file where sha256 = any(array(
      select f.sha256 from stored_file f
      where f.claimed_date < now() - interval '1 day'
        and ${raw(
          references.map((place) => `not exists (select 1 from ${place} = f.sha256)`).join(' and '),
        )}
      order by f.claimed_date limit ${most} for update skip locked))
    returning sha256`)

const unavailable = (cause: unknown): never => {
  const isFull = fullCodes.has((cause as { code?: string }).code ?? '')
  throw Object.assign(
    isFull
      ? tryLater(503, 'storage_full', 'The storage of files is full; try again later.', 30)
      : tryLater(503, 'storage_unavailable', 'The storage of files does not answer; try again.', 5),
    { cause },
  )
}
const fullCodes = new Set(['ENOSPC', 'EDQUOT'])
