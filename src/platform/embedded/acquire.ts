import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Cluster } from './cluster.ts'
import { ensureDatabase, ensureServiceLogin, observe, takeOwnership } from './owner.ts'
import { end, endLeftovers, isServerOf, readPidFile, shutdown, starterOf } from './processes.ts'
import { launch, ready, type Server, stopServer } from './server.ts'

export type Event = { level: 'info' | 'warn' | 'error'; message: string }

export type Context = {
  cluster: Cluster
  /** Additional or overriding settings, for tests. */
  settings: Record<string, string>
  onEvent: (event: Event) => void
  /** Aborted when we are asked to stop. */
  signal: AbortSignal
}

/**
 * A server that we own; `lost` resolves when the connection that holds the owner's lock has ended.
 */
export type Owned = { server: Server; lost: Promise<void> }

/** A server without an owner. */
type Found = { state: 'unowned' | 'busy'; pid: number; host: string }

export const database = 'registry'
const patienceMs = 60_000 // how long we wait for another process to finish its work on the folder
const pauseMs = 100
// How long a server whose starter is gone may take to end by itself or to show another owner.
const graceMs = { unowned: 3000, busy: 10_000 }

export const tell = ({ onEvent }: Pick<Context, 'onEvent'>, level: Event['level'], text: string) =>
  onEvent({ level, message: text })

/**
 * Starts a server as our child and becomes its owner. If several processes try at once, the one
 * that gets the lock wins and the others find the folder in use.
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

/** Starts a server and takes its ownership. Returns an error where a later attempt may succeed. */
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

/** Whether a failed start may succeed later, once a former server's processes or files are gone. */
function mayPass(cluster: Cluster, problem: string): boolean {
  if (/shared memory block/.test(problem)) {
    const former = readPidFile(cluster.folder)
    if (!former || !isServerOf(cluster.folder, former.pid)) endLeftovers(cluster)
    return true
  }
  return /lock file ".*" (already exists|is empty)|Address already in use/.test(problem)
}

/** Resolves when the connection that holds the lock ends. */
export const lossOf = (lock: Client) =>
  new Promise<void>((resolve) => lock.once('end', () => resolve()))

/** Ends a server whose owner was killed, so that we can start it as our child. */
async function endOrphan(context: Context, { state, pid, host }: Found): Promise<boolean> {
  const { cluster } = context
  // Only the holder of the lock ends the server: a process that tries to become its owner at the
  // last moment then finds the lock taken and steps back.
  const lock = state === 'unowned' && (await takeOwnership(host, cluster.password))
  if (state === 'unowned' && !lock) return false
  const isUp = () => isServerOf(cluster.folder, pid) && starterOf(pid) === undefined
  // otherwise the server runs in another container, whose processes we cannot see
  const found = isUp()
  if (found) tell(context, 'warn', `Ending a database whose registry was killed (process ${pid}).`)
  // A busy server has had time to end by itself and may hang, so the fast shutdown is skipped.
  await end(pid, isUp, state === 'busy' ? shutdown.slice(1) : shutdown)
  if (lock) await lock.end().catch(() => {})
  return found
}
