import type { Item, RefusedRow } from './item.ts'
import type { RowReader } from './reader.ts'
import type { Source } from './row.ts'

/** Rows that are done in one step. */
export type Chunk = {
  items: Item[]
  /** Rows that are wrong in themselves. */
  refused: RefusedRow[]
  count: number
  lastLine: number
  /** How much of the file is read by the end of it, in percent. */
  percent: number
}

/** The rows of a file after a line, in steps of a size; the next one is read while one is done. */
export async function* chunksOf(
  source: Source,
  reader: RowReader,
  { size, after }: { size: number; after: number },
): AsyncGenerator<Chunk> {
  const steps = stepsOf(source, reader, size, after)
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

async function* stepsOf(
  source: Source,
  reader: RowReader,
  size: number,
  after: number,
): AsyncGenerator<Chunk> {
  let chunk = empty()
  for await (const rows of source.rows)
    for (const row of rows) {
      // What was done before a crash is read again, since the head is above it, and left alone.
      const isDone = row.line <= after
      const read = isDone && chunk.lastLine > 0 ? undefined : reader.read(row)
      chunk.lastLine = row.line
      if (!read || isDone) continue
      chunk.count++
      if ('problems' in read) chunk.refused.push(read)
      else chunk.items.push(read)
      if (chunk.count < size) continue
      yield { ...chunk, percent: percentOf(source) }
      chunk = { ...empty(), lastLine: row.line }
    }
  reader.finish()
  if (chunk.count > 0) yield { ...chunk, percent: percentOf(source) }
}

const empty = (): Chunk => ({ items: [], refused: [], count: 0, lastLine: 0, percent: 0 })

/** The whole is told when it is done. */
const percentOf = ({ progress }: Source) => Math.min(99, Math.floor(100 * progress()))
