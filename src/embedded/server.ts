import { spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { program } from './binaries.ts'
import { type Cluster, cleanEnvironment, port } from './cluster.ts'
import { isAlive } from './drafts.ts'
import { settings } from './settings.ts'

/** A running postgres (the postmaster) that is our child. */
export type Server = {
  pid: number
  isUp(): boolean
  /** Resolves with how it ended. */
  exited: Promise<string>
  /** Where in the log its words begin. */
  logStart: number
}

/** What postgres writes about itself into its folder. */
export type PidFile = { pid: number; socketFolder: string; status: string }

const patienceMs = 60_000
const logLimitBytes = 10 * 1024 * 1024

export function readPidFile(folder: string): PidFile | undefined {
  const lines = readText(join(folder, 'postmaster.pid')).split('\n')
  const pid = Number(lines[0])
  if (!pid) return undefined
  return { pid, socketFolder: lines[4] ?? '', status: (lines[7] ?? '').trim() }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Whether process `pid` is the postgres of this folder, and not a stranger that got its number. */
export function isServerOf(folder: string, pid: number): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  return readText(`/proc/${pid}/cmdline`).split('\0').includes(folder)
}

/** Starts postgres; `ready` tells when it can be used. */
export function launch(cluster: Cluster, extra: Record<string, string>): Server {
  removeEmptyPidFile(cluster.folder)
  const all = Object.entries({ ...settings(cluster), ...extra })
  const [file = '', ...args] = [
    ...cluster.identity.prefix,
    program(cluster.binaries, 'postgres'),
    ...['-D', cluster.folder, '-p', String(port)],
    ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  boundLog(cluster)
  const logStart = size(cluster.logFile)
  const log = openSync(cluster.logFile, 'a', 0o600)
  const child = spawn(file, args, {
    ...cluster.identity.spawn,
    cwd: cluster.dataDir,
    env: { ...cleanEnvironment(), ...strangerPid(cluster.folder) },
    stdio: ['ignore', log, log],
    detached: true, // Ctrl-C in a terminal is for us: requests under way still need the database
  })
  closeSync(log)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  let up = child.pid !== undefined
  exited.then(() => {
    up = false
  })
  return { pid: child.pid ?? 0, isUp: () => up, exited, logStart }
}

/** Left by a postgres killed at its first breath; the next one would refuse to start for ever. */
function removeEmptyPidFile(folder: string): void {
  const file = join(folder, 'postmaster.pid')
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.size === 0 && Date.now() - found.mtimeMs > 2000) rmSync(file, { force: true })
}

/**
 * A postgres that was killed leaves its number behind, and postgres will not start while any
 * process of the same user has that number (in a container one soon does). Its own grandparent it
 * overlooks, and takes our word for which number that is.
 */
function strangerPid(folder: string): { PG_GRANDPARENT_PID?: string } {
  const former = readPidFile(folder)
  if (!former || isServerOf(folder, former.pid)) return {}
  return { PG_GRANDPARENT_PID: String(former.pid) }
}

/**
 * Waits until the server takes connections; undefined then, else the reason why it never will.
 * Recovery after a crash takes as long as it takes: only silence in the log counts against it.
 */
export async function ready(
  server: Server,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  let seen = server.logStart
  let deadline = Date.now() + patienceMs
  while (server.isUp()) {
    if (signal.aborted || Date.now() > deadline) {
      await stopServer(server)
      return signal.aborted ? 'stopped' : `no sign of life for ${patienceMs / 1000} s`
    }
    const pidFile = readPidFile(cluster.folder)
    if (pidFile?.pid === server.pid && pidFile.status === 'ready') return undefined
    await sleep(20)
    if (size(cluster.logFile) === seen) continue
    seen = size(cluster.logFile)
    deadline = Date.now() + patienceMs
  }
  return lastWords(server, cluster) || (await server.exited)
}

function lastWords({ logStart }: Server, { logFile }: Cluster): string {
  const said = readFileSync(logFile).subarray(logStart).toString().trim()
  return said.split('\n').slice(-3).join(' ')
}

const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Fast shutdown; a server that does not follow is stopped hard and recovers at its next start. */
export async function stopServer(server: Server): Promise<void> {
  await end(server.pid, server.isUp)
  await server.exited
}

/** Ends a process by signals of growing force. */
export async function end(pid: number, isUp: () => boolean): Promise<void> {
  const steps = [
    { signal: 'SIGINT', patience: 20_000 },
    { signal: 'SIGQUIT', patience: 10_000 },
    { signal: 'SIGKILL', patience: 5000 },
  ]
  for (const { signal, patience } of steps) {
    if (isUp()) kill(pid, signal)
    for (const start = Date.now(); isUp() && Date.now() - start < patience; ) await sleep(10)
  }
}

function kill(pid: number, signal: string): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself.
  }
}

/**
 * Ends what a killed postmaster left behind. Idle processes notice by themselves, but one that is
 * busy with a query works on and holds the memory that the next postmaster waits for.
 */
export function endLeftovers(cluster: Cluster): void {
  if (process.platform !== 'linux') return
  for (const name of readdirSync('/proc')) {
    const title = /^\d+$/.test(name) ? readText(`/proc/${name}/cmdline`) : ''
    if (!title.startsWith(`postgres: ${cluster.name}: `)) continue
    const owner = statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid
    if (owner === cluster.identity.uid) kill(Number(name), 'SIGQUIT')
  }
}

/** Keeps the log small, also under a running server, which appends to the same file. */
export function boundLog({ logFile }: Cluster): void {
  if (size(logFile) < logLimitBytes) return
  copyFileSync(logFile, `${logFile}.1`)
  truncateSync(logFile)
}
