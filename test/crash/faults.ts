import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { databasePid, type Program } from '../support/process.ts'

export type Victims = { program: Program; dataDir: string }

/** The processes that get SIGKILL. If the server itself is killed, it must be started again. */
export const faults = {
  'the server': ({ program }: Victims) => program.kill('SIGKILL'),
  'every process of the database': ({ dataDir }: Victims) => killDatabase(dataDir),
  'the postmaster alone': ({ dataDir }: Victims) => kill(databasePid(dataDir)),
  'one backend of the database': ({ dataDir }: Victims) =>
    childrenOf(databasePid(dataDir)).filter(isBackend).slice(0, 1).forEach(kill),
  'the database, and again while it recovers': async ({ dataDir }: Victims) => {
    const first = databasePid(dataDir)
    killDatabase(dataDir)
    for (let tries = 0; tries < 500 && pidOrNone(dataDir) === first; tries++) await sleep(10)
    await sleep(30)
    if (pidOrNone(dataDir) !== first) killDatabase(dataDir)
  },
  'server and database': ({ program, dataDir }: Victims) => {
    killDatabase(dataDir)
    program.kill('SIGKILL')
  },
} as const

export type Fault = keyof typeof faults

function killDatabase(dataDir: string) {
  const pid = pidOrNone(dataDir)
  if (pid === undefined) return
  const children = childrenOf(pid)
  for (const one of [pid, ...children]) kill(one)
}

const isBackend = (pid: number) =>
  / registry (\[local\]|\S+) /.test(`${textOf(`/proc/${pid}/cmdline`)} `)

/** The children of a process. Only Linux lists them; elsewhere they notice that it has ended. */
function childrenOf(parent: number): number[] {
  if (!existsSync('/proc/self/status')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => textOf(`/proc/${name}/status`).includes(`\nPPid:\t${parent}\n`))
    .map(Number)
}

const pidOrNone = (dataDir: string) => {
  try {
    return databasePid(dataDir) || undefined
  } catch {
    return undefined // no database runs at this moment
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // it has ended
  }
}

function kill(pid: number) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
