import type { Readable } from 'node:stream'

/** Where contents lie, each under the hash of its bytes: nothing a client sends is in a path. */
export type Store = {
  /** Takes the file at a path, which may be gone afterwards. It is durable when this returns. */
  put: (sha256: string, path: string, size: number) => Promise<void>
  open: (sha256: string) => Promise<Readable>
  /** Also when it is gone already. */
  remove: (sha256: string) => Promise<void>
}

const hash = /^[0-9a-f]{64}$/

/** ab/cd/abcd…: no folder gets too many. */
export function pathOf(sha256: string): string {
  if (!hash.test(sha256)) throw new Error('This is no hash of a content.')
  return `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
}
