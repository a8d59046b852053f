import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { giveToOwnerOf } from '../folder.ts'
import { pathOf, type Store } from './store.ts'

/**
 * Stores contents in a folder. Each content is written elsewhere first and then renamed, so that it
 * is complete or absent.
 */
export function localStore(folder: string): Store {
  const place = (sha256: string) => join(folder, pathOf(sha256))
  return {
    put: async (sha256, path) => {
      const target = place(sha256)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      for (const ours of [dirname(dirname(target)), dirname(target), path])
        giveToOwnerOf(folder, ours)
      await rename(path, target)
      // A renamed file is durable once its folder is synced; new folders need their parents synced.
      for (const above of [dirname(target), dirname(dirname(target)), folder]) await sync(above)
    },
    open: async (sha256): Promise<Readable> => {
      const file = await open(place(sha256))
      return createReadStream('', { fd: file })
    },
    remove: (sha256) => rm(place(sha256), { force: true }),
  }
}

async function sync(folder: string) {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}
