import sql, { join, raw } from 'sql-template-tag'
import { lockOf } from '../../platform/sql/bell.ts'
import type { Database, Sql, Tx } from '../../platform/sql/handle.ts'
import type { Table } from '../../platform/sql/rows.ts'
import { countWithout } from '../../platform/sql/running.ts'
import { sealedColumns, type Vault } from './vault.ts'

/**
 * Stops a start with the wrong encryption key, which could not open the stored tax numbers and
 * would seal numbers that other nodes cannot open. The database knows the id of every key that
 * seals anything, and each running node holds a lock on the name of its key. While nothing is
 * sealed yet, a start beside a node with another key only warns, and the other key stays known.
 */
export async function agreeOnKeys(
  { transaction, bell }: Pick<Database, 'transaction' | 'bell'>,
  vault: Vault,
  tables: readonly Table[],
  warn: (words: string) => void,
) {
  await bell.hold(nameOf(vault.keyID)) // before looking, so that of two starts one sees the other
  const others = await transaction(async (tx) => {
    const known = await knownKeys(tx)
    const missing = known.filter((id) => !vault.keyIDs.has(id))
    if (missing.length > 0 && (await anySealedWith(tx, tables, missing)))
      throw wrongKey(missing, vault)
    const held: string[] = []
    for (const id of missing) if (await isHeld(tx, nameOf(id))) held.push(id)
    await forgetKeys(
      tx,
      missing.filter((id) => !held.includes(id)),
    )
    await learnKey(tx, vault.keyID)
    return held
  })
  for (const id of others) warn(keyOfAnother(id, vault))
}

/** How many nodes and workers run whose present key is another. */
export const nodesWithout = (handle: Sql, keyID: string) => countWithout(handle, nameOf(keyID))

const nameOf = (keyID: string) => `encryption key ${keyID}`

/** Whether some node holds a name; no node can take it until this transaction ends. */
async function isHeld(tx: Tx, name: string): Promise<boolean> {
  const [row] = await tx.query<{ isFree: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockOf(name)}) as "isFree"`,
  )
  return !row?.isFree
}

/**
 * The ids of all keys that values may be sealed with. The table is locked, so that starts take
 * turns.
 */
async function knownKeys(tx: Tx): Promise<string[]> {
  await tx.query(sql`lock table encryption_key in share row exclusive mode`)
  const rows = await tx.query<{ id: string }>(sql`select key_id as id from encryption_key`)
  return rows.map(({ id }) => id)
}

export async function learnKey(tx: Tx, id: string) {
  await tx.query(sql`insert into encryption_key (key_id) values (${id}) on conflict do nothing`)
}

async function forgetKeys(tx: Tx, ids: readonly string[]) {
  if (ids.length > 0)
    await tx.query(sql`delete from encryption_key where key_id = any(${ids}::text[])`)
}

/**
 * Whether any value is sealed with one of these keys. Reads whole tables, and runs only if a known
 * key is not at hand: after a rotation, or by mistake.
 */
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

/** SQL for the ids of the keys that values are sealed with now; it reads all sealed values. */
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

const keyOfAnother = (id: string, { keyID }: Vault) =>
  `Another node runs on this database with the encryption key ${id}, and this start has ` +
  `${keyID}: neither can read tax numbers that the other takes, and once there are any, neither ` +
  'starts again without the key of both. Give every node the same key (REGISTRY_ENCRYPTION_KEY, ' +
  'or the file keys/encryption-key in the data folder). To change keys, give the old one in ' +
  'REGISTRY_PREVIOUS_ENCRYPTION_KEYS until all nodes have the new.'
