import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, it } from 'node:test'

/** Imports point up in this list: a room knows those above it and none below. */
const rooms = `
refusal.ts version.ts config.ts log.ts secrets.ts lookup embedded sql actor.ts constraints.ts http
password files product investment investor address communication payment-detail person
organisation account biz-entity biz-event biz-transaction holding distribution document report
user audit common verify backup maintenance.ts registry.ts app.ts cli worker.ts main.ts`
  .trim()
  .split(/\s+/)

/** Who writes each table: one room, and the sweeper where something runs out. */
const writers: Record<string, string> = {
  migration: 'sql',
  lookup: 'sql',
  audit: 'sql',
  idempotency: 'sql maintenance.ts',
  app_user: 'user',
  app_user_product: 'user',
  session: 'user maintenance.ts',
  refresh_token: 'user maintenance.ts',
  login_failure: 'password maintenance.ts',
  product: 'product',
  investment: 'investment',
  investment_price: 'investment',
  encryption_key: 'investor',
  person: 'person',
  organisation: 'organisation',
  biz_entity: 'biz-entity investor', // a change of what it owns moves its updatedDateFull
  biz_entity_parent: 'biz-entity',
  retired_account_number: 'account',
  biz_event: 'biz-event biz-entity', // an entity goes with its cancelled notices
  biz_transaction: 'biz-transaction',
  biz_transaction_version: 'biz-transaction',
  holding: 'biz-transaction',
  ledger_account: 'biz-transaction distribution', // one to lock, for an account without any units
  distribution: 'distribution',
  distribution_component: 'distribution',
  entitlement: 'distribution',
  drp_residual: 'distribution',
  stored_file: 'files',
  document: 'document biz-entity', // an entity goes with its documents
  report: 'report',
}

/** Who may hold the database rather than a handle to read or a transaction to write with. */
const holders = [
  /^src\/(app|registry|main|maintenance)\.ts$/,
  /^src\/cli\//,
  /^src\/sql\/(handle|unit-of-work)\.ts$/,
  /^src\/http\/(endpoint|mount|metrics|stream)\.ts$/,
  /^src\/(user\/first-user|investor\/(keys|rotate))\.ts$/, // at start, before there are requests
  /\/(routes|batch|worker)\.ts$/,
]

type File = { path: string; text: string }

const read = (folder: string): File[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') || name.endsWith('.mjs'))
        .map((name) => join(folder, name))
        .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    : []
const files = read('src')
const everything = [...files, ...read('test'), ...read('bench'), ...read('scripts')]

const room = (path: string) => path.split('/')[1]!
const lines = (text: string) => text.trimEnd().split('\n')
const paths = (found: File[]) => found.map(({ path }) => path)

/** What a file imports, the types apart or not. */
const imports = ({ path, text }: File, types: boolean) =>
  [...text.matchAll(/^(?:import|export) (type )?(?:[^;'"]*? from )?'([^']+)'/gm)]
    .filter(([, type]) => types || !type)
    .map(([, , target]) => target!)
    .map((target) => (target.startsWith('.') ? normalize(join(dirname(path), target)) : target))

describe('The code', () => {
  it('has lines of at most 100 columns and files of at most 400 lines', () => {
    const wide = everything.flatMap(({ path, text }) =>
      lines(text).flatMap((line, i) => ([...line].length > 100 ? [`${path}:${i + 1}`] : [])),
    )
    assert.deepEqual(wide, [])
    assert.deepEqual(paths(everything.filter(({ text }) => lines(text).length > 400)), [])
  })

  it('has a place for every room, and imports that point one way', () => {
    const unknown = new Set(
      paths(files)
        .map(room)
        .filter((name) => !rooms.includes(name)),
    )
    assert.deepEqual([...unknown], [], 'rooms without a place in the list above')
    const wrong = files.flatMap((file) =>
      imports(file, false)
        .filter((target) => target.startsWith('src/'))
        .filter((target) => rooms.indexOf(room(target)) > rooms.indexOf(room(file.path)))
        .map((target) => `${file.path} → ${target}`),
    )
    assert.deepEqual(wrong, [])
  })

  it('hands the database itself only to those who open transactions', () => {
    const named = /import (type )?\{[^}]*\bDatabase\b[^}]*\} from '[^']*handle\.ts'/
    const others = files.filter(
      ({ path, text }) => named.test(text) && !holders.some((holder) => holder.test(path)),
    )
    assert.deepEqual(paths(others), [])
  })

  it('knows Fastify only where HTTP is spoken', () => {
    const speakers = files.filter((file) =>
      imports(file, true).some((target) => /^(@fastify\/|fastify)/.test(target)),
    )
    assert.deepEqual(
      paths(speakers).filter((path) => !/^src\/(http\/|app\.ts)/.test(path)),
      [],
    )
  })

  it('reads the environment in one place, and PostgreSQL’s driver in few', () => {
    const readers = files.filter(({ text }) => /process\.env\b/.test(text))
    assert.deepEqual(
      paths(readers).filter((path) => !/^src\/(config\.ts|embedded\/)/.test(path)),
      [],
    )
    const drivers = files.filter((file) => imports(file, false).includes('pg'))
    assert.deepEqual(
      paths(drivers).filter((path) => !/^src\/(sql|embedded|cli|verify|backup)\//.test(path)),
      [],
    )
  })

  it('writes each table from the rooms that own it', () => {
    const tables = readdirSync('migrations')
      .map((name) => readFileSync(join('migrations', name), 'utf8'))
      .flatMap((text) => [...text.matchAll(/^create table (\w+)/gm)].map(([, table]) => table!))
    const write = (table: string) =>
      new RegExp(`\\b(insert into|update|delete from|merge into|truncate) ${table}\\b`)
    const wrong = tables.flatMap((table) =>
      files
        .filter(({ text }) => write(table).test(text))
        .filter(({ path }) => !(writers[table] ?? '').split(' ').includes(room(path)))
        .map(({ path }) => `${table} ← ${path}`),
    )
    assert.deepEqual(wrong, [])
  })

  it('builds no SQL from text, but where all of it is ours', () => {
    const built = files.filter(({ text }) => /\bquery(<[^(]*>)?\(\s*`[^`]*\$\{/.test(text))
    assert.deepEqual(
      paths(built).filter((path) => !/^src\/(embedded|verify|backup)\//.test(path)),
      [],
    )
  })

  it('leaves nothing for later and names no place outside the project', () => {
    const later = everything.filter(({ path, text }) => {
      const here = path === 'test/tidy.test.ts'
      return !here && /\b(TODO|FIXME|XXX|HACK)\b|\.\.\/shared|@ts-(ignore|nocheck)/.test(text)
    })
    assert.deepEqual(paths(later), [])
  })

  it('has no enums, default exports, or tests that are left out', () => {
    const odd = everything.filter(({ path, text }) => {
      const here = path === 'test/tidy.test.ts'
      return (
        !here &&
        /^(export )?(const )?enum |^export default |\b(it|describe|test)\.only\(/m.test(text)
      )
    })
    assert.deepEqual(paths(odd), [])
  })
})
