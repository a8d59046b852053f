import { spawn } from 'node:child_process'
import { closeSync, copyFileSync, openSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { program } from './binaries.ts'
import { type Cluster, port } from './cluster.ts'
import { cleanEnvironment } from './identity.ts'
import { end, isServerOf, readPidFile, readText } from './processes.ts'
import { settings } from './settings.ts'

/** A running postgres (the postmaster) that is our child process. */
export type Server = {
  pid: number
  isUp(): boolean
  /** Resolves with a text that tells how it ended. */
  exited: Promise<string>
  /** The position in the log file where this server's lines begin. */
  logStart: number
}

const patienceMs = 60_000
const logLimitBytes = 10 * 1024 * 1024

/** Starts postgres; `ready` waits until it can be used. */
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
    // Ctrl-C in a terminal must reach us only: requests under way still need the database
    detached: true,
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

/**
 * Removes an empty postmaster.pid. A postgres that is killed right after its start leaves one, and
 * the next postgres would refuse to start for ever.
 */
function removeEmptyPidFile(folder: string): void {
  const file = join(folder, 'postmaster.pid')
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.size === 0 && Date.now() - found.mtimeMs > 2000) rmSync(file, { force: true })
}

/**
 * A killed postgres leaves its process number in postmaster.pid. The next postgres refuses to start
 * while any process of the same user has that number, which in a container happens soon. It ignores
 * the number of its grandparent, and this variable tells it which number that is.
 */
function strangerPid(folder: string): { PG_GRANDPARENT_PID?: string } {
  const former = readPidFile(folder)
  if (!former || isServerOf(folder, former.pid)) return {}
  return { PG_GRANDPARENT_PID: String(former.pid) }
}

/**
 * Waits until the server accepts connections; then returns undefined, otherwise the reason why it
 * never will. Recovery after a crash may take any time: only silence in the log counts against it.
 */
export async function ready(
  server: Server,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  let [seen, word] = [server.logStart, '']
  let deadline = Date.now() + patienceMs
  for (; server.isUp(); await sleep(20)) {
    if (signal.aborted || Date.now() > deadline) {
      await stopServer(server)
      return signal.aborted ? 'stopped' : `it says nothing after "${word}"`
    }
    const pidFile = readPidFile(cluster.folder)
    if (pidFile?.pid === server.pid && pidFile.status === 'ready') return undefined
    if (size(cluster.logFile) === seen) continue
    seen = size(cluster.logFile)
    const latest = words(server, cluster).findLast((line) => line.includes(' LOG:  ')) ?? ''
    // only lines about refused connections were added, which show no progress
    if (latest === word) continue
    word = latest
    deadline = Date.now() + (word.includes('starting: end-of-recovery') ? 10 : 1) * patienceMs
  }
  return lastWords(words(server, cluster)).join(' ') || (await server.exited)
}

/**
 * The last fatal line and the last three lines: the cause (a full disk, for example) comes before
 * the lines that tell how the server ended.
 */
function lastWords(lines: string[]): string[] {
  const causes = lines.filter((line) => / (FATAL|PANIC): {2}/.test(line)).slice(-1)
  return [...new Set([...causes, ...lines.slice(-3)])]
}

const words = ({ logStart }: Server, { logFile }: Cluster) =>
  Buffer.from(readText(logFile)).subarray(logStart).toString().trim().split('\n')

const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * Requests a fast shutdown; a server that does not obey is killed and recovers at its next start.
 */
export async function stopServer(server: Server): Promise<void> {
  await end(server.pid, server.isUp)
  await server.exited
}

/** Keeps the log small, also while a server runs: it appends to the same file. */
export function boundLog({ logFile }: Cluster): void {
  if (size(logFile) < logLimitBytes) return
  try {
    copyFileSync(logFile, `${logFile}.1`)
    truncateSync(logFile)
  } catch {
    // A full disk is no reason to fail; the next attempt may succeed.
  }
}
