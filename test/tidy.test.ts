import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, it } from 'node:test'

/**
 * The storeys, lowest first, each with its rooms, lowest first. A room may only import from rooms
 * before it, types included. Files directly in `src/` are above all storeys, except those that
 * every room may import.
 */
const storeys: Record<string, string> = {
  platform:
    'problem-codes.ts refusal.ts log.ts folder.ts secrets.ts permission.ts event-types.ts ' +
    'lookup shape embedded constraints.ts sql actor.ts http files registry.ts',
  catalogue: 'product investment common',
  access: 'password second-factor user api-key caller audit approval',
  parties:
    'sealed investor address communication payment-detail person organisation account biz-entity ' +
    'tax-standing',
  ledger: 'on-hold biz-event biz-transaction holding',
  money: 'withholding-rate payment-run distribution reconciliation',
  records: 'document hold statement report search',
  integration: 'event webhook import',
  operations:
    'gauges.ts secret-fields.ts warm-up.ts verify backup maintenance.ts worker.ts demo cli console',
}
const known = ['src/version.ts', 'src/time-zone.ts', 'src/mailbox.ts', 'src/config.ts']
const above = ['src/app.ts', 'src/worker.ts', 'src/main.ts']
const rooms = [
  ...known,
  ...Object.entries(storeys).flatMap(([storey, names]) =>
    names.split(' ').map((name) => `src/${storey}/${name}`),
  ),
  ...above,
]

/** Pairs of storeys of which neither may import from the other. */
const strangers = [['access', 'parties']]

/** The rooms that write each table: one room, and the sweeper for tables with rows that expire. */
const writers: Record<string, string> = {
  migration: 'sql',
  record_version: 'sql',
  ledger_version: 'sql',
  lookup: 'sql',
  audit: 'sql backup', // a restore gives records the numbers of this database
  audit_seal: 'audit backup',
  approval_rule: 'approval',
  approval: 'approval',
  approval_decision: 'approval',
  idempotency: 'sql maintenance.ts',
  app_user: 'user',
  app_user_product: 'user',
  session: 'user maintenance.ts',
  refresh_token: 'user maintenance.ts',
  login_failure: 'password maintenance.ts',
  second_factor: 'second-factor',
  recovery_code: 'second-factor',
  api_key: 'api-key user', // the keys of a user end with them
  product: 'product',
  investment: 'investment',
  investment_price: 'investment',
  investment_price_correction: 'investment',
  encryption_key: 'sealed',
  person: 'person',
  organisation: 'organisation',
  address: 'address',
  communication: 'communication',
  payment_detail: 'payment-detail',
  account: 'account',
  organisation_person: 'organisation',
  biz_entity_party: 'biz-entity',
  biz_entity: 'biz-entity investor', // a change of what it owns moves its updatedDateFull
  biz_entity_parent: 'biz-entity',
  retired_account_number: 'account',
  biz_event: 'biz-event biz-entity', // an entity goes with its cancelled notices
  biz_transaction: 'biz-transaction',
  biz_transaction_version: 'biz-transaction',
  biz_transaction_cost: 'biz-transaction',
  closing_mark: 'biz-transaction',
  holding: 'biz-transaction',
  hold: 'hold',
  hold_version: 'hold',
  // One to lock, for an account without any units; one that is closed is written anew.
  ledger_account: 'biz-transaction distribution account',
  distribution: 'distribution',
  distribution_component: 'distribution',
  entitlement: 'distribution',
  entitlement_total: 'distribution',
  drp_residual: 'distribution',
  entitlement_history: 'distribution',
  distribution_version: 'distribution',
  entitlement_version: 'distribution',
  distribution_stage: 'distribution',
  residual_payment: 'distribution',
  withholding_rate: 'withholding-rate',
  withholding: 'distribution',
  payment_run: 'payment-run',
  payment: 'payment-run',
  payment_item: 'payment-run',
  payment_exception: 'payment-run',
  payment_run_file: 'payment-run',
  stored_file: 'files',
  document: 'document biz-entity', // an entity goes with its documents
  report: 'report',
  report_statement: 'report',
  event: 'sql event',
  event_feed: 'event',
  webhook: 'webhook',
  webhook_delivery: 'webhook',
  import: 'import',
  import_refusal: 'import',
}

