import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { patient } from '../support/patience.ts'

/** A process that we started. Processes are only ended by the id of such a process or its child. */
export type Started = { pid: number; isUp: () => boolean; signal: (name: NodeJS.Signals) => void }

export type Owner = { uid: number; gid: number } | undefined

/** The user for PostgreSQL: it refuses to run as root, so root uses the user of its package. */
export function ownerOfServers(): Owner {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres']).stdout.toString())
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Why the servers' user cannot work below a folder; undefined if it can. */
export function obstacle(folder: string, owner: Owner): string | undefined {
  const { status } = spawnSync('test', ['-x', folder, '-a', '-w', folder], { ...owner, cwd: '/' })
  if (status === 0) return undefined
  return `The user postgres cannot enter ${folder}: set TMPDIR to a folder that all may enter.`
}

type Program = { file: string; args: string[]; log: string; env?: NodeJS.ProcessEnv; owner?: Owner }

const running = new Set<ChildProcess>()

export function start({ file, args, log, env, owner }: Program): Started {
  const { PATH, HOME } = process.env
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, ...env },
    // A Ctrl-C in the terminal is for us alone: we end the others in order.
    detached: true,
    // A clone may lie where only root can enter; whoever else runs a program there cannot begin.
    ...(owner && { ...owner, cwd: '/' }),
  })
  child.on('error', (error) => appendFileSync(log, `${error.message}\n`))
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => appendFileSync(log, text))
  running.add(child)
  child.on('exit', () => running.delete(child))
  return {
    pid: child.pid ?? 0,
    isUp: () => running.has(child),
    signal: (name) => void child.kill(name),
  }
}

export type Node = { url: string; log: string; process: Started }
type Place = { dataDir: string; databaseUrl: string; username: string; password: string }

/** Starts the built service in another process, on a migrated database. */
export async function startNode({ dataDir, databaseUrl, ...first }: Place): Promise<Node> {
  mkdirSync(dataDir, { recursive: true })
  const log = `${dataDir}.log`
  const service = start({
    file: process.execPath,
    args: ['dist/main.js'],
    log,
    env: {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      REGISTRY_DATA_DIR: dataDir,
      REGISTRY_LOG_LEVEL: 'warn',
      REGISTRY_JWT_SECRET: 'a secret that nodes share, for a drill',
      REGISTRY_ENCRYPTION_KEY: Buffer.alloc(32, 'k').toString('base64'),
      REGISTRY_ADMIN_USERNAME: first.username,
      REGISTRY_ADMIN_PASSWORD: first.password,
    },
  })
  const url = await until('the service', () => {
    const said = readFileSync(log, { encoding: 'utf8', flag: 'a+' })
    if (!service.isUp()) throw new Error(`The service ended: ${said}`)
    return /API +(http\S+)/.exec(said)?.[1]
  })
  return { url, log, process: service }
}

/** Ends everything that we started, however this process ends. */
export function atEnd(clear: () => void) {
  process.once('exit', clear)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(1))
}

/** Ends the processes that still run, the last one first. */
export function endAll() {
  for (const child of [...running].reverse()) child.kill('SIGKILL')
}

export const signalPid = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch {
    // It is gone already.
  }
}

/** The postmaster of a data folder and its children; backends are in other process sessions. */
export function postgresOf(dataFolder: string): number[] {
  const file = join(dataFolder, 'postmaster.pid')
  if (!existsSync(file)) return []
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  // The number may be of one long dead, and somebody else's by now.
  if (!read(`/proc/${pid}/cmdline`).includes(dataFolder)) return []
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === pid,
  )
  return [pid, ...children.map(Number)]
}

const parentOf = (pid: string) => Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1])

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The path of a program, if it is installed. */
export const findProgram = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Waits for something that must happen; the limit is generous for slow machines. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const begun = Date.now(); Date.now() - begun < patient(180_000); await sleep(100)) {
    const seen = await look()
    if (seen) return seen
  }
  throw new Error(`Waited in vain for ${what}.`)
}
