import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { noticeNewer } from '../../src/operations/maintenance.ts'
import { lookupValues } from '../../src/platform/lookup/lookups.ts'
import { openDatabase } from '../../src/platform/sql/handle.ts'
import {
  migrate,
  migrationNames,
  migrationsFolder,
  pendingMigrations,
} from '../../src/platform/sql/migrate.ts'
import { statementsOf } from '../../src/platform/sql/script.ts'
import { emptyDatabase, freshDatabase, rowsOf } from '../support/database.ts'
import { startService } from '../support/service.ts'

const present = readdirSync(migrationsFolder).filter((name) => /^\d{4}-.*\.sql$/.test(name))

/** The folder of a copy of the migrations, which tests may spoil. */
let path: string
let folder: URL
before(() => {
  path = mkdtempSync(join(tmpdir(), 'registry-migrations-'))
  folder = pathToFileURL(`${path}/`)
})
after(() => rmSync(path, { recursive: true }))

const copy = () => {
  rmSync(path, { recursive: true })
  cpSync(migrationsFolder, path, { recursive: true })
}
const write = (name: string, text: string) => writeFileSync(join(path, name), text)
const textOf = (name: string) => readFileSync(new URL(name, migrationsFolder), 'utf8')
const textsOf = (name: string) => statementsOf(textOf(name))
const applied = async (connection: pg.ClientConfig): Promise<string[]> =>
  (await rowsOf(connection, 'select name from migration order by name')).map(({ name }) => name)

