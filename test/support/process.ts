import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { patient } from './patience.ts'

/** A program of ours in another process, as an operator starts it. */
export type Program = {
  pid: number
  input: Writable
  output: () => string
  errors: () => string
  /** The exit code; null when a signal ended it. */
  exited: Promise<number | null>
  isUp: () => boolean
  kill: (signal: NodeJS.Signals) => void
}

type Environment = Record<string, string>

const running = new Map<ChildProcess, Promise<unknown>>()
const folders: string[] = []
const endAll = () => {
  for (const child of running.keys()) child.kill('SIGKILL')
}
// However the tests end, no process that they started outlives them.
after(async () => {
  endAll()
  await Promise.all(running.values())
  await Promise.all(folders.map(removeFolder))
})
process.on('exit', endAll)
process.once('SIGTERM', () => process.exit(1))

/** An environment without the tester's own settings. */
const cleanEnvironment = () => {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) }
}

/** Starts Node with these arguments. */
export const start = (args: string[], env: Environment) => startCommand(process.execPath, args, env)

export function startCommand(file: string, args: string[], env: Environment): Program {
  const child = spawn(file, args, { env: { ...cleanEnvironment(), ...env } })
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  child.stdin.on('error', () => {}) // it may end without having read anything
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(() => running.delete(child))
  running.set(child, exited)
  return {
    pid: child.pid!,
    input: child.stdin,
    output: () => output,
    errors: () => errors,
    exited,
    isUp: () => running.has(child),
    kill: (signal) => child.kill(signal),
  }
}

const runner = join('scripts', 'run.mjs')

/** Waits for something that must happen; the time limit is generous on purpose. */
export async function until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const begun = Date.now(); Date.now() - begun < patient(120_000); await sleep(20)) {
    const seen = await look()
    if (seen) return seen
  }
  throw new Error(`Waited in vain for ${what}.`)
}

/** Starts the service, and returns once it says where it listens. */
export const startRegistry = (env: Environment) => listening(startProgram(env))

/** Starts the service as `npm start` does, without waiting; also for a start that must fail. */
export const startProgram = (env: Environment) =>
  start([runner, 'main'], { ...registryDefaults, ...env })

/** Starts a worker: a process that only does jobs. */
export const startWorker = (env: Environment) =>
  start([runner, 'worker'], { ...registryDefaults, ...env })

/** Starts the service through npm itself. */
export const npmStart = (env: Environment) =>
  listening(startCommand('npm', ['start'], { ...registryDefaults, ...env }))

const registryDefaults = { PORT: '0', REGISTRY_LOG_LEVEL: 'silent' }

async function listening(program: Program): Promise<Program & { url: string }> {
  const url = await until('the service to listen', () => {
    if (!program.isUp()) throw new Error(`The service ended: ${program.errors()}`)
    return /^ {2}API +(http\S+)$/m.exec(program.output())?.[1]
  })
  return { ...program, url }
}

export const cliCommand = (args: string[]) => [runner, 'operations/cli/cli', ...args]

/** Runs a command of the command line tool to its end. */
export const runCli = async (args: string[], env: Environment, input = '') => {
  const program = start(cliCommand(args), env)
  program.input.end(input)
  const code = await program.exited
  return { code, output: program.output(), errors: program.errors() }
}

/** A data folder that is removed when the tests of the file have ended. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'registry-start-'))
  folders.push(folder)
  return folder
}

/** The process id of the embedded PostgreSQL of a data folder. */
export const databasePid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])

/** Removes a data folder, with the database that a killed service may have left in it. */
async function removeFolder(dataDir: string) {
  try {
    process.kill(databasePid(dataDir), 'SIGQUIT')
  } catch {
    // The folder has no database, or the database has ended.
  }
  await until('the data folder to go', () => {
    try {
      rmSync(dataDir, { recursive: true, force: true })
      return true
    } catch {
      return false // the database is still writing to it
    }
  })
}
