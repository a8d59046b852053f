import { availableParallelism } from 'node:os'
import { defaultPageSize } from '../sql/paging.ts'
import { turns, type Whose } from './turns.ts'

/** A read as far as its turn depends on it: whose it is, and what it asks for. */
type Asked = Whose & { query: unknown }
export type ReadsInTurn = <T>(read: () => Promise<T>, asked: Asked) => Promise<T>

/** Reads that walk over so many rows keep a processor busy for a tenth of a second. */
const long = 5 * defaultPageSize

/**
 * Reads, in turn. Long pages come through a narrower door before that: one caller may have half of
 * the processors busy with them, so that everybody's short calls find one that is free.
 */
export function readTurns(connections: number): ReadsInTurn {
  // Some connections are left for what never waits here: looking sessions up, and health.
  const most = Math.max(1, connections - 3)
  const all = turns({
    most,
    spare: Math.floor(connections / 5),
    longestQueue: 1000,
    full: 'Too many reads are waiting for their turn; try again shortly.',
  })
  const longOnes = turns({
    most: Math.max(1, Math.min(Math.ceil(availableParallelism() / 2) + 1, most - 1)),
    spare: 1,
    longestQueue: 500,
    full: 'Too many long pages are waiting for their turn; try again shortly.',
  })
  return (read, asked) =>
    rowsWalked(asked.query) > long ? longOnes(() => all(read, asked), asked) : all(read, asked)
}

function rowsWalked(query: unknown): number {
  const { PageNumber = 1, PageSize = defaultPageSize } = query as Partial<Record<string, number>>
  return PageNumber * PageSize
}
