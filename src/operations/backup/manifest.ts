import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../platform/folder.ts'

/**
 * What a backup holds, with checksums that show whether it is whole. The manifest is written last,
 * so a folder without one is no backup, whatever else is in it.
 */
export type Manifest = {
  format: 1
  /** The moment of the snapshot that was copied. */
  moment: string
  version: string
  postgres: string
  migrations: { name: string; checksum: string }[]
  tables: BackedTable[]
  sequences: { name: string; value: string; isCalled: boolean }[]
  contents: Part & { count: number; totalBytes: number; lost: string[] }
  /**
   * The ids of the keys that its tax numbers, webhook secrets and import files are sealed with. The
   * keys themselves are not in the backup.
   */
  keyIDs: string[]
}
export type BackedTable = Part & { name: string; columns: string[]; rows: number }

/** A file of the backup with its expected size and hash. */
export type Part = { path: string; bytes: number; sha256: string }

const manifestName = 'manifest.json'

const fingerprint = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, manifestName)
  const sha256 = fingerprint(JSON.stringify(manifest))
  const file = await open(`${path}.new`, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify({ manifest, sha256 }, null, 1)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  syncFolder(folder)
}

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => {
    throw new Error(
      `${folder} holds no finished backup: it has no ${manifestName}. Was its making cut short?`,
    )
  })
  const { manifest, sha256 } = parsed(text)
  if (!manifest || fingerprint(JSON.stringify(manifest)) !== sha256)
    throw new Error(`The ${manifestName} of ${folder} was changed, or is cut short.`)
  if (manifest.format !== 1)
    throw new Error(`This version does not know the format ${manifest.format} of the backup.`)
  return manifest
}

function parsed(text: string): { manifest?: Manifest; sha256?: string } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
