import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { organisationTable } from '../../parties/organisation/sql.ts'
import { personTable } from '../../parties/person/sql.ts'
import { keysInUse } from '../../parties/sealed/keys.ts'
import { contentsInUse } from '../../platform/files/files.ts'
import type { Store } from '../../platform/files/store.ts'
import { makeFolder, syncFolder } from '../../platform/folder.ts'
import { withConnection } from '../../platform/sql/connection.ts'
import { copyOut } from '../../platform/sql/copy.ts'
import { lockNumbers } from '../../platform/sql/lock-numbers.ts'
import { appliedMigrations } from '../../platform/sql/migrate.ts'
import { openPicture } from '../../platform/sql/picture.ts'
import { version } from '../../version.ts'
import { type DataTable, dataTables, sequencesOf } from './catalogue.ts'
import { type BackedTable, type Manifest, type Part, writeManifest } from './manifest.ts'
import { type Content, contentPart, forEach, listedContents, writePart } from './parts.ts'

// The text of values must not depend on the settings of a server or login, and copying whole tables
// takes long.
const settings = `set datestyle = 'ISO'; set timezone = 'UTC'; set intervalstyle = 'postgres';
  set bytea_output = 'hex'; set extra_float_digits = 1; set client_encoding = 'UTF8';
  set statement_timeout = 0; set lock_timeout = 0; set idle_session_timeout = 0;
  set idle_in_transaction_session_timeout = 0`

/**
 * Copies one snapshot of the database, and every stored content that it refers to, into an empty
 * folder while the service runs. A content is stored before rows refer to it, so all contents of
 * the snapshot exist; the shared lock prevents their deletion until they are copied.
 */
export async function backUp(
  connection: pg.ClientConfig,
  store: Store,
  folder: string,
): Promise<Manifest> {
  await claimFolder(folder)
  const own = { ...connection, application_name: 'registry backup' }
  try {
    return await withConnection(own, async (client) => {
      await client.query(settings)
      await client.query(sql`select pg_advisory_lock_shared(${lockNumbers.contents})`)
      const pictured = await copyDatabase(client, connection, folder)
      const contents = await copyContents(store, folder, pictured.contents)
      const { rows } = await client.query<{ held: boolean }>(
        sql`select pg_advisory_unlock_shared(${lockNumbers.contents}) as held`,
      )
      if (!rows[0]!.held) throw new Error('The contents were not protected during the backup.')
      const manifest = { ...pictured, contents }
      await writeManifest(folder, manifest)
      return manifest
    })
  } catch (error) {
    for (const name of await readdir(folder))
      await rm(join(folder, name), { recursive: true, force: true })
    throw brokenOff(error as NodeJS.ErrnoException, folder)
  }
}

/**
 * Names the folder in an error of the file system, whose own message does not say which disk is
 * full.
 */
const brokenOff = (error: NodeJS.ErrnoException, folder: string) =>
  error.syscall === undefined
    ? error
    : new Error(
        `The backup was broken off, and nothing of it is left in ${folder}: ${error.message}.`,
      )

async function claimFolder(folder: string) {
  makeFolder(folder, 'name one that can be written')
  const isTaken = (await readdir(folder)).length > 0
  // Of two backups that begin at once, only one can make this folder.
  if (!isTaken) await mkdir(join(folder, 'tables'), { mode: 0o700 }).catch(refuseTaken(folder))
  else refuseTaken(folder)()
  await mkdir(join(folder, 'contents'), { mode: 0o700 })
}

const refuseTaken = (folder: string) => () => {
  throw new Error(`${folder} is not empty: a backup needs a folder of its own.`)
}

type Pictured = Omit<Manifest, 'contents'> & { contents: Part & { count: number } }

