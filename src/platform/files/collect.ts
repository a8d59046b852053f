import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import type { Tx } from '../sql/handle.ts'
import { lockNumbers } from '../sql/lock-numbers.ts'
import { type FilesOptions, takeUnused } from './files.ts'

/** The most contents deleted per transaction, which keeps their rows locked meanwhile. */
const batch = 100
/** A draft older than this, in milliseconds, was left by a process that died. */
const oldDraft = 24 * 60 * 60_000

/**
 * Deletes contents that nothing refers to. A content is deleted while its row is locked; a request
 * that stores the same content waits for that row and then writes the content anew. Any node may
 * call this at any time, but only one collects at once, and none while a backup copies contents.
 */
export async function collectFiles({ store, draftFolder, transaction }: FilesOptions) {
  for (let taken = batch; taken === batch; )
    taken = await transaction(async (tx) => {
      if (!(await mayCollect(tx))) return 0
      const unused = await takeUnused(tx, batch)
      for (const { sha256 } of unused) await store.remove(sha256)
      return unused.length
    })
  await removeOldDrafts(draftFolder)
}

async function mayCollect(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ free: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockNumbers.contents}) as free`,
  )
  return row!.free
}

async function removeOldDrafts(folder: string) {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const left = await stat(path).catch(() => undefined)
    if (left && left.mtimeMs < Date.now() - oldDraft) await rm(path, { force: true })
  }
}
