import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, syncFolder, writeSynced } from '../folder.ts'
import { draftName } from './drafts.ts'

export const keyFolder = (dataDir: string) => join(dataDir, 'keys')
/** The superuser's password, and that of the service's login. */
export type PasswordName = 'database-password' | 'service-password'
const passwordFile = (dataDir: string, name: PasswordName = 'database-password') =>
  join(keyFolder(dataDir), name)

export function readPassword(dataDir: string, name?: PasswordName): string | undefined {
  try {
    return readFileSync(passwordFile(dataDir, name), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function demandPassword(dataDir: string, name?: PasswordName): string {
  const password = readPassword(dataDir, name)
  if (password) return password
  throw new Error(
    `The database in ${dataDir} is there, but ${passwordFile(dataDir, name)} is not: ` +
      'bring the keys folder back from a backup.',
  )
}

/**
 * Makes the password if there is none. Two processes that start at once agree on the password that
 * was linked first.
 */
export function makePassword(dataDir: string, name?: PasswordName): string {
  makeFolder(keyFolder(dataDir))
  const file = passwordFile(dataDir, name)
  const draft = draftName(file)
  try {
    writeSynced(draft, `${randomBytes(32).toString('base64url')}\n`)
    linkSync(draft, file)
    syncFolder(keyFolder(dataDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return demandPassword(dataDir, name)
}