async function copyDatabase(
  client: pg.Client,
  connection: pg.ClientConfig,
  folder: string,
): Promise<Pictured> {
  const tables = await lockedTables(client, connection)
  const copied: BackedTable[] = []
  for (const table of tables) copied.push(await copyTable(client, folder, table))
  const { part, result: count } = await writePart(folder, 'contents.list', (take) =>
    copyOut(client, `copy (${contentsInUse} order by sha256) to stdout`, take),
  )
  const { rows: about } = await client.query<{ moment: string; postgres: string }>(
    `select to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment,
      current_setting('server_version') as postgres`,
  )
  const keyIDs = await keysNeeded(client)
  const migrations = await appliedMigrations(client)
  const sequences = await sequencesOf(client)
  await client.query('commit')
  return {
    format: 1,
    ...about[0]!,
    version,
    migrations: [...migrations].sort().map(([name, checksum]) => ({ name, checksum })),
    tables: copied,
    sequences,
    contents: { ...part, count },
    keyIDs,
  }
}

/**
 * The ids of the keys without which something in the backup stays sealed. A tax number tells its
 * key; a webhook's secret and an import's file do not, so each known key may be theirs.
 */
async function keysNeeded(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(keysInUse([personTable, organisationTable]))
  const { rows: known } = await client.query<{ id: string }>(`
    select key_id as id from encryption_key
    where exists (select 1 from webhook)
      or exists (select 1 from import where coalesce(file_sha256, errors_sha256) is not null)`)
  return [...new Set([...rows, ...known].map(({ id }) => id))].sort()
}

/**
 * Opens the snapshot and locks the definition of every table: a migration waits, everything else
 * goes on.
 */
async function lockedTables(client: pg.Client, connection: pg.ClientConfig): Promise<DataTable[]> {
  const before = await dataTables(client)
  await openPicture(client, connection)
  const names = before.map(({ name }) => client.escapeIdentifier(name)).join(', ')
  await client.query(`lock table ${names} in access share mode`)
  const tables = await dataTables(client)
  if (JSON.stringify(tables) !== JSON.stringify(before))
    throw new Error('The database was migrated at this moment; start the backup again.')
  return tables
}

async function copyTable(client: pg.Client, folder: string, table: DataTable) {
  const columns = table.columns.map((column) => client.escapeIdentifier(column)).join(', ')
  const statement = `copy ${client.escapeIdentifier(table.name)} (${columns}) to stdout`
  const path = join('tables', `${table.name}.copy`)
  const { part, result } = await writePart(folder, path, (take) => copyOut(client, statement, take))
  return { ...table, ...part, rows: result }
}

/**
 * Copies the stored contents. A missing or damaged content is reported at the end, because the rest
 * is worth keeping all the same.
 */
async function copyContents(store: Store, folder: string, list: Part & { count: number }) {
  const lost: string[] = []
  const folders = new Set<string>([folder, join(folder, 'tables'), join(folder, 'contents')])
  let totalBytes = 0
  await forEach(listedContents(folder, list), async (content) => {
    const path = join(folder, contentPart(content).path)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    for (const above of [dirname(path), dirname(dirname(path))]) folders.add(above)
    if (await copyContent(store, content, path)) totalBytes += content.bytes
    else lost.push(content.sha256)
  })
  for (const each of folders) syncFolder(each)
  return { ...list, totalBytes, lost: lost.sort() }
}

async function copyContent(store: Store, { sha256, bytes }: Content, path: string) {
  const hash = createHash('sha256')
  let size = 0
  const source = await store.open(sha256).catch(unlessMissing)
  if (!source) return false
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of source) {
      hash.update(piece)
      size += piece.length
      await file.writeFile(piece)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  if (size === bytes && hash.digest('hex') === sha256) return true
  await rm(path)
  return false
}

/**
 * Treats a missing file of a folder or bucket as absent; a store that does not answer is an error.
 */
function unlessMissing(error: Error & { code?: string }): undefined {
  if (error.code !== 'ENOENT' && error.name !== 'NoSuchKey') throw error
}
