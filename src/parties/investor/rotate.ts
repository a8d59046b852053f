import sql, { join, raw } from 'sql-template-tag'
import type { Database, Tx } from '../../platform/sql/handle.ts'
import { type Row, type Table, updateRows } from '../../platform/sql/rows.ts'
import { keyOf, placeOf, sealedColumns, type Vault } from './vault.ts'

export type Rotation = {
  /** Values that were sealed anew. */
  sealed: number
  /** Values that did not open: their key is not at hand, or they were tampered with. */
  failed: { place: string; keyID: string }[]
}

const batchSize = 500

/**
 * Seals every tax number with the present key that is not yet, in short transactions and in order
 * of id, while the service works on. What was done stays done, so it may be stopped and run again.
 */
export async function sealAnew(
  database: Database,
  vault: Vault,
  tables: readonly Table[],
): Promise<Rotation> {
  const rotation: Rotation = { sealed: 0, failed: [] }
  for (const table of tables) {
    let last: number | undefined = 0
    while (last !== undefined) {
      const after: number = last
      const batch = await database.transaction((tx) => sealBatch(tx, vault, sealedOf(table), after))
      rotation.sealed += batch.sealed
      rotation.failed.push(...batch.failed)
      last = batch.last
    }
  }
  return rotation
}

/** The part of a table that a rotation reads and writes. */
const sealedOf = (table: Table): Table => ({
  ...table,
  columns: [{ name: table.key, type: 'integer', absent: null }, ...sealedColumns(table)],
  // Nothing that anyone could see has changed.
  updatedDate: false,
})

async function sealBatch(tx: Tx, vault: Vault, table: Table, after: number) {
  const columns = sealedColumns(table)
  const present = `${vault.keyID}.%`
  const other = columns.map(({ name }) => sql`${raw(name)} not like ${present}`)
  const rows = await tx.query<Row>(sql`
    select ${raw(table.columns.map(({ name }) => name).join(', '))} from ${raw(table.name)}
    where ${raw(table.key)} > ${after} and (${join(other, ' or ')})
    order by ${raw(table.key)} limit ${batchSize} for no key update`)
  const failed: Rotation['failed'] = []
  let sealed = 0
  for (const row of rows)
    for (const { name } of columns) {
      const value = row[name] as string | null
      if (value === null || keyOf(value) === vault.keyID) continue
      const place = placeOf(table, row[table.key] as number, name)
      const text = openOrNot(vault, place, value)
      if (text === undefined) failed.push({ place, keyID: keyOf(value) })
      else {
        row[name] = vault.seal(place, text)
        sealed++
      }
    }
  await updateRows(tx, table, rows)
  const last = rows.length < batchSize ? undefined : (rows.at(-1)![table.key] as number)
  return { sealed, failed, last }
}

function openOrNot(vault: Vault, place: string, value: string): string | undefined {
  try {
    return vault.open(place, value)
  } catch {
    return undefined
  }
}
