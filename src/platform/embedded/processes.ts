import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'

/** The content of postmaster.pid, which postgres writes into its folder. */
export type PidFile = { pid: number; socketFolder: string; status: string }

export function readPidFile(folder: string): PidFile | undefined {
  const lines = readText(join(folder, 'postmaster.pid')).split('\n')
  const pid = Number(lines[0])
  if (!pid) return undefined
  return { pid, socketFolder: lines[4] ?? '', status: (lines[7] ?? '').trim() }
}

/** The text of a file; empty if it cannot be read. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Whether process `pid` is the postgres of this folder, not another process that reuses its number.
 */
export const isServerOf = (folder: string, pid: number) =>
  processInfo(pid)?.commandLine.includes(` -D ${folder} -p `) ?? false

/**
 * The process that started this server and is still its parent; undefined if that process is gone.
 */
export function starterOf(pid: number): number | undefined {
  const { parent, commandLine = '' } = processInfo(pid) ?? {}
  const starter = Number(/registry\.starter=(\d+)/.exec(commandLine)?.[1])
  // When a process ends, its children get another parent.
  return starter === parent ? starter : undefined
}

function processInfo(pid: number): { parent: number; commandLine: string } | undefined {
  if (process.platform === 'linux') {
    const parent = Number(/^PPid:\s*(\d+)/m.exec(readText(`/proc/${pid}/status`))?.[1])
    return { parent, commandLine: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ') }
  }
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'ppid=,args=', '-p', String(pid)])
  const [, parent, commandLine] = /^\s*(\d+)\s+(.*)/.exec(String(stdout)) ?? []
  return commandLine === undefined ? undefined : { parent: Number(parent), commandLine }
}

/** Signals of growing force: a fast shutdown, an immediate shutdown, a kill. */
export const shutdown = [
  { signal: 'SIGINT', patience: 20_000 },
  { signal: 'SIGQUIT', patience: 10_000 },
  { signal: 'SIGKILL', patience: 5000 },
]

export async function end(pid: number, isUp: () => boolean, steps = shutdown): Promise<void> {
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
 * Ends the processes that a killed postmaster left behind. Idle ones notice by themselves, but a
 * process busy with a query goes on and holds the shared memory that the next postmaster waits for.
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
