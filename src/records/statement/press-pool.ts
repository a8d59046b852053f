import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Issuer } from './letter.ts'
import type { HolderRow } from './parts.ts'

/** The data that all letters of an order have in common. */
export type PressOrder = {
  kindID: number
  shared: unknown
  issuer: Issuer
  logo: Uint8Array | undefined
  moment: Date
}
export type PressTask = { id: number; rows: HolderRow[] }
type Done = { id: number } & ({ letters: Uint8Array[] } | { error: string })

export type Press = {
  /** Prints the letters of some accounts in one of the processes. */
  print: (rows: HolderRow[]) => Promise<Buffer[]>
  /** How many tasks keep all processes busy. */
  width: number
  close: () => void
}

/** Printing takes most of the time, so use at least two processes; more than four gain nothing. */
const processes = Math.min(4, Math.max(2, availableParallelism()))
const tasksEach = 2

/**
 * The options of this process, without those that would start a test run or wait for a debugger.
 */
const options = () => process.execArgv.filter((option) => !/^--(test|inspect)/.test(option))

/**
 * Starts processes that print the letters of one order. They end with the order, or with this
 * process.
 */
export function openPress(order: PressOrder): Press {
  const program = fileURLToPath(
    new URL(import.meta.url.replace(/press-pool(\.[a-z]+)$/, 'press-process$1')),
  )
  const waiting = new Map<number, { resolve: (letters: Buffer[]) => void; reject: Reject }>()
  const failAll = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  let isClosed = false
  const start = (): ChildProcess => {
    const child = fork(program, { serialization: 'advanced', execArgv: options() })
    child.on('message', (done: Done) => {
      const task = waiting.get(done.id)
      waiting.delete(done.id)
      if ('error' in done)
        task?.reject(new Error(`A statement could not be printed: ${done.error}`))
      else task?.resolve(done.letters.map((letter) => Buffer.from(letter)))
    })
    child.on('exit', () => isClosed || failAll(new Error('A process that prints has ended.')))
    child.on('error', failAll)
    child.send({ order })
    return child
  }
  const children = Array.from({ length: processes }, start)
  let last = 0
  return {
    width: processes * tasksEach,
    print: (rows) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve, reject })
        children[id % processes]!.send({ id, rows } satisfies PressTask)
      }),
    close: () => {
      isClosed = true
      for (const child of children) child.kill()
    },
  }
}
type Reject = (error: Error) => void
