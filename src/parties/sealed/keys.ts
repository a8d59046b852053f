import sql, { join, raw } from 'sql-template-tag'
import type { Database, Sql, Tx } from '../../platform/sql/handle.ts'
import type { Table } from '../../platform/sql/rows.ts'
import { sealedColumns, type Vault } from './vault.ts'

/**
 * Stops a start with the wrong encryption key: the numbers it could not open are there, and those
 * it would seal the other nodes could not open. Every key that seals anything is known by its id.
 */
export async function agreeOnKeys(database: Database, vault: Vault, tables: readonly Table[]) {
  await database.transaction(async (tx) => {
    const known = await knownKeys(tx)
    const missing = known.filter((id) => !vault.keyIDs.has(id))
    if (missing.length > 0 && (await anySealedWith(tx, tables, missing)))
      throw wrongKey(missing, vault)
    await forgetKeys(tx, missing)
    await learnKey(tx, vault.keyID)
  })
}

/** The ids of all keys that values may be sealed with; locked, so that starts take turns. */
export async function knownKeys(tx: Tx): Promise<string[]> {
  await tx.query(sql`lock table encryption_key in share row exclusive mode`)
  const rows = await tx.query<{ id: string }>(sql`select key_id as id from encryption_key`)
  return rows.map(({ id }) => id)
}

export async function learnKey(tx: Tx, id: string) {
  await tx.query(sql`insert into encryption_key (key_id) values (${id}) on conflict do nothing`)
}

export async function forgetKeys(tx: Tx, ids: readonly string[]) {
  if (ids.length > 0)
    await tx.query(sql`delete from encryption_key where key_id = any(${ids}::text[])`)
}

/** Reads everything, and only where a key is not at hand: after a rotation, or by mistake. */
async function anySealedWith(handle: Sql, tables: readonly Table[], keyIDs: readonly string[]) {
  const patterns = keyIDs.map((id) => `${id}.%`)
  for (const table of tables) {
    const some = sealedColumns(table).map(
      ({ name }) => sql`${raw(name)} like any(${patterns}::text[])`,
    )
    const found = await handle.query(
      sql`select 1 from ${raw(table.name)} where ${join(some, ' or ')} limit 1`,
    )
    if (found.length > 0) return true
  }
  return false
}

/** The ids of the keys that values are sealed with now: a statement that reads all of them. */
export const keysInUse = (tables: readonly Table[]) =>
  join(
    tables.flatMap((table) =>
      sealedColumns(table).map(
        ({ name }) => sql`
          select split_part(${raw(name)}, '.', 1) as id from ${raw(table.name)}
          where ${raw(name)} is not null`,
      ),
    ),
    ' union ',
  )

const wrongKey = (missing: readonly string[], { keyID }: Vault) =>
  new Error(
    `tax numbers in this database are sealed with the encryption key ${missing.join(', ')}, ` +
      `and this start has ${keyID}. Start with that key (REGISTRY_ENCRYPTION_KEY, or the file ` +
      'keys/encryption-key in the data folder); to change keys, give the old one in ' +
      'REGISTRY_PREVIOUS_ENCRYPTION_KEYS and run the command rotate-encryption-key.',
  )
