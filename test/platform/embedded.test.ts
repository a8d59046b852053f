import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import {
  type Connection,
  findEmbedded,
  startEmbedded,
} from '../../src/platform/embedded/postgres.ts'
import { patient } from '../support/patience.ts'

const here = resolve('test', 'platform')
const isRoot = process.getuid?.() === 0
// A user that is neither root nor one that root would run the database as.
const other = { uid: 1, gid: 1 }

const folders: string[] = []
const children: ChildProcess[] = []

after(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
  // A database whose owner was killed needs a moment to end.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
  await Promise.all(folders.map((folder) => rm(folder, options)))
})

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'registry-embedded-'))
  folders.push(folder)
  return folder
}

const start = (dataDir: string, messages: string[] = []) =>
  startEmbedded({
    dataDir,
    settings: { shared_buffers: '16MB' },
    onEvent: ({ message }) => messages.push(message),
  })

type Said = { connection?: Connection; refusal?: string }
type Owner = { child: ChildProcess; said: Promise<Said>; stop(): Promise<void> }

/** Starts an embedded database in another process, and collects what it reports about its start. */
function startOwner(dataDir: string, user: { uid?: number; gid?: number } = {}): Owner {
  const args = ['--import', 'tsx', join(here, 'embedded-owner.ts'), dataDir]
  const child = spawn(process.execPath, args, {
    ...user,
    cwd: dirname(dirname(here)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const stop = async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { child, said: firstLine(child), stop }
}

async function firstLine(child: ChildProcess): Promise<Said> {
  for await (const line of createInterface(child.stdout!)) return JSON.parse(line)
  return {}
}

async function query(connection: Connection, text: string) {
  const client = new Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const rowsOf = async (connection: Connection) =>
  (await query(connection, 'select n from acknowledged order by n')).map((row) => row.n)

const otherCan = (permission: '-r' | '-x', path: string) =>
  spawnSync('test', [permission, path], other).status === 0

const postmasterOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])

async function until<T>(attempt: () => Promise<T>): Promise<T> {
  for (const start = Date.now(); ; await sleep(20)) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() - start > patient(20_000)) throw error
    }
  }
}

const main = temporaryFolder()

test('what was committed before a stop is there after the next start', async () => {
  const first = await start(main)
  await query(first.connection, 'create table acknowledged (n int primary key)')
  await query(first.connection, 'insert into acknowledged values (1)')
  await Promise.all([first.stop(), first.stop()])
  const second = await start(main)
  assert.deepEqual(await rowsOf(second.connection), [1])
  await second.stop()
})

test('a database that cannot start is told with its reason, not only with its end', async () => {
  const dataDir = temporaryFolder()
  const database = await start(dataDir)
  await database.stop()
  const log = join(dataDir, 'postgres', 'pg_wal')
  for (const name of readdirSync(log).filter((one) => /^[0-9A-F]{24}$/.test(one)))
    rmSync(join(log, name))
  await assert.rejects(start(dataDir), /does not start: .*could not locate a valid checkpoint/)
})

test('the database is durable, checksummed, alike everywhere and off the network', async () => {
  const database = await start(main)
  const names = [
    ['fsync', 'on'],
    ['full_page_writes', 'on'],
    ['synchronous_commit', 'on'],
    ['data_checksums', 'on'],
    ['listen_addresses', ''],
    ['server_encoding', 'UTF8'],
    ['log_parameter_max_length_on_error', '0'],
    ['log_min_error_statement', 'panic'],
  ]
  const list = names.map(([name]) => `current_setting('${name}') as ${name}`).join()
  const [settings] = await query(database.connection, `select ${list}`)
  assert.deepEqual(settings, Object.fromEntries(names))
  const [locale] = await query(
    database.connection,
    `select datlocprovider as provider, datlocale as locale from pg_database
     where datname = current_database()`,
  )
  assert.deepEqual(locale, { provider: 'b', locale: 'C.UTF-8' })
  await database.stop()
})

test('nobody gets in without the password, not even the owner of the socket', async () => {
  const { connection, stop } = await start(main)
  await assert.rejects(query({ ...connection, password: 'guess' }, 'select 1'), { code: '28P01' })
  await stop()
})

test('a second registry on the same folder is refused and told which process has it', async () => {
  const { stop } = await start(main)
  const { refusal } = await startOwner(main).said
  assert.equal(
    refusal,
    `The data folder ${main} is in use by another registry (process ${process.pid}). ` +
      'Stop it, or set REGISTRY_DATA_DIR to another folder.',
  )
  await stop()
})

