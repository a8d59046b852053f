import {
  closeSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

const dataAdvice = 'set REGISTRY_DATA_DIR to a folder that can be written'

/**
 * Makes a folder and the missing folders above it, accessible to our user only. `advice` ends the
 * error message. They are made one by one, because Node's recursive mkdir never returns where the
 * system reports a parent as missing (/proc).
 */
export function makeFolder(folder: string, advice = dataAdvice): void {
  if (isFolder(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder), advice)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && isFolder(folder)) return
    throw new Error(`The folder ${folder} cannot be made (${message}): ${advice}.`)
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // mkdir says why, in words for the operator
  }
}

/**
 * Gives a file that root made to the owner of the folder. The service runs as that user, and could
 * neither read nor remove a file that a command run by root has left there.
 */
export function giveToOwnerOf(folder: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(folder)
  if (uid === 0) return
  try {
    lchownSync(path, uid, gid)
  } catch (error) {
    // A network share that maps root to nobody has already given the file to the folder's owner.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** Writes a new file that only our user can read, and syncs it to disk. */
export function writeSynced(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a rename in `folder` survive a power cut. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
