import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Item, RefusedRow, Work } from './item.ts'
import type { RowReader } from './reader.ts'
import type { Source } from './row.ts'

/** Rows that are done in one step. */
export type Chunk = {
  items: Item[]
  /** How they are done, ready to begin. */
  work: Work
  /** Rows that are wrong in themselves. */
  refused: RefusedRow[]
  count: number
  lastLine: number
  /** How much of the file is read by the end of it, in percent. */
  percent: number
}

export type HowMany = {
  size: number
  after: number
  /** Gets the work of some rows ready. */
  ready: (items: readonly Item[]) => Work
}

/** The rows of a file after a line, in steps of a size; the next one is read while one is done. */
export async function* chunksOf(
  source: Source,
  reader: RowReader,
  how: HowMany,
): AsyncGenerator<Chunk> {
  const steps = stepsOf(source, reader, how)
  const ask = () => {
    const step = steps.next()
    step.catch(() => {}) // it is told when it is waited for
    return step
  }
  try {
    for (let next = ask(); ; ) {
      const { value, done } = await next
      if (done) return
      next = ask()
      yield value
    }
  } finally {
    await steps.return(undefined)
  }
}

/** Then whoever else waits for this process has a turn: the step before us, for one. */
const rowsAtATime = 50

async function* stepsOf(
  source: Source,
  reader: RowReader,
  { size, after, ready }: HowMany,
): AsyncGenerator<Chunk> {
  const whole = (read: Read): Chunk => ({
    ...read,
    work: ready(read.items),
    percent: percentOf(source),
  })
  let sinceTurn = 0
  let chunk = empty()
  for await (const rows of source.rows)
    for (const row of rows) {
      if (++sinceTurn % rowsAtATime === 0) await othersTurn()
      // What was done before a crash is read again, since the head is above it, and left alone.
      const isDone = row.line <= after
      const read = isDone && chunk.lastLine > 0 ? undefined : reader.read(row)
      chunk.lastLine = row.line
      if (!read || isDone) continue
      chunk.count++
      if ('problems' in read) chunk.refused.push(read)
      else chunk.items.push(read)
      if (chunk.count < size) continue
      yield whole(chunk)
      chunk = { ...empty(), lastLine: row.line }
    }
  reader.finish()
  if (chunk.count > 0) yield whole(chunk)
}

type Read = Omit<Chunk, 'work' | 'percent'>
const empty = (): Read => ({ items: [], refused: [], count: 0, lastLine: 0 })

/** The whole is told when it is done. */
const percentOf = ({ progress }: Source) => Math.min(99, Math.floor(100 * progress()))
