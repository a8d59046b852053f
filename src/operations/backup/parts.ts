import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathOf } from '../../platform/files/store.ts'
import type { Part } from './manifest.ts'

/** Writes a file of a backup, readable by its owner only, and syncs it to the disk. */
export async function writePart<T>(
  folder: string,
  path: string,
  write: (take: (piece: Buffer) => Promise<void>) => Promise<T>,
): Promise<{ part: Part; result: T }> {
  const hash = createHash('sha256')
  let bytes = 0
  const file = await open(join(folder, path), 'wx', 0o600)
  try {
    const result = await write(async (piece) => {
      hash.update(piece)
      bytes += piece.length
      await file.writeFile(piece)
    })
    await file.sync()
    return { part: { path, bytes, sha256: hash.digest('hex') }, result }
  } finally {
    await file.close()
  }
}

/** What is wrong with a file of a backup; undefined when it is as it was written. */
export async function wrongWith(folder: string, { path, bytes, sha256 }: Part) {
  const seen = await measure(join(folder, path))
  if (!seen) return `${path} is missing`
  if (seen.bytes !== bytes) return `${path} has ${seen.bytes} bytes instead of ${bytes}`
  return seen.sha256 === sha256 ? undefined : `${path} was changed`
}

async function measure(path: string) {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of createReadStream(path)) {
      hash.update(piece)
      bytes += piece.length
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** The backup's file of a stored content, named after its hash. */
export const contentPart = ({ sha256, bytes }: Content): Part => ({
  path: join('contents', pathOf(sha256)),
  bytes,
  sha256,
})

export type Content = { sha256: string; bytes: number }

/** Yields the list of stored contents line by line, since it can be of any length. */
export async function* listedContents(folder: string, { path }: Part): AsyncGenerator<Content> {
  for await (const line of createInterface({ input: createReadStream(join(folder, path)) })) {
    const [sha256 = '', bytes] = line.split('\t')
    yield { sha256, bytes: Number(bytes) }
  }
}

/** How many contents are copied or checked in parallel. */
const hands = 4

export async function forEach<T>(items: AsyncGenerator<T>, work: (item: T) => Promise<void>) {
  const hand = async () => {
    for (;;) {
      const { value, done } = await items.next()
      if (done) return
      await work(value)
    }
  }
  await Promise.all(Array.from({ length: hands }, hand)).finally(() => items.return(undefined))
}