test('a database that runs is found by other processes, one that does not is not', async () => {
  assert.equal(await findEmbedded(join(main, 'nothing-here')), undefined)
  assert.equal(await findEmbedded(main), undefined)
  const owner = startOwner(main)
  const { connection } = await owner.said
  assert.deepEqual((await findEmbedded(main))?.connection, connection)
  await owner.stop()
})

test('a killed postmaster comes back under its owner with every acknowledged row', async () => {
  const messages: string[] = []
  const { connection, stop } = await start(main, messages)
  await query(connection, 'insert into acknowledged values (2)')
  const killed = postmasterOf(main)
  process.kill(killed, 'SIGKILL')
  await until(async () => assert.notEqual(postmasterOf(main), killed))
  assert.deepEqual(await until(() => rowsOf(connection)), [1, 2])
  // It is owned again, so a second registry is still refused.
  await until(async () => assert.match(messages.at(-1) ?? '', /runs as process/))
  assert.match((await startOwner(main).said).refusal ?? '', /in use by another registry/)
  assert.ok(messages.some((message) => /ended unexpectedly \(SIGKILL\)/.test(message)))
  await stop()
})

test('after a kill of the registry the next start has every acknowledged row', async () => {
  const owner = startOwner(main)
  const { connection } = await owner.said
  await query(connection!, 'insert into acknowledged values (3)')
  owner.child.kill('SIGKILL')
  const next = await start(main)
  assert.deepEqual(await rowsOf(next.connection), [1, 2, 3])
  await next.stop()
})

test('after a kill of the registry and its database at once the next start works', async () => {
  const owner = startOwner(main)
  const { connection } = await owner.said
  await query(connection!, 'insert into acknowledged values (4)')
  process.kill(postmasterOf(main), 'SIGKILL')
  owner.child.kill('SIGKILL')
  const next = await start(main)
  assert.deepEqual(await rowsOf(next.connection), [1, 2, 3, 4])
  await next.stop()
})

test('a kill in the first start leaves nothing; of two that follow exactly one wins', async () => {
  const dataDir = temporaryFolder()
  const drafts = () => readdirSync(dataDir).filter((name) => name.includes('.new-'))
  const first = startOwner(dataDir)
  await until(async () => assert.equal(drafts().length, 1))
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const two = [startOwner(dataDir), startOwner(dataDir)]
  const said = await Promise.all(two.map((owner) => owner.said))
  const winner = two[said.findIndex(({ connection }) => connection)]
  assert.ok(winner)
  assert.deepEqual(
    said.flatMap(
      ({ refusal }) => refusal?.match(/in use by another registry \(process \d+\)/) ?? [],
    ),
    [`in use by another registry (process ${winner.child.pid})`],
  )
  assert.deepEqual(drafts(), [])
  await winner.stop()
})

test('a long path works, also below a folder that only root can enter', async () => {
  const parent = temporaryFolder()
  const mayBePrivate = !isRoot || spawnSync('unshare', ['--user', 'true']).status === 0
  if (!mayBePrivate) chmodSync(parent, 0o755)
  const dataDir = join(parent, 'x'.repeat(60), 'y'.repeat(60))
  const { connection, stop } = await start(dataDir)
  folders.push(connection.host)
  assert.ok(!connection.host.startsWith(dataDir))
  assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
  await stop()
})

test('another user can neither read the folder nor reach the socket', {
  skip: !isRoot,
}, async () => {
  const { connection, stop } = await start(main)
  for (const path of ['', 'postgres', 'keys', 'socket', 'postgres.log']) {
    assert.ok(!otherCan('-r', join(main, path)), `${path} can be read`)
    assert.ok(!otherCan('-x', join(main, path)), `${path} can be entered`)
  }
  const connect = `require('node:net').connect(process.argv[1])
    .on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
  const socket = join(connection.host, '.s.PGSQL.5432')
  const connects = (user: object) =>
    spawnSync(process.execPath, ['-e', connect, socket], user).status === 0
  assert.ok(connects({}))
  assert.ok(!connects(other))
  await stop()
})

test('a normal user can run it', { skip: !isRoot || !otherCan('-r', here) }, async () => {
  const dataDir = temporaryFolder()
  chownSync(dataDir, other.uid, other.gid)
  const owner = startOwner(dataDir, other)
  const { connection, refusal } = await owner.said
  assert.equal(refusal, undefined)
  assert.deepEqual(await query(connection!, 'select 1 as one'), [{ one: 1 }])
  await owner.stop()
  // Root could take it over, and does not.
  await assert.rejects(start(dataDir), /belongs to another user \(uid 1\)/)
})
