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
 * Makes a folder, by default one below the data folder, and those above it that are missing; ours
 * alone. One by one, since Node's own way of making several never ends where the system refuses one
 * as missing (/proc).
 */
export function makeFolder(folder: string, advice = dataAdvice): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder), advice)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return
    throw new Error(`The folder ${folder} cannot be made (${message}): ${advice}.`)
  }
}

/**
 * What root puts into a folder of somebody else's is theirs: the service works as the user whose
 * folder it is, and could neither read nor remove what a command run by root has left there.
 */
export function giveToOwnerOf(folder: string, path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(folder)
  if (uid === 0) return
  try {
    lchownSync(path, uid, gid)
  } catch (error) {
    // A share that takes root for nobody has given it to the folder's owner already.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

/** A new file for our eyes only, down to the disk itself. */
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
