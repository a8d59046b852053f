import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import type { Tx } from '../sql/handle.ts'
import { lockNumbers } from '../sql/lock-numbers.ts'
import { type FilesOptions, takeUnused } from './files.ts'

/** Contents a transaction takes away: it holds their rows until they are gone. */
const batch = 100
/** A draft this old was left by a process that died. */
const oldDraft = 24 * 60 * 60_000

/**
 * Takes away what nothing refers to. A content goes while its row is locked, and whoever stores the
 * same content at this moment waits for that row: so what they store stays. Every node may do this
 * at any time; one does at once, and none while a backup copies the contents it saw referred to.
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
