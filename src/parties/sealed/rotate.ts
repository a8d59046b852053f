import sql, { join, raw } from 'sql-template-tag'
import type { Database, Fragment, Tx } from '../../platform/sql/handle.ts'
import { doubtOf } from '../../platform/sql/render.ts'
import { besideFindable, type Row, type Table, updateRows } from '../../platform/sql/rows.ts'
import { besides, keyOf, placeOf, sealedColumns, type Vault } from './vault.ts'

export type Rotation = {
  /** How many values were sealed with the new key. */
  sealed: number
  /** Values that could not be opened: their key is not at hand, or they were tampered with. */
  failed: { place: string; keyID: string }[]
}

const batchSize = 500

/**
 * Seals every tax number that is sealed with another key again with the present key, in short
 * transactions and in order of id, while the service runs. Finished batches stay done, so the
 * rotation may be stopped and run again.
 */
export async function sealAnew(
  database: Database,
  vault: Vault,
  tables: readonly Table[],
): Promise<Rotation> {
  return renewAll(database, vault, tables, otherKeys(vault))
}

/**
 * Adds the digest and the doubt flag to tax numbers stored by earlier versions, in the same
 * batches.
 */
export const completeSealed = (database: Database, vault: Vault, tables: readonly Table[]) =>
  renewAll(database, vault, tables, unread)

/** The condition for the rows of a table that need an update. */
type Which = (table: Table) => Fragment

const otherKeys =
  ({ keyID }: Vault): Which =>
  (table) =>
    join(
      table.columns
        .filter(({ type }) => type === 'text')
        .map(({ name }) => sql`${raw(name)} not like ${`${keyID}.%`}`),
      ' or ',
    )

/**
 * A number without a doubt flag was stored by an earlier version and has not been examined yet. A
 * missing digest does not show this, because codes of the tax office have none.
 */
const unread: Which = (table) =>
  join(
    findableColumns(table).map(
      ({ name }) => sql`(${raw(name)} is not null and ${raw(doubtOf(name))} is null)`,
    ),
    ' or ',
  )

const findableColumns = (table: Table) => sealedColumns(table).filter(({ findable }) => findable)

async function renewAll(
  database: Database,
  vault: Vault,
  tables: readonly Table[],
  which: Which,
): Promise<Rotation> {
  const rotation: Rotation = { sealed: 0, failed: [] }
  for (const table of tables) {
    let last: number | undefined = 0
    while (last !== undefined) {
      const after: number = last
      const batch = await database.transaction((tx) =>
        renewBatch(tx, vault, sealedOf(table), which, after),
      )
      rotation.sealed += batch.sealed
      rotation.failed.push(...batch.failed)
      last = batch.last
    }
  }
  return rotation
}

/** The columns of a table that a rotation reads and writes. */
const sealedOf = (table: Table): Table => ({
  ...table,
  columns: [
    { name: table.key, type: 'integer', absent: null },
    ...sealedColumns(table),
    ...findableColumns(table).flatMap(({ name }) => besideFindable(name)),
  ],
  // A rotation changes nothing that a reader can see.
  updatedDate: false,
})

async function renewBatch(tx: Tx, vault: Vault, table: Table, which: Which, after: number) {
  const rows = await tx.query<Row>(sql`
    select ${raw(table.columns.map(({ name }) => name).join(', '))} from ${raw(table.name)}
    where ${raw(table.key)} > ${after} and (${which(table)})
    order by ${raw(table.key)} limit ${batchSize} for no key update`)
  const failed: Rotation['failed'] = []
  let sealed = 0
  for (const row of rows)
    for (const column of sealedColumns(table)) {
      const { name, findable } = column
      const value = row[name] as string | null
      if (value === null) continue
      const place = placeOf(table, row[table.key] as number, name)
      const text = openOrNot(vault, place, value)
      if (text === undefined) {
        failed.push({ place, keyID: keyOf(value) })
        continue
      }
      if (findable) Object.assign(row, besides(vault, column, text))
      if (keyOf(value) === vault.keyID) continue
      row[name] = vault.seal(place, text)
      sealed++
    }
  // No versions are kept: the numbers stay the same, only their encryption is new.
  await updateRows(tx, { ...table, keepsVersions: false }, rows)
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
