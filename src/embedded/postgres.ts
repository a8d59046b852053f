import { existsSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import {
  type Cluster,
  clusterFolder,
  port,
  prepareCluster,
  readPassword,
  superuser,
} from './cluster.ts'
import { ensureDatabase, observe, takeOwnership } from './owner.ts'
import {
  boundLog,
  end,
  endLeftovers,
  isServerOf,
  launch,
  readPidFile,
  ready,
  type Server,
  stopServer,
} from './server.ts'

export type Connection = {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export type EmbeddedPostgres = { connection: Connection; stop(): Promise<void> }

export type Event = { level: 'info' | 'warn' | 'error'; message: string }

type Options = {
  dataDir: string
  /** Settings beside or instead of our own, for tests. */
  settings?: Record<string, string>
  /** What happened, for the log; never a secret. */
  onEvent: (event: Event) => void
}

type Context = Options & { cluster: Cluster; signal: AbortSignal }

/** A server of ours; `lost` when the connection that holds the owner's lock in it has ended. */
type Owned = { server: Server; lost: Promise<void> }

const database = 'registry'
const patienceMs = 60_000 // for another process to finish what it does to the folder
const graceMs = 3000 // for a server without an owner to get one, or to end with the one it had
const pauseMs = 100
const longestPauseMs = 1000 // before a server that keeps ending is started again
const longestRetryMs = 10_000 // between tries that fail
const steadyMs = 10_000 // a server that lasted this long is restarted after the shortest pause
const logCheckMs = 600_000

const connectionTo = (host: string, password: string): Connection => ({
  ...{ host, port, user: superuser, password, database },
})

/** Starts (creating it the first time) the PostgreSQL under `${dataDir}/postgres`, supervised. */
export async function startEmbedded(options: Options): Promise<EmbeddedPostgres> {
  const { created, ...cluster } = await prepareCluster(options.dataDir)
  if (created) tell(options, 'info', `Created a database in ${cluster.folder}.`)
  const stopping = new AbortController()
  const context = { ...options, cluster, signal: stopping.signal }
  const first = await own(context)
  const supervision = supervise(context, first)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopping.abort()
    await supervision
    tell(options, 'info', 'The embedded database has stopped.')
  }
  return {
    connection: connectionTo(cluster.socketFolder, cluster.password),
    stop: () => (stopped ??= stop()),
  }
}

/** The connection to an embedded database that another process has running on this folder. */
export async function findEmbedded(dataDir: string): Promise<Connection | undefined> {
  if (!existsSync(dataDir)) return undefined
  const home = realpathSync(dataDir)
  const password = readPassword(home)
  if (!password) return undefined
  for (const start = Date.now(); Date.now() - start < patienceMs; await sleep(pauseMs)) {
    const seen = await observe(clusterFolder(home), password)
    if (seen.state === 'owned') return connectionTo(seen.host, password)
    if (seen.state !== 'busy') return undefined
  }
  return undefined
}

/**
 * Makes us the owner of a server that is our child. Among processes that try at once, the one that
 * gets the lock wins; the others find it taken.
 */
async function own(context: Context): Promise<Owned> {
  const { cluster, signal } = context
  let problem = ''
  let unownedSince = Number.POSITIVE_INFINITY
  for (let start = Date.now(); Date.now() - start < patienceMs; await sleep(pauseMs)) {
    signal.throwIfAborted()
    const seen = await observe(cluster.folder, cluster.password)
    if (seen.state === 'owned') throw inUse(cluster.dataDir, seen.owner)
    if (seen.state === 'absent') {
      const started = await startOwn(context)
      if (typeof started === 'object') return started
      problem = started
    }
    if (seen.state !== 'unowned') continue
    // Either its owner is about to take the lock, or its owner was killed.
    unownedSince = Math.min(unownedSince, Date.now())
    if (Date.now() - unownedSince < graceMs) continue
    await endOrphan(context, seen)
    start = Date.now()
  }
  const { pid } = readPidFile(cluster.folder) ?? { pid: 0 }
  throw isServerOf(cluster.folder, pid)
    ? inUse(cluster.dataDir, pid)
    : doesNotStart(cluster, problem)
}

const inUse = (dataDir: string, pid: number) =>
  new Error(
    `The data folder ${dataDir} is in use by another registry (process ${pid}). ` +
      'Stop it, or set REGISTRY_DATA_DIR to another folder.',
  )

const doesNotStart = ({ logFile }: Cluster, problem: string) =>
  new Error(`The embedded database does not start: ${problem} (see ${logFile}).`)

/** A server of our own, or the reason why it could not be had now but may be at another try. */
async function startOwn(context: Context): Promise<Owned | string> {
  const { cluster, settings = {}, signal } = context
  const server = launch(cluster, settings)
  const problem = await ready(server, cluster, signal)
  if (problem !== undefined) {
    signal.throwIfAborted()
    if (!mayPass(cluster, problem)) throw doesNotStart(cluster, problem)
    return problem
  }
  try {
    const lock = await takeOwnership(cluster.socketFolder, cluster.password)
    if (lock) {
      const lost = lossOf(lock)
      await ensureDatabase(lock, database)
      tell(context, 'info', `PostgreSQL runs as process ${server.pid}, ${cluster.identity.name}.`)
      return { server, lost }
    }
  } catch (error) {
    await stopServer(server)
    throw error
  }
  await stopServer(server)
  return 'another process took it over'
}

/** Whether a server that did not start may do so later, when what is in its way has ended. */
function mayPass(cluster: Cluster, problem: string): boolean {
  if (/shared memory block/.test(problem)) {
    const former = readPidFile(cluster.folder)
    if (!former || !isServerOf(cluster.folder, former.pid)) endLeftovers(cluster)
    return true
  }
  return /lock file ".*" (already exists|is empty)|Address already in use/.test(problem)
}

const lossOf = (lock: Client) => new Promise<void>((resolve) => lock.once('end', () => resolve()))

/** Ends a server whose owner was killed, so that it can be started under us. */
async function endOrphan(context: Context, { pid, host }: { pid: number; host: string }) {
  const { cluster } = context
  // Whoever holds the lock ends it: an owner it may get at the last moment will then step back.
  const lock = await takeOwnership(host, cluster.password)
  if (!lock) return
  tell(context, 'warn', `Ending a database whose registry was killed (process ${pid}).`)
  const isUp = () => isServerOf(cluster.folder, pid)
  if (!isUp()) throw inUse(cluster.dataDir, pid) // it answers, but from a container of its own
  await end(pid, isUp)
  await lock.end().catch(() => {})
}

/** Starts the server again whenever it ends, until we are asked to stop. */
async function supervise(context: Context, first: Owned): Promise<void> {
  const { cluster, signal } = context
  const stop = new Promise<unknown>((resolve) => signal.addEventListener('abort', resolve))
  const logKeeper = setInterval(() => boundLog(cluster), logCheckMs).unref()
  let owned = first
  for (let pause = pauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const start = Date.now()
    await Promise.race([stop, owned.lost, owned.server.exited])
    if (Date.now() - start > steadyMs) pause = pauseMs
    if (!signal.aborted) owned = await regain(context, owned, pause)
    if (signal.aborted) break
  }
  clearInterval(logKeeper)
  await stopServer(owned.server)
}

/** Tries until there is a server with us as its owner again, or we are asked to stop. */
async function regain(context: Context, former: Owned, firstPause: number): Promise<Owned> {
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestRetryMs)) {
    await sleep(pause)
    if (context.signal.aborted) return former
    try {
      return former.server.isUp() ? await ownAgain(context, former) : await restart(context, former)
    } catch (error) {
      if (!context.signal.aborted) tell(context, 'error', (error as Error).message)
    }
  }
}

/** After a crash of one of its processes the server drops all connections and stays. */
async function ownAgain(context: Context, { server }: Owned): Promise<Owned> {
  const { socketFolder, password } = context.cluster
  const lock = await takeOwnership(socketFolder, password)
  if (!lock) throw new Error('The embedded database has dropped its connections; waiting for it.')
  tell(context, 'warn', 'The embedded database has recovered from a crash of one of its processes.')
  return { server, lost: lossOf(lock) }
}

async function restart(context: Context, { server }: Owned): Promise<Owned> {
  const how = await server.exited
  tell(context, 'warn', `The embedded database ended unexpectedly (${how}); starting it again.`)
  return own(context)
}

const tell = ({ onEvent }: Options, level: Event['level'], message: string) =>
  onEvent({ level, message })
