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
 * Seals files that imports have still to read, and their refused rows, with the present key where
 * they are not yet; tells how many, and of which imports one did not open. An import that is being
 * worked at has read its file; what nothing refers to any more is collected like all such files.
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
