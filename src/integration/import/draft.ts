import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import type { Transaction } from '../../platform/files/files.ts'
import type { Order } from './order.ts'

/** The path of the decrypted copy of a file, which exists while an import is being worked on. */
export const draftOf = (folder: string, { id, lease }: Pick<Order, 'id' | 'lease'>) =>
  join(folder, `import-${id}-${lease}`)

/** Matches the names of copies, and of files beside them with the same name and an ending. */
const named = /^import-(\d+)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/

/**
 * Removes the copies that killed processes have left. The lease in a copy's name is in the import's
 * record before the copy is made, so a copy whose lease is in no record is unused, on any node.
 */
export async function removeLeftDrafts(folder: string, transaction: Transaction) {
  const drafts = (await readdir(folder)).flatMap((name) => {
    const [, id, lease] = named.exec(name) ?? []
    return lease === undefined ? [] : [{ name, id: Number(id), lease }]
  })
  if (drafts.length === 0) return
  const held = await transaction((tx) =>
    tx.query<{ lease: string }>(sql`
      select lease::text as lease from import
      where import_id = any(${drafts.map(({ id }) => id)}::bigint[]) and lease is not null`),
  )
  const leases = new Set(held.map(({ lease }) => lease))
  for (const { name, lease } of drafts)
    if (!leases.has(lease)) await rm(join(folder, name), { force: true })
}
