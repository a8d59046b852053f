import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import {
  atEnd,
  freePort,
  type Owner,
  obstacle,
  ownerOfServers,
  postgresOf,
  signalPid,
  start,
  until,
} from '../failover/processes.ts'

/** PostgreSQL servers with Citus in a temporary folder, on loopback; they end with this process. */
export type Citus = {
  folder: string
  coordinator: CitusServer
  workers: CitusServer[]
  /** Starts one more server, which the others do not know yet. */
  addServer: (name: string) => Promise<CitusServer>
  stop: () => Promise<void>
}

export type CitusServer = {
  name: string
  port: number
  /** A connection as the superuser; the caller chooses the database. */
  connection: { host: string; port: number; user: string; password: string; database: string }
  /** The process ids of the server, of which the first has started the others. */
  pids: () => number[]
  start: () => Promise<void>
  /** Kills all processes of the server, so that they cannot finish anything. */
  kill: () => Promise<void>
}

/** Finds the programs of a PostgreSQL that has Citus; otherwise returns what is missing. */
export function findCitus(folder = process.env.CITUS_BINDIR): { bindir: string } | string {
  if (!folder) return 'CITUS_BINDIR is not set.'
  if (!existsSync(join(folder, 'initdb'))) return `There is no initdb in ${folder}.`
  const said = spawnSync(join(folder, 'pg_config'), ['--sharedir']).stdout?.toString().trim()
  if (!said) return `There is no pg_config in ${folder}.`
  if (existsSync(join(said, 'extension', 'citus.control'))) return { bindir: folder }
  return `The PostgreSQL of ${folder} has no Citus.`
}

type How = {
  workers?: number
  /** Data need not survive a crash of the machine, as in a test run. */
  careless?: boolean
}

export async function startCitus(bindir: string, { workers = 2, careless }: How): Promise<Citus> {
  const owner = ownerOfServers()
  const folder = mkdtempSync(join(tmpdir(), 'registry-citus-'))
  const servers: Made[] = []
  const killAll = () => {
    for (const { pids } of servers) for (const pid of pids()) signalPid(pid, 'SIGKILL')
  }
  const clear = () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  atEnd(() => {
    killAll()
    clear()
  })
  own(folder, owner)
  const closed = obstacle(folder, owner)
  if (closed) throw new Error(closed)
  const addServer = async (name: string) => {
    const server = await makeServer({ bindir, folder, owner, careless: careless === true }, name)
    servers.push(server)
    await server.start()
    return server
  }
  const coordinator = await addServer('coordinator')
  const list: CitusServer[] = []
  for (let i = 1; i <= workers; i++) list.push(await addServer(`worker-${i}`))
  return {
    folder,
    coordinator,
    workers: list,
    addServer,
    stop: async () => {
      await Promise.all(servers.map(({ stop }) => stop()))
      clear()
    },
  }
}

type Made = CitusServer & { stop: () => Promise<void> }
type Place = { bindir: string; folder: string; owner: Owner; careless: boolean }

async function makeServer(place: Place, name: string): Promise<Made> {
  const { bindir, folder, owner } = place
  const home = join(folder, name)
  const data = join(home, 'data')
  mkdirSync(home)
  own(home, owner)
  // Loopback only, and gone in the end: whoever is on this machine may come in.
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N']
  const made = spawnSync(join(bindir, 'initdb'), ['-D', data, ...options], { ...owner, cwd: '/' })
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`)
  const port = await freePort()
  const connection = {
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: 'none',
    database: 'postgres',
  }
  const run = async () => {
    start({
      file: join(bindir, 'postgres'),
      args: ['-D', data, ...settingsOf(place, home, port)],
      log: join(home, 'server.log'),
      owner,
    })
    await until(`${name} to take connections`, () => canConnect(connection))
  }
  const end = async (signal: NodeJS.Signals) => {
    const [postmaster, ...others] = postgresOf(data)
    if (!postmaster) return
    for (const pid of signal === 'SIGKILL' ? [postmaster, ...others] : [postmaster])
      signalPid(pid, signal)
    await until(`${name} to end`, () => postgresOf(data).length === 0)
  }
  return {
    name,
    port,
    connection,
    pids: () => postgresOf(data),
    start: run,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'),
  }
}

/** The settings that docs/SCALING.md asks for; for tests also small caches and few shards. */
function settingsOf({ careless }: Place, home: string, port: number): string[] {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: home,
    shared_preload_libraries: 'citus',
    wal_level: 'logical',
    max_connections: 400,
    max_prepared_transactions: 400,
    // Each database with Citus has a daemon of its own.
    max_worker_processes: 100,
    shared_buffers: '128MB',
    ssl: 'off',
    'citus.node_conninfo': 'sslmode=disable',
    'citus.shard_count': 4,
    'citus.recover_2pc_interval': '5s',
    log_min_error_statement: 'error',
    ...(careless && { fsync: 'off' }),
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function canConnect(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(connection)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

function own(folder: string, owner: Owner) {
  chmodSync(folder, 0o700)
  if (owner) chownSync(folder, owner.uid, owner.gid)
}

/** Runs SQL statements one after another on a new connection; returns the rows of the last. */
export async function ask(connection: pg.ClientConfig, ...statements: string[]) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}
