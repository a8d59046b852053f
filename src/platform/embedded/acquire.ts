import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Cluster } from './cluster.ts'
import { ensureDatabase, ensureServiceLogin, observe, takeOwnership } from './owner.ts'
import { end, endLeftovers, isServerOf, readPidFile, shutdown, starterOf } from './processes.ts'
import { launch, ready, type Server, stopServer } from './server.ts'

export type Event = { level: 'info' | 'warn' | 'error'; message: string }

export type Context = {
  cluster: Cluster
  /** Settings beside or instead of our own, for tests. */
  settings: Record<string, string>
  onEvent: (event: Event) => void
  /** Aborted when we are asked to stop. */
  signal: AbortSignal
}

/** A server of ours; `lost` when the connection that holds the owner's lock in it has ended. */
export type Owned = { server: Server; lost: Promise<void> }

/** A server without an owner. */
type Found = { state: 'unowned' | 'busy'; pid: number; host: string }

export const database = 'registry'
const patienceMs = 60_000 // for another process to finish what it does to the folder
const pauseMs = 100
// For a server whose starter is gone: to end with it, or to show that it has another owner.
const graceMs = { unowned: 3000, busy: 10_000 }

export const tell = ({ onEvent }: Pick<Context, 'onEvent'>, level: Event['level'], text: string) =>
  onEvent({ level, message: text })

/**
 * Makes us the owner of a server that is our child. Among processes that try at once, the one that
 * gets the lock wins; the others find it taken.
 */
export async function own(context: Context): Promise<Owned> {
  const { cluster, signal } = context
  let obstacle = new Error()
  for (let start = Date.now(); Date.now() - start < patienceMs; await sleep(pauseMs)) {
    signal.throwIfAborted()
    const seen = await observe(cluster.folder, cluster.password)
    if (seen.state === 'owned') throw inUse(cluster.dataDir, seen.owner)
    if (seen.state === 'absent') {
      const started = await startOwn(context)
      if ('server' in started) return started
      obstacle = started
      continue
    }
    const starter = starterOf(seen.pid)
    obstacle = inUse(cluster.dataDir, starter ?? seen.pid)
    const isOrphan = starter === undefined && Date.now() - start > graceMs[seen.state]
    if (isOrphan && (await endOrphan(context, seen))) start = Date.now()
  }
  throw obstacle
}

const inUse = (dataDir: string, pid: number) =>
  new Error(
    `The data folder ${dataDir} is in use by another registry (process ${pid}). ` +
      'Stop it, or set REGISTRY_DATA_DIR to another folder.',
  )

const doesNotStart = ({ logFile }: Cluster, problem: string) =>
  new Error(`The embedded database does not start: ${problem} (see ${logFile}).`)

/** A server of our own, or the reason why it could not be had now but may be at another try. */
async function startOwn(context: Context): Promise<Owned | Error> {
  const { cluster, settings, signal } = context
  const server = launch(cluster, settings)
  const problem = await ready(server, cluster, signal)
  if (problem !== undefined) {
    signal.throwIfAborted()
    const error = doesNotStart(cluster, problem)
    if (mayPass(cluster, problem)) return error
    throw error
  }
  try {
    const lock = await takeOwnership(cluster.socketFolder, cluster.password)
    if (lock) {
      const lost = lossOf(lock)
      await ensureDatabase(lock, database)
      await ensureServiceLogin(lock, cluster.servicePassword)
      tell(context, 'info', `PostgreSQL runs as process ${server.pid}, ${cluster.identity.name}.`)
      return { server, lost }
    }
  } catch (error) {
    await stopServer(server)
    throw error
  }
  await stopServer(server)
  return doesNotStart(cluster, 'another process took it over')
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

/** When the connection that holds the lock ends. */
export const lossOf = (lock: Client) =>
  new Promise<void>((resolve) => lock.once('end', () => resolve()))

/** Ends a server whose owner was killed, so that it can be started under us. */
async function endOrphan(context: Context, { state, pid, host }: Found): Promise<boolean> {
  const { cluster } = context
  // Whoever holds the lock ends it: an owner it may get at the last moment will then step back.
  const lock = state === 'unowned' && (await takeOwnership(host, cluster.password))
  if (state === 'unowned' && !lock) return false
  const isUp = () => isServerOf(cluster.folder, pid) && starterOf(pid) === undefined
  const found = isUp() // else it answers from a container whose processes we cannot see
  if (found) tell(context, 'warn', `Ending a database whose registry was killed (process ${pid}).`)
  // A busy one had the time to end by itself, and may hang.
  await end(pid, isUp, state === 'busy' ? shutdown.slice(1) : shutdown)
  if (lock) await lock.end().catch(() => {})
  return found
}
