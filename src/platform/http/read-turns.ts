import { availableParallelism } from 'node:os'
import { defaultPageSize } from '../sql/paging.ts'
import { turns, type Whose } from './turns.ts'

/** What a read's turn depends on: its caller and its query. */
type Asked = Whose & { query: unknown }
export type ReadsInTurn = <T>(read: () => Promise<T>, asked: Asked) => Promise<T>

/** A read that walks over more rows than this keeps a processor busy for a tenth of a second. */
const long = 5 * defaultPageSize

/**
 * The queue of reads. Long pages first wait in a narrower queue: one caller may keep half of the
 * processors busy with them, so that everybody's short reads find a free one.
 */
export function readTurns(connections: number): ReadsInTurn {
  // Some connections are left for reads that never wait here: session look-ups and the health
  // check.
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
