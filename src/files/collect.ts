import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type FilesOptions, takeUnused } from './files.ts'

/** Contents a transaction takes away: it holds their rows until they are gone. */
const batch = 100
/** A draft this old was left by a process that died. */
const oldDraft = 24 * 60 * 60_000

/**
 * Takes away what nothing refers to. A content goes while its row is locked, and whoever stores the
 * same content at this moment waits for that row: so what they store stays. Every node may do this
 * at any time.
 */
export async function collectFiles({ store, draftFolder, transaction }: FilesOptions) {
  for (let taken = batch; taken === batch; )
    taken = await transaction(async (tx) => {
      const unused = await takeUnused(tx, batch)
      for (const { sha256 } of unused) await store.remove(sha256)
      return unused.length
    })
  await removeOldDrafts(draftFolder)
}

async function removeOldDrafts(folder: string) {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const left = await stat(path).catch(() => undefined)
    if (left && left.mtimeMs < Date.now() - oldDraft) await rm(path, { force: true })
  }
}
