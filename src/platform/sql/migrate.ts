import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import sql, { raw } from 'sql-template-tag'
import { lookupValues } from '../lookup/lookups.ts'
import { withConnection } from './connection.ts'
import type { Fragment } from './handle.ts'
import { lockNumbers } from './lock-numbers.ts'
import { migrateQueue } from './queue.ts'
import { awaitNobody } from './running.ts'
import { statementsOf } from './script.ts'
import { madeBy, placesOfNew } from './steps.ts'

export const migrationsFolder = new URL('../../../migrations/', import.meta.url)

/** The role whose rights the service uses; it owns nothing. */
export const serviceRole = 'registry_service'

type Migration = { name: string; checksum: string; text: string }

/**
 * Brings the schema up to date, or as far as the migration named `last`. Migrations only go
 * forward; an applied migration must be unchanged.
 */
export async function migrate(
  connection: pg.ClientConfig,
  folder = migrationsFolder,
  last?: string,
) {
  return withConnection(connection, async (client) => {
    await client.query(sql`select pg_advisory_lock(${lockNumbers.migration})`)
    await client.query('set client_min_messages = warning')
    await client.query(`create table if not exists migration (
      name text primary key, checksum text not null,
      applied_date timestamptz not null default now())`)
    await refuseLocale(client)
    const applied = await appliedMigrations(client)
    const wanted = readMigrations(folder).filter(
      ({ name }) => last === undefined || name <= last || applied.has(name),
    )
    const pending = pendingOf(wanted, applied)
    const lasting = pending.filter(({ text }) => !leavesOthers(text)).map(({ name }) => name)
    if (lasting.length > 0) await awaitNobody(client, lasting)
    for (const migration of pending) await apply(client, migration, placesBeside(folder))
    await seedLookups(client)
    await makeKnownViews(client, folder, pending.length > 0)
    await migrateQueue(connection)
    return pending.map(({ name }) => name)
  })
}

/**
 * A migration whose first line says so is applied while nodes of the previous version still run.
 */
const leavesOthers = (text: string) => text.startsWith('-- Nodes of before may go on.\n')

/** The file beside the migrations that says which kind each table becomes on Citus. */
const placesBeside = (folder: URL) => new URL('../scale-out/distribute.sql', folder)

/**
 * Names may contain any letter; usernames, email addresses and filters ignore letter case beyond A
 * to Z too. So the database needs UTF-8 and a locale that folds such letters.
 */
async function refuseLocale(client: pg.Client) {
  const { rows } = await client.query(`
    select current_setting('server_encoding') as encoding, lower('Ä') = 'ä' as folds`)
  const { encoding, folds } = rows[0]
  if (encoding === 'UTF8' && folds) return
  const lack = folds
    ? `accepts only the characters of ${encoding}`
    : 'recognises upper and lower case only for A to Z'
  throw new Error(
    `The database ${lack}. Create it with a UTF-8 locale such as C.UTF-8: create database … ` +
      "template template0 encoding 'UTF8' lc_ctype 'C.UTF-8';",
  )
}

/** The names of the migrations that a database still lacks; for `cli check`. */
export const pendingMigrations = (connection: pg.ClientConfig, folder = migrationsFolder) =>
  withConnection(connection, async (client) => {
    const { rows } = await client.query(`select to_regclass('migration') is not null as known`)
    const applied = rows[0].known ? await appliedMigrations(client) : new Map()
    return pendingOf(readMigrations(folder), applied).map(({ name }) => name)
  })

/** The names of the migrations of this version, in their order. */
export const migrationNames = (folder = migrationsFolder) =>
  readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()

const readMigrations = (folder: URL): Migration[] =>
  migrationNames(folder).map((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    return { name, text, checksum: checksumOf(text) }
  })

const checksumOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** The migrations applied to a database: their checksums by name. */
export async function appliedMigrations(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query('select name, checksum from migration')
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** Throws unless this version has every one of these migrations, unchanged. */
export const refuseUnknown = (applied: Map<string, string>, folder = migrationsFolder) =>
  void pendingOf(readMigrations(folder), applied)

/**
 * Checksums of migrations that were rewritten later with the same result; the checksum of the first
 * form counts as well. Citus 13 crashed where one SQL statement added a plain column and a column
 * that refers to another table.
 */
const asLanded = new Map([
  [
    '0067-senders-of-statements.sql',
    '24c4f406e985d793b46fed845d35d14706da6d3a385ddc1efacd0a1c97c3869b',
  ],
])

function pendingOf(migrations: Migration[], applied: Map<string, string>): Migration[] {
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]))
  for (const [name, checksum] of applied) {
    if (!known.has(name))
      throw new Error(
        `The applied migration ${name} is missing from this version: a newer version has ` +
          'upgraded the database. Start that version, or see docs/upgrading.md for the way back.',
      )
    if (known.get(name) !== checksum && asLanded.get(name) !== checksum)
      throw new Error(
        `The migration ${name} was changed after it was applied. Add a new one instead.`,
      )
  }
  const pending = migrations.filter(({ name }) => !applied.has(name))
  const late = pending.find(({ name }) => [...applied.keys()].some((done) => done > name))
  if (late) throw new Error(`The migration ${late.name} sorts before one that is applied already.`)
  return pending
}

/**
 * For Citus: `sequential` changes one shard after another, so that reference and distributed tables
 * can change in one transaction.
 */
const begin = `begin; set local citus.multi_shard_modify_mode to 'sequential'`

/**
 * Applies one migration. Where the ledger is spread, new tables and functions are placed on Citus
 * in the same transaction: see steps.ts.
 */
async function apply(client: pg.Client, { name, checksum, text }: Migration, file: URL) {
  try {
    const places = await placesOfNew(client, file)
    await client.query(begin)
    for (const statement of statementsOf(text)) {
      await client.query(statement)
      const place = places.get(madeBy(statement))
      if (place) await client.query(place)
    }
    await client.query(sql`insert into migration (name, checksum) values (${name}, ${checksum})`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`The migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Makes the views of the schema `known` (the past) anew whenever their tables or the file that
 * makes them may have changed; the schema's comment holds that file's checksum. A schema migrated
 * only part of the way lacks the tables that the views read, so nothing is made.
 */
async function makeKnownViews(client: pg.Client, folder: URL, haveTablesChanged: boolean) {
  const { rows } = await client.query<{ early: boolean; made: string | null }>(`
    select to_regclass('closing_mark') is null as early,
      obj_description(to_regnamespace('known'), 'pg_namespace') as made`)
  const { early, made } = rows[0]! // a select without a table has one row
  if (early) return
  const script = viewsScript(folder)
  if (made === script.checksum && !haveTablesChanged) return
  await client.query(begin)
  await runViews(client, script)
  await client.query('commit')
}

const viewsScript = (folder: URL) => {
  const text = readFileSync(new URL('as-known.sql', folder), 'utf8')
  return { text, checksum: checksumOf(text) }
}

/** Makes the views within the caller's transaction; existing views are dropped first. */
export async function runViews(client: pg.Client, script = viewsScript(migrationsFolder)) {
  for (const statement of statementsOf(script.text)) await client.query(statement)
  await client.query(sql`select set_config('registry.made_by', ${script.checksum}, true)`)
  await client.query(markMade)
}

/** `comment on` takes no parameter, so the checksum comes through a setting. */
const markMade = `do $$ begin
  execute format('comment on schema known is %L', current_setting('registry.made_by'));
end $$`

/** The lookup table is a copy of lookups.ts; writing only differences spares the WAL. */
async function seedLookups(client: pg.Client) {
  await client.query(sql`
    insert into lookup
    select * from json_to_recordset(${JSON.stringify(lookupValues)}) as given
      (category text, id int, code text, name text, description text)
    on conflict (category, id) do update
      set code = excluded.code, name = excluded.name, description = excluded.description
      where (lookup.code, lookup.name, lookup.description)
        is distinct from (excluded.code, excluded.name, excluded.description)`)
}

type Logins = { connection: pg.ClientConfig; service: pg.ClientConfig }

/** A service login that differs from the owner's must be a member of the service's role. */
export async function admitService({ connection: owner, service }: Logins) {
  const [login] = await rowsAs<{ name: string; isMember: boolean }>(
    service,
    sql`select session_user::text as name, pg_has_role(${serviceRole}, 'member') as "isMember"`,
  )
  if (login!.isMember) return
  const grant = `grant ${serviceRole} to ${pg.escapeIdentifier(login!.name)}`
  await rowsAs(owner, raw(grant)).catch((error: Error) => {
    throw new Error(
      `The login ${login!.name} does not have the rights of the service yet. Run: ${grant}; ` +
        `(${error.message})`,
    )
  })
}

const rowsAs = <Row extends object>(connection: pg.ClientConfig, statement: Fragment) =>
  withConnection(connection, async (client) => (await client.query<Row>(statement)).rows)
