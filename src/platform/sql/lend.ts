import type pg from 'pg'
import { isFull, noConnectionLeft, unreachable } from './away.ts'

/** How long a pool that was refused one more connection makes do with those it has. */
const pause = 2_000

const established = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** Knows from now on which connections of the pool are there, and not only asked for. */
export function countConnections(pool: pg.Pool) {
  const there = new Set<pg.PoolClient>()
  established.set(pool, there)
  pool.on('connect', (client) => void there.add(client))
  pool.on('remove', (client) => void there.delete(client))
}

/**
 * A connection of the pool. Where the server has none left, whoever would have got a new one takes
 * their turn at those that are there: to be refused while they come free within milliseconds would
 * make an outage of what is only slower.
 */
export async function lend(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    if (!isFull(error)) throw unreachable(error)
    const there = established.get(pool)?.size ?? 0
    makeDo(pool, Math.max(1, there))
    if (there === 0) throw noConnectionLeft(error)
    return pool.connect().catch(() => {
      throw noConnectionLeft(error)
    })
  }
}

/** Asked over and over by everybody who waits, a full server would have that to do as well. */
function makeDo(pool: pg.Pool, connections: number) {
  const { max } = pool.options
  if (connections >= max) return
  pool.options.max = connections
  setTimeout(() => {
    pool.options.max = Math.max(max, pool.options.max)
  }, pause).unref()
}
