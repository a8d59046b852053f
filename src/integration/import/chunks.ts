import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Item, RefusedRow, Work } from './item.ts'
import type { RowReader } from './reader.ts'
import type { Source } from './row.ts'

/** The rows of one step. */
export type Chunk = {
  items: Item[]
  /** The prepared work that does the items. */
  work: Work
  /** Rows that are refused without asking the database. */
  refused: RefusedRow[]
  count: number
  lastLine: number
  /** How much of the file is read by the end of the chunk, in percent. */
  percent: number
}

export type HowMany = {
  size: number
  after: number
  /** Prepares the work of some rows. */
  ready: (items: readonly Item[]) => Work
}

/** The rows after a line of a file, in chunks. While a chunk is done, the next one is read. */
export async function* chunksOf(
  source: Source,
  reader: RowReader,
  how: HowMany,
): AsyncGenerator<Chunk> {
  const steps = stepsOf(source, reader, how)
  const ask = () => {
    const step = steps.next()
    step.catch(() => {}) // the error is thrown where `step` is awaited
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

/** After this many rows, other work of this process gets a turn, such as the previous step. */
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
      // Rows done before a crash are skipped. Reading starts at the top, because of the head.
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

/** At most 99: 100 percent is only reported when the import has ended. */
const percentOf = ({ progress }: Source) => Math.min(99, Math.floor(100 * progress()))
