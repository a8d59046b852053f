import { Client } from 'pg'
import { port, serviceLogin, superuser } from './cluster.ts'
import { isServerOf, readPidFile, starterOf } from './processes.ts'

// The process that owns a database holds this advisory lock in it, on a connection of its own, for
// as long as it lives. A database without an owner was left behind by a killed process.
const lock = [0x72656769, 1] // 'regi'
const ownerName = 'registry owner'
// Not the registry's own database: a connection to it would prevent copying it as a template.
const maintenance = 'postgres'

/** The server that runs on a cluster's folder at this moment. */
export type Seen =
  | { state: 'absent' }
  | { state: 'busy'; pid: number; host: string } // starting, recovering or shutting down
  | { state: 'unowned'; pid: number; host: string }
  | { state: 'owned'; owner: number; host: string }

export async function observe(folder: string, password: string): Promise<Seen> {
  const running = readPidFile(folder)
  if (!running?.socketFolder) return { state: 'absent' }
  const { pid, socketFolder: host } = running
  const busy = { state: 'busy', pid, host } as const
  // Connecting to a busy server would only fill its log.
  if (running.status !== 'ready' && isServerOf(folder, pid)) return busy
  const client = await connect(host, password)
  if (client === 'absent') return { state: 'absent' }
  if (client === 'busy') return busy
  if (client === 'full') return { state: 'owned', owner: starterOf(pid) ?? pid, host }
  try {
    const owner = await ownerOf(client)
    return owner === undefined ? { state: 'unowned', pid, host } : { state: 'owned', owner, host }
  } catch {
    return busy // the server went away while we asked
  } finally {
    await client.end().catch(() => {})
  }
}

async function ownerOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query(
    `select application_name as name from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and classid = $1 and objid = $2 and objsubid = 2
     and database = (select oid from pg_database where datname = current_database())`,
    lock,
  )
  return rows.length > 0 ? Number(rows[0].name.slice(ownerName.length)) : undefined
}

/** The connection that makes us the owner; undefined if another process is. */
export async function takeOwnership(host: string, password: string): Promise<Client | undefined> {
  const client = await connect(host, password)
  if (typeof client === 'string') return undefined
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1, $2) as taken', lock)
    if (rows[0].taken) return client
  } catch {
    // The server went away while we asked.
  }
  await client.end().catch(() => {})
  return undefined
}

type Failure = 'absent' | 'busy' | 'full'
const failures: Record<string, Failure> = {
  ENOENT: 'absent',
  ECONNREFUSED: 'absent',
  53300: 'full',
}

async function connect(host: string, password: string): Promise<Client | Failure> {
  const client = new Client({
    ...{ host, port, user: superuser, password, database: maintenance },
    application_name: `${ownerName} ${process.pid}`,
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
  })
  client.on('error', () => {}) // 'end' follows, too
  try {
    await client.connect()
    return client
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (code === '28P01')
      throw new Error('The embedded database refuses the password in keys/database-password.')
    return failures[code] ?? 'busy'
  }
}

/** Creates the registry's database at the first start. */
export async function ensureDatabase(client: Client, name: string): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
  if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
}

/**
 * The service's login is a member of registry_service and of nothing else, so that it cannot change
 * append-only tables. Set up at every start, so that data folders of earlier versions get it, too.
 */
export async function ensureServiceLogin(client: Client, password: string): Promise<void> {
  const login = client.escapeIdentifier(serviceLogin)
  for (const role of ['registry_service', serviceLogin]) {
    const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role])
    if (rowCount === 0) await client.query(`create role ${client.escapeIdentifier(role)}`)
  }
  await client.query(
    `alter role ${login} login nosuperuser nocreaterole nocreatedb noreplication nobypassrls
       inherit password ${client.escapeLiteral(password)}`,
  )
  await client.query(`grant registry_service to ${login}`)
}
