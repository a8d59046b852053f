import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import sql from 'sql-template-tag'
import type { Store } from '../../platform/files/store.ts'
import { withConnection } from '../../platform/sql/connection.ts'
import { copyIn } from '../../platform/sql/copy.ts'
import { migrate, refuseUnknown } from '../../platform/sql/migrate.ts'
import { mostInRecord } from '../../platform/sql/unit-of-work.ts'
import { dataTables, filledTables, referencesOf, seeded } from './catalogue.ts'
import { type BackedTable, type Manifest, readManifest } from './manifest.ts'
import { contentPart, forEach, listedContents, wrongWith } from './parts.ts'

/**
 * Reads every byte of a backup before anything is changed, and refuses a backup that was altered.
 */
export async function checkedBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder)
  const wrong: string[] = []
  for (const part of [...manifest.tables, manifest.contents]) {
    const problem = await wrongWith(folder, part)
    if (problem) wrong.push(problem)
  }
  if (wrong.length === 0)
    await forEach(keptContents(folder, manifest), async (content) => {
      const problem = await wrongWith(folder, contentPart(content))
      if (problem) wrong.push(problem)
    })
  if (wrong.length > 0)
    throw new Error(
      `The backup in ${folder} is damaged: ${wrong.slice(0, 10).join('; ')}` +
        `${wrong.length > 10 ? ` and ${wrong.length - 10} more` : ''}. Nothing was restored.`,
    )
  refuseUnknown(new Map(manifest.migrations.map(({ name, checksum }) => [name, checksum])))
  return manifest
}

async function* keptContents(folder: string, { contents }: Manifest) {
  const lost = new Set(contents.lost)
  for await (const content of listedContents(folder, contents))
    if (!lost.has(content.sha256)) yield content
}

export type Places = { store: Store; draftFolder: string }

/**
 * Restores a backup into an empty database. Stored contents come first, then all rows in one
 * transaction: a restore that is cut short leaves the database empty and can be run again.
 */
export async function restore(
  connection: pg.ClientConfig,
  places: Places,
  folder: string,
  manifest: Manifest,
): Promise<void> {
  const own = { ...connection, application_name: 'registry restore' }
  await withConnection(own, async (client) => {
    await refuseFilled(client) // before migrating: the database may be in use
    await migrate(connection, undefined, manifest.migrations.at(-1)!.name)
    await putContents(places, folder, manifest)
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
    await client.query('begin')
    await loadTables(client, folder, manifest)
    await goOnSealing(client, manifest)
    await client.query('commit')
    await client.query('analyze')
  })
  await migrate(connection)
}

async function refuseFilled(client: pg.Client) {
  const filled = await filledTables(client)
  if (filled.length > 0)
    throw new Error(
      `The database is not empty: there are rows in ${filled.slice(0, 5).join(', ')}. ` +
        'A backup is restored into an empty one. Nothing was changed.',
    )
}

async function putContents({ store, draftFolder }: Places, folder: string, manifest: Manifest) {
  await forEach(keptContents(folder, manifest), async (content) => {
    const draft = join(draftFolder, randomUUID())
    await copyFile(join(folder, contentPart(content).path), draft)
    const file = await open(draft, 'r+')
    await file.sync().finally(() => file.close())
    await store.put(content.sha256, draft, content.bytes)
  })
}

/**
 * Loads all tables. Foreign keys are dropped before the load and made again after it, as
 * PostgreSQL's own tools do: the order of tables does not matter, and each key is checked once for
 * all rows.
 */
async function loadTables(client: pg.Client, folder: string, manifest: Manifest) {
  const name = (text: string) => client.escapeIdentifier(text)
  const tables = await dataTables(client)
  refuseOtherTables(tables, manifest.tables)
  const all = tables.map((table) => name(table.name)).join(', ')
  await client.query(`lock table ${all} in access exclusive mode`)
  await refuseFilled(client)
  const references = await referencesOf(client)
  for (const { table, name: reference } of references)
    await client.query(`alter table ${table} drop constraint ${name(reference)}`)
  // A backup from before such a table existed has no rows for it; a later migration fills the
  // table.
  for (const table of tables.filter((one) => seeded.includes(one.name)))
    await client.query(`delete from ${name(table.name)}`)
  for (const table of manifest.tables) await loadTable(client, folder, table)
  for (const { table, name: reference, definition } of references)
    await client.query(`alter table ${table} add constraint ${name(reference)} ${definition}`)
  for (const { name: sequence, value, isCalled } of manifest.sequences)
    await client.query(
      sql`select setval(${name(sequence)}::regclass, ${drawnUpTo(sequence, value)}, ${isCalled})`,
    )
}

/**
 * The last audit record may use the numbers after its own for its requests, which the sequence has
 * not drawn.
 */
const drawnUpTo = (sequence: string, value: string) =>
  sequence === 'audit_audit_id_seq' ? String(BigInt(value) + BigInt(mostInRecord)) : value

/**
 * Prepares the audit trail for sealing in this database, where the transaction numbers of the
 * backup mean nothing: sealed records count as past, and unsealed ones come first.
 */
async function goOnSealing(client: pg.Client, { tables }: Manifest) {
  const of = (name: string) => tables.some((table) => table.name === name)
  if (!of('audit_seal')) return // the backup is older than the chain
  // In backups from before seals held the ids of their records, each record has a row of its own.
  const [table, ids] = of('audit_link')
    ? ['audit_link', 'audit_id']
    : ['audit_seal', 'unnest(audit_ids)']
  await client.query(`update ${table} set xid = '0'`)
  await client.query(`
    update audit a set xid = case when not exists (
      select 1 from (select ${ids} as audit_id from ${table}) s
      where s.audit_id = a.audit_id) then '1'::xid8 end`)
}

const shapeOf = ({ name, columns }: { name: string; columns: string[] }) =>
  `${name} (${columns.join(', ')})`

function refuseOtherTables(present: { name: string; columns: string[] }[], backed: BackedTable[]) {
  const [here, there] = [present.map(shapeOf).join('\n'), backed.map(shapeOf).join('\n')]
  if (here !== there)
    throw new Error(
      'The database does not have the tables of the backup. Was it migrated by a newer version? ' +
        'Restore into a new, empty one.',
    )
}

async function loadTable(client: pg.Client, folder: string, table: BackedTable) {
  const columns = table.columns.map((column) => client.escapeIdentifier(column)).join(', ')
  const statement = `copy ${client.escapeIdentifier(table.name)} (${columns}) from stdin`
  const rows = await copyIn(client, statement, createReadStream(join(folder, table.path)))
  if (rows !== table.rows)
    throw new Error(`${table.name} has ${rows} rows instead of ${table.rows}.`)
}
