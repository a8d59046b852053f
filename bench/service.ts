import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Connection, startEmbedded } from '../src/platform/embedded/postgres.ts'
import { migrate } from '../src/platform/sql/migrate.ts'
import { fill, type Size } from './dataset.ts'

const password = 'a password for the bench'

export type Service = {
  url: string
  token: string
  connection: Connection
  /** How many processes share the port. */
  nodes: number
  /** Starts another process on another port and the same database; resolves once it answers. */
  another: () => Promise<{ service: Service; stop: () => Promise<void> }>
  /** The ids of the processes that answer requests. */
  pids: () => number[]
  /**
   * The bytes that the service process holds now, and the most it ever held; with several
   * processes, those of the largest.
   */
  memory: () => { now: number; peak: number }
  stop: () => Promise<void>
}

/** Returns the data folder of a size; it is made and filled the first time and then kept. */
export async function prepare(size: Size, tell: (line: string) => void): Promise<string> {
  const folder = join(import.meta.dirname, 'data', size.name)
  const done = join(folder, 'filled')
  if (existsSync(done)) return folder
  const server = await startEmbedded({ dataDir: folder, onEvent: () => {} })
  try {
    await migrate(server.connection)
    const client = new pg.Client(server.connection)
    await client.connect()
    await fill(client, size, tell).finally(() => client.end())
    writeFileSync(done, size.name)
    return folder
  } finally {
    await server.stop()
  }
}

export type ServiceOptions = {
  size: Size
  port: number
  /** How many processes share the port. */
  nodes: number
  tell: (line: string) => void
}

/**
 * Starts the built service on a copy of the register of a size: whatever a run writes is thrown
 * away, and the next run begins with the same rows. PostgreSQL is the embedded one, with its
 * ordinary settings.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { size, port, nodes, tell } = options
  const folder = await prepare(size, tell)
  const server = await startEmbedded({ dataDir: folder, onEvent: () => {} })
  const own = mkdtempSync(join(tmpdir(), 'registry-bench-'))
  const children: ChildProcess[] = []
  const stop = async () => {
    await Promise.all(children.map(stopped))
    await dropCopy(server.connection)
    await server.stop()
    rmSync(own, { recursive: true })
  }
  const spawned = async (connection: Connection, port: number, nodes: number) => {
    const child = spawnNodes(connection, port, nodes, own)
    children.push(child)
    const url = `http://127.0.0.1:${port}`
    await answering(url, child)
    return { child, url, pids: () => pidsOf(child.pid!, nodes) }
  }
  try {
    const connection = { ...server.connection, database: await copyOf(server.connection) }
    await warm(connection)
    const { url, pids } = await spawned(connection, port, nodes)
    const token = await signIn(url, connection)
    const service: Service = {
      url,
      token,
      connection,
      nodes,
      another: async () => {
        const { child, ...more } = await spawned(connection, port + 3, 1)
        return { service: { ...service, ...more }, stop: () => stopped(child) }
      },
      pids,
      memory: () => residentBytes(pids()),
      stop,
    }
    return service
  } catch (error) {
    await stop()
    throw error
  }
}

const copy = 'bench_run'

async function copyOf(connection: Connection): Promise<string> {
  await dropCopy(connection)
  await administer(
    connection,
    `create database ${copy} template ${connection.database} strategy file_copy`,
  )
  return copy
}

/** Loads tables and indexes, small ones first, as a register has them that ran for a while. */
async function warm(connection: Connection) {
  await administer(connection, 'create extension if not exists pg_prewarm', connection.database)
  await administer(
    connection,
    `select pg_prewarm(oid) from (
      select oid, sum(pg_relation_size(oid)) over (order by pg_relation_size(oid), oid) as total
      from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace) sized
    where total < 0.8 * pg_size_bytes(current_setting('shared_buffers'))`,
    connection.database,
  )
}

const dropCopy = (connection: Connection) =>
  administer(connection, `drop database if exists ${copy} with (force)`)

async function administer(connection: Connection, statement: string, database = 'postgres') {
  const client = new pg.Client({ ...connection, database })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** Starts one process as `npm start` does, or several behind one port. */
function spawnNodes(connection: Connection, port: number, nodes: number, folder: string) {
  const flags = [...ordinaryFlags(), ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? [])]
  const program =
    nodes === 1 ? ['dist/main.js'] : [join(import.meta.dirname, 'nodes.mjs'), String(nodes)]
  return spawn(process.execPath, [...flags, ...program], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      PORT: String(port),
      DATABASE_URL: databaseURL(connection),
      REGISTRY_DATA_DIR: folder,
      REGISTRY_JWT_SECRET: 'a secret that all nodes of the bench share',
      REGISTRY_ENCRYPTION_KEY: Buffer.alloc(32, 'bench').toString('base64'),
      REGISTRY_ADMIN_USERNAME: 'bench',
      REGISTRY_ADMIN_PASSWORD: password,
    },
  })
}

export function databaseURL({ host, port, user, password, database }: Connection): string {
  const place = `host=${encodeURIComponent(host)}&port=${port}`
  return `postgres://${user}:${encodeURIComponent(password)}@/${database}?${place}`
}

/** The flags that `npm start` gives to Node. */
function ordinaryFlags(): string[] {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')
  return JSON.parse(text).scripts.start.match(/--\S+/g)
}

export async function answering(url: string, child: ChildProcess) {
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    const up = await fetch(`${url}/Common/HealthCheck`).catch(() => undefined)
    if (up?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  child.kill('SIGTERM')
  throw new Error('The service did not start.')
}

/**
 * Signs in once the first user exists: the service creates it after it has begun to listen. A
 * sign-in before that fails, and after a few failures even the right password is refused for
 * minutes.
 */
async function signIn(url: string, connection: Connection): Promise<string> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await until(async () => (await client.query('select from app_user limit 1')).rowCount === 1)
  } finally {
    await client.end()
  }
  const answer = await fetch(`${url}/User/Login`, {
    method: 'POST',
    headers: { Version: '2.0', 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'bench', password }),
    signal: AbortSignal.timeout(patience),
  })
  const { data, message } = (await answer.json()) as Answer
  if (!data) throw new Error(`Nobody could sign in: ${message}`)
  return data.accessToken
}

type Answer = { data: { accessToken: string } | null; message: string | null }

/** In milliseconds; long, because a start takes long on a busy machine. */
const patience = 60_000

async function until(isSo: () => Promise<boolean>) {
  for (const end = Date.now() + patience; !(await isSo()); ) {
    if (Date.now() > end) throw new Error('There is no first user.')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** The process itself; with several nodes its children, among which it only shares the port. */
function pidsOf(pid: number, nodes: number): number[] {
  if (nodes === 1) return [pid]
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').map(Number)
}

function residentBytes(pids: readonly number[]) {
  const most = (name: string) =>
    Math.max(
      ...pids.map((each) => {
        const status = readFileSync(`/proc/${each}/status`, 'utf8')
        return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
      }),
    )
  return { now: most('VmRSS'), peak: most('VmHWM') }
}

/** Asks a process to end, and kills it if it has not ended after 20 seconds. */
export async function stopped(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await gone
  clearTimeout(timer)
}
