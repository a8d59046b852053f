import sql, { raw } from 'sql-template-tag'
import type { Files, Transaction } from '../../platform/files/files.ts'

type Kept = { id: number; kind: 'file' | 'errors'; sha256: string }

const keptFiles = sql`
  select import_id as id, 'file' as kind, file_sha256 as sha256 from import
  where file_sha256 is not null
  union all
  select import_id, 'errors', errors_sha256 from import where errors_sha256 is not null
  order by id, kind`

/**
 * Encrypts the files of imports and their refused rows with the present key, unless they are
 * already. Returns the number of files and the imports with a file that could not be opened. A
 * running import has read its file before, so replacing the file does no harm. Old files that
 * nothing refers to any more are collected like all others.
 */
export async function sealFilesAnew(transaction: Transaction, files: Files) {
  const kept = await transaction((tx) => tx.query<Kept>(keptFiles))
  const failed = new Set<number>()
  let sealed = 0
  for (const { id, kind, sha256 } of kept) {
    const anew = await files.sealAnew(sha256).catch(() => {
      failed.add(id)
      return undefined
    })
    if (!anew) continue
    const column = raw(`${kind}_sha256`)
    const moved = await transaction((tx) =>
      tx.query(sql`
        update import set ${column} = ${anew.sha256}
        where import_id = ${id} and ${column} = ${sha256} returning true`),
    )
    sealed += moved.length
  }
  return { sealed, failed: [...failed] }
}
