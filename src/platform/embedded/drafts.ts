import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

// What must be whole or absent is made under a draft name and then renamed. The name tells whose
// it is, so that what a killed process left behind can be told from what another is busy with.
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
    // Our own number on a draft we did not make is that of a former process: containers count anew.
    if (!pid || ours.has(path) || (pid !== process.pid && isAlive(pid))) continue
    // An initdb that lost its parent may still be busy in there; what stays is swept next time.
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