const migrations = readdirSync('migrations')
  .map((name) => readFileSync(join('migrations', name), 'utf8'))
  .join('\n')
const tables = [...migrations.matchAll(/^create table (\w+)/gm)]
  .map(([, table]) => table!)
  .filter((table) => !migrations.includes(`\ndrop table ${table};`))

/** The files that may use the database itself, not just a read handle or a transaction. */
const holders = [
  /^src\/(app|main|platform\/registry|operations\/maintenance)\.ts$/,
  /^src\/operations\/(cli|demo)\//,
  /^src\/platform\/sql\/(handle|unit-of-work|known)\.ts$/,
  /^src\/platform\/http\/(endpoint|handlers|metrics|stream)\.ts$/,
  // At start, before there are requests.
  /^src\/(access\/user\/first-user|catalogue\/product\/today)\.ts$/,
  /^src\/parties\/sealed\/(keys|rotate)\.ts$/,
  /^src\/access\/approval\/(gate|decide)\.ts$/,
  /\/(routes|door|worker)\.ts$/,
]

type File = { path: string; text: string }

const read = (folder: string): File[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(tsx?|mjs)$/.test(name))
        .map((name) => join(folder, name))
        .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    : []
const files = read('src')
const everything = [...files, ...read('test'), ...read('bench'), ...read('scripts')]

const storey = (path: string) => path.split('/')[1]!
/** The room of a file: `src/ledger/holding/sql.ts` is in the room `src/ledger/holding`. */
const room = (path: string) => path.split('/').slice(0, 3).join('/')
/** The name of a room without its path, as `writers` has it. */
const roomName = (path: string) => room(path).split('/').at(-1)!
const lines = (text: string) => text.trimEnd().split('\n')
const paths = (found: File[]) => found.map(({ path }) => path)