describe('Migrations', () => {
  it('bring an empty database up to date once, when five nodes start at once', async () => {
    const connection = await emptyDatabase()
    assert.deepEqual(await pendingMigrations(connection), present)
    const runs = await Promise.all([1, 2, 3, 4, 5].map(() => migrate(connection)))
    assert.deepEqual(runs.flat(), present)
    assert.deepEqual(await applied(connection), present)
    assert.deepEqual(await pendingMigrations(connection), [])
  })

  it('do nothing the second time', async () => {
    const connection = await freshDatabase()
    const rows = 'select xmin::text, name, checksum, applied_date from migration order by name'
    const before = await rowsOf(connection, rows)
    assert.deepEqual(await migrate(connection), [])
    assert.deepEqual(await rowsOf(connection, rows), before)
  })

  it('stop at a file that was changed after it was applied', async () => {
    const connection = await freshDatabase()
    copy()
    appendFileSync(join(path, present[0]!), '\n-- one comment more\n')
    write('9999-next.sql', 'create table next_one ()')
    await assert.rejects(migrate(connection, folder), new RegExp(`${present[0]} was changed`))
    await assert.rejects(pendingMigrations(connection, folder), /was changed/)
    assert.deepEqual(await applied(connection), present)
  })

  it('go on from one that was applied as it landed, before it was written otherwise', async () => {
    const connection = await freshDatabase()
    const name = '0067-senders-of-statements.sql'
    const landed = textOf(name)
      .replace(';\nalter table report\n  add', ',\n  add')
      .replace('report add column sender_user', 'report\n  add column sender_user')
    const checksum = createHash('sha256').update(landed).digest('hex')
    await rowsOf(connection, 'update migration set checksum = $1 where name = $2', [checksum, name])
    assert.deepEqual(await migrate(connection), [])
  })

  it('add a column that refers to a table by itself: beside others Citus crashes', () => {
    const crowded = present.flatMap(textsOf).filter((text) => {
      const columns = text.match(/\badd column\b/g) ?? []
      return columns.length > 1 && /\breferences\b/.test(text)
    })
    assert.deepEqual(crowded, [])
  })

  it('stop at an applied file that is missing: the database is newer than we are', async () => {
    const connection = await freshDatabase()
    copy()
    write('9999-next.sql', 'create table next_one ()')
    assert.deepEqual(await migrate(connection, folder), ['9999-next.sql'])
    await assert.rejects(
      migrate(connection),
      /9999-next\.sql is missing from this version: a newer version has upgraded the database/,
    )
  })

  it('wait for nodes that run on the database, and stop where they stay', async () => {
    const connection = await freshDatabase()
    const node = await startService({}, connection)
    copy()
    write('9998-kind.sql', '-- Nodes of before may go on.\ncreate table kind ()')
    assert.deepEqual(await migrate(connection, folder), ['9998-kind.sql'])
    write('9999-next.sql', 'create table next_one ()')
    await assert.rejects(
      migrate(connection, folder),
      /lacks 9999-next\.sql, but processes that started before are still .*Stop all nodes/,
    )
    assert.deepEqual(await applied(connection), [...present, '9998-kind.sql'])
    const migrated = migrate(connection, folder)
    await node.stop()
    assert.deepEqual(await migrated, ['9999-next.sql'])
  })

  it('under a node that was not seen are told by it, whatever files lie there by now', async () => {
    const database = openDatabase({
      connection: await freshDatabase(),
      connections: 1,
      prepareStatements: false,
      onLostConnection: () => {},
    })
    await noticeNewer(database, { ours: migrationNames() })
    await assert.rejects(
      noticeNewer(database, { ours: migrationNames().slice(0, -1) }),
      new RegExp(`A newer version has migrated the database \\(${present.at(-1)}\\)`),
    )
    await database.close()
  })

  it('stop at a file that comes before one that is applied', async () => {
    const connection = await freshDatabase()
    copy()
    write('0000-late.sql', 'create table late ()')
    await assert.rejects(migrate(connection, folder), /0000-late\.sql sorts before/)
    assert.deepEqual(await applied(connection), present)
  })

  it('that fail leave nothing of themselves, and can be mended and run again', async () => {
    const connection = await freshDatabase()
    copy()
    write('9998-good.sql', 'create table good ()')
    write('9999-bad.sql', 'create table half (); select 1 / 0;')
    await assert.rejects(migrate(connection, folder), /9999-bad\.sql failed: division by zero/)
    const tables = `select to_regclass('good') is not null as good, to_regclass('half') as half`
    assert.deepEqual(await rowsOf(connection, tables), [{ good: true, half: null }])
    write('9999-bad.sql', 'create table half ()')
    assert.deepEqual(await migrate(connection, folder), ['9999-bad.sql'])
  })

  it('are the files that are named like one, and no others', async () => {
    const connection = await freshDatabase()
    copy()
    write('schema.sql', 'select 1 / 0')
    write('1234.sql.orig', 'select 1 / 0')
    assert.deepEqual(await migrate(connection, folder), [])
  })

  it('name themselves in the order that they are applied in, each number once', () => {
    const numbers = present.map((name) => name.slice(0, 4))
    // 0050 to 0060 were never used: two who worked side by side took numbers of their own.
    const numberAt = (place: number) => (place < 49 ? place + 1 : place + 12)
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => String(numberAt(i)).padStart(4, '0')),
    )
  })

  it('leave the lookups as the code has them, also where somebody changed them', async () => {
    const connection = await freshDatabase()
    await rowsOf(connection, `update lookup set name = 'wrong' where category = 'Currency'`)
    await rowsOf(connection, `delete from lookup where category = 'State'`)
    await migrate(connection)
    const rows = await rowsOf(
      connection,
      'select category, id, code, name, description from lookup',
    )
    const key = ({ category, id }: { category: string; id: number }) => `${category} ${id}`
    const byKey = (values: { category: string; id: number }[]) =>
      Object.fromEntries(values.map((value) => [key(value), value]))
    assert.deepEqual(byKey(rows as never), byKey(lookupValues))
  })

  it('make the views of the past anew when their file is another, and only then', async () => {
    const connection = await freshDatabase()
    const viewID = async () =>
      (await rowsOf(connection, `select 'known.holding'::regclass::oid as id`))[0]!.id
    const first = await viewID()
    await migrate(connection)
    assert.equal(await viewID(), first)
    copy()
    appendFileSync(join(path, 'as-known.sql'), '\n-- another\n')
    assert.deepEqual(await migrate(connection, folder), [])
    assert.notEqual(await viewID(), first)
  })
})
