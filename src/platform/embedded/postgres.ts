import { existsSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, database, type Event, lossOf, type Owned, own, tell } from './acquire.ts'
import { clusterFolder, port, prepareCluster, serviceLogin, superuser } from './cluster.ts'
import { observe, takeOwnership } from './owner.ts'
import { demandPassword, readPassword } from './password.ts'
import { end, shutdown, starterOf } from './processes.ts'
import { boundLog, stopServer } from './server.ts'

export type Connection = {
  host: string
  port: number
  user: string
  password: string
  database: string
}

/**
 * The superuser's connection, for the launcher and migrations; and the service's, for everything
 * else.
 */
export type Connections = { connection: Connection; service: Connection }
export type EmbeddedPostgres = Connections & { stop(): Promise<void> }

type Options = {
  dataDir: string
  /** Settings beside or instead of our own, for tests. */
  settings?: Record<string, string>
  /** Receives messages for the log; they never contain a secret. */
  onEvent: (event: Event) => void
}

const pauseMs = 100
const longestPauseMs = 1000 // before a server that keeps ending is started again
const longestRetryMs = 10_000 // between tries that fail
const steadyMs = 10_000 // a server that lasted this long is restarted after the shortest pause
const stuckMs = 10_000 // a server that takes no connections for so long, and does not end, hangs
const findMs = 60_000 // how long findEmbedded waits for a server that starts or recovers
const logCheckMs = 600_000

type Passwords = { password: string; servicePassword: string }

const connectionsTo = (host: string, { password, servicePassword }: Passwords): Connections => ({
  connection: { host, port, user: superuser, password, database },
  service: { host, port, user: serviceLogin, password: servicePassword, database },
})

/** Starts and supervises the PostgreSQL under `${dataDir}/postgres`; creates it the first time. */
export async function startEmbedded(options: Options): Promise<EmbeddedPostgres> {
  const { created, ...cluster } = await prepareCluster(options.dataDir)
  if (created) tell(options, 'info', `Created a database in ${cluster.folder}.`)
  const stopping = new AbortController()
  const context = { settings: {}, ...options, cluster, signal: stopping.signal }
  const first = await own(context)
  const supervision = supervise(context, first)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopping.abort()
    await supervision
    tell(options, 'info', 'The embedded database has stopped.')
  }
  return {
    ...connectionsTo(cluster.socketFolder, cluster),
    stop: () => (stopped ??= stop()),
  }
}

/**
 * The connections to an embedded database that another process runs on this folder; undefined if
 * none runs.
 */
export async function findEmbedded(dataDir: string): Promise<Connections | undefined> {
  if (!existsSync(dataDir)) return undefined
  const home = realpathSync(dataDir)
  const password = readPassword(home)
  if (!password) return undefined
  for (const start = Date.now(); Date.now() - start < findMs; await sleep(pauseMs)) {
    const seen = await observe(clusterFolder(home), password)
    if (seen.state === 'owned') {
      const servicePassword = demandPassword(home, 'service-password')
      return connectionsTo(seen.host, { password, servicePassword })
    }
    if (seen.state === 'absent') return undefined
    // If its starter is alive, it is about to become the owner.
    if (seen.state === 'unowned' && starterOf(seen.pid) === undefined) return undefined
  }
  return undefined
}

/** Restarts the server whenever it ends, until we are asked to stop. */
async function supervise(context: Context, first: Owned): Promise<void> {
  const { cluster, signal } = context
  const stop = new Promise<unknown>((resolve) => signal.addEventListener('abort', resolve))
  const logKeeper = setInterval(() => boundLog(cluster), logCheckMs).unref()
  let owned = first
  for (let pause = pauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const start = performance.now()
    await Promise.race([stop, owned.lost, owned.server.exited])
    if (performance.now() - start > steadyMs) pause = pauseMs
    if (!signal.aborted) owned = await regain(context, owned, pause)
    if (signal.aborted) break
  }
  clearInterval(logKeeper)
  await stopServer(owned.server)
}

/** Tries until we own a running server again, or are asked to stop. */
async function regain(context: Context, former: Owned, firstPause: number): Promise<Owned> {
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestRetryMs)) {
    await sleep(pause, undefined, { signal: context.signal }).catch(() => {})
    if (context.signal.aborted) return former
    try {
      return (await ownAgain(context, former)) ?? (await restart(context, former))
    } catch (error) {
      if (!context.signal.aborted) tell(context, 'error', (error as Error).message)
    }
  }
}

/** Takes the lock again if only its connection was lost; undefined once the server has ended. */
async function ownAgain(context: Context, { server }: Owned): Promise<Owned | undefined> {
  const { cluster, signal } = context
  let answered = performance.now()
  for (; server.isUp() && !signal.aborted; await sleep(pauseMs)) {
    const { state } = await observe(cluster.folder, cluster.password)
    const lock =
      state === 'unowned' && (await takeOwnership(cluster.socketFolder, cluster.password))
    if (lock) {
      tell(context, 'warn', 'The embedded database had dropped our connection, and has it back.')
      return { server, lost: lossOf(lock) }
    }
    if (state === 'unowned' || state === 'owned') answered = performance.now()
    if (performance.now() - answered > stuckMs)
      await end(server.pid, server.isUp, shutdown.slice(1))
  }
  return undefined
}

async function restart(context: Context, { server }: Owned): Promise<Owned> {
  context.signal.throwIfAborted()
  const how = await server.exited
  tell(context, 'warn', `The embedded database ended unexpectedly (${how}); starting it again.`)
  return own(context)
}