/** The files and packages that a file imports, types included. */
const imports = ({ path, text }: File) =>
  [...text.matchAll(/^(?:import|export) (?:type )?(?:[^;'"]*? from )?'([^']+)'/gm)]
    .map(([, target]) => target!)
    .map((target) => (target.startsWith('.') ? normalize(join(dirname(path), target)) : target))

/** The names that a file imports from our own files, each after the path of its file. */
const takenNames = ({ path, text }: File) =>
  [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)].flatMap(
    ([, names, target]) =>
      names!
        .split(',')
        .map((name) =>
          name
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*$/, ''),
        )
        .map((name) => `${normalize(join(dirname(path), target!))} ${name}`),
  )

describe('The code', () => {
  it('has lines of at most 100 columns and files of at most 400 lines', () => {
    const wide = everything.flatMap(({ path, text }) =>
      lines(text).flatMap((line, i) => ([...line].length > 100 ? [`${path}:${i + 1}`] : [])),
    )
    assert.deepEqual(wide, [])
    assert.deepEqual(paths(everything.filter(({ text }) => lines(text).length > 400)), [])
  })

  it('has a place for every room, and imports that run down only', () => {
    const unknown = paths(files).filter((path) => !rooms.includes(room(path)))
    assert.deepEqual(unknown, [], 'files in rooms that the list above has not')
    const missing = rooms.filter((name) => !files.some(({ path }) => room(path) === name))
    assert.deepEqual(missing, [], 'rooms of the list above that are gone')
    const arrows = files.flatMap((file) =>
      imports(file)
        .filter((target) => target.startsWith('src/'))
        .map((target) => ({ from: file.path, to: target })),
    )
    const wrong = arrows.filter(
      ({ from, to }) => rooms.indexOf(room(to)) > rooms.indexOf(room(from)),
    )
    const beside = arrows.filter(({ from, to }) =>
      strangers.some(
        (pair) =>
          pair.includes(storey(from)) && pair.includes(storey(to)) && storey(from) !== storey(to),
      ),
    )
    assert.deepEqual(
      [...wrong, ...beside].map(({ from, to }) => `${from} → ${to}`),
      [],
    )
  })

  it('has SQL that Citus takes, too: exists selects something, updates set no clock', () => {
    const noColumns = /\bselect from\b/
    const volatile =
      /\bupdate \w+(?: \w+)? set (?:(?!\bfrom\b|\bwhere\b)[^`])*?\b(clock_timestamp|nextval)\(/
    const refused = files.filter(({ text }) => noColumns.test(text) || volatile.test(text))
    assert.deepEqual(
      refused.map(({ path }) => path),
      [],
    )
  })

  it('has no files that import each other in a circle, types included', () => {
    const graph = new Map(files.map((file) => [file.path, imports(file)]))
    const done = new Set<string>()
    const circle = (path: string, way: string[]): string[] | undefined => {
      if (way.includes(path)) return [...way.slice(way.indexOf(path)), path]
      if (done.has(path)) return undefined
      done.add(path)
      for (const target of graph.get(path) ?? []) {
        const found = circle(target, [...way, path])
        if (found) return found
      }
      return undefined
    }
    const circles = [...graph.keys()].flatMap((path) => {
      const found = circle(path, [])
      return found ? [found.join(' → ')] : []
    })
    assert.deepEqual(circles, [])
  })

  it('exports nothing that its own file alone uses', () => {
    const users = [...everything, ...read('console'), ...read('deploy')]
    const taken = new Set(users.flatMap(takenNames))
    const own = [...files, ...read('bench'), ...read('test/support')]
    const unused = own.flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
        .map(([, name]) => `${path} ${name}`)
        .filter((name) => !taken.has(name)),
    )
    assert.deepEqual(unused, [])
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
      imports(file).some((target) => /^(@fastify\/|fastify)/.test(target)),
    )
    assert.deepEqual(
      paths(speakers).filter(
        (path) => !/^src\/(platform\/http\/|operations\/console\/|app\.ts)/.test(path),
      ),
      [],
    )
  })

  it('reads the environment in one place, and PostgreSQL’s driver in few', () => {
    const readers = files.filter(({ text }) => /process\.env\b/.test(text))
    assert.deepEqual(
      paths(readers).filter((path) => !/^src\/(config\.ts|platform\/embedded\/)/.test(path)),
      [],
    )
    const drivers = files.filter(({ text }) => /^import (?!type )[^']*from 'pg'/m.test(text))
    assert.deepEqual(
      paths(drivers).filter(
        (path) => !/^src\/(platform\/(sql|embedded)|operations\/(cli|verify|backup))\//.test(path),
      ),
      [],
    )
  })

  it('has every table in the list of owners', () => {
    assert.deepEqual(
      tables.filter((table) => !writers[table]),
      [],
    )
  })

  it('writes each table from the rooms that own it, by statements or as a table of rows', () => {
    const writes = (table: string) =>
      new RegExp(
        `\\b(insert into|update|delete from|merge into|truncate) ${table}\\b|` +
          `\\bdefineTable\\(\\s*'${table}'`,
      )
    const found = tables.map((table) => ({
      table,
      by: files.filter(({ text }) => writes(table).test(text)),
    }))
    // Whoever finds another way to write rows has to tell this test, or it would see nothing.
    const unseen = found.filter(({ by }) => by.length === 0)
    assert.deepEqual(
      unseen.map(({ table }) => table),
      [],
    )
    const wrong = found.flatMap(({ table, by }) =>
      by
        .filter(({ path }) => !(writers[table] ?? '').split(' ').includes(roomName(path)))
        .map(({ path }) => `${table} ← ${path}`),
    )
    assert.deepEqual(wrong, [])
  })

  it('asks every schema which of its fields are secret', () => {
    const { text } = files.find(({ path }) => path === 'src/operations/secret-fields.ts')!
    const schemas = paths(files).filter((path) => /[/-]schema\.ts$/.test(path))
    assert.deepEqual(
      schemas.filter((path) => !text.includes(path.replace('src/', '../'))),
      [],
    )
  })

  it('builds no SQL from text, but where all of it is ours', () => {
    const built = files.filter(({ text }) => /\bquery(<[^(]*>)?\(\s*`[^`]*\$\{/.test(text))
    assert.deepEqual(
      paths(built).filter(
        (path) => !/^src\/(platform\/embedded|operations\/(verify|backup))\//.test(path),
      ),
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
