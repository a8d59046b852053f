import type { Readable } from 'node:stream'

/**
 * Stores contents under the hash of their bytes, so no path contains anything that a client sent.
 */
export type Store = {
  /**
   * Stores the file at `path`, which may be moved away. The content is durable when this returns.
   */
  put: (sha256: string, path: string, size: number) => Promise<void>
  open: (sha256: string) => Promise<Readable>
  /** Succeeds also if the content is gone already. */
  remove: (sha256: string) => Promise<void>
}

const hash = /^[0-9a-f]{64}$/

/** ab/cd/abcd…, so that no folder gets too many files. */
export function pathOf(sha256: string): string {
  if (!hash.test(sha256)) throw new Error('This is no hash of a content.')
  return `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
}
