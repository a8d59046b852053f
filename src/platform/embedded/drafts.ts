import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

// Files that must be complete or absent are made under a draft name and then renamed. The name
// holds the process number, so that drafts left by a killed process can be told from drafts in use.
const draft = /\.new-(\d+)-[0-9a-f]{8}$/
const ours = new Set<string>()

export function draftName(path: string): string {
  const name = `${path}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  ours.add(name)
  return name
}

/** Removes the drafts in `folder` whose process is gone. */
export async function sweepDrafts(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const pid = Number(draft.exec(name)?.[1])
    const path = join(folder, name)
    // A draft with our number that we did not make is from a former process: in a container,
    // process numbers start anew.
    if (!pid || ours.has(path) || (pid !== process.pid && isAlive(pid))) continue
    // An initdb that lost its parent may still write there; leftovers are removed the next time.
    await rm(path, { recursive: true, force: true, maxRetries: 9, retryDelay: 20 }).catch(() => {})
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
