import type pg from 'pg'
import { isFull, noConnectionLeft, unreachable } from './away.ts'

/**
 * How long, in milliseconds, a pool stays at its present size after the server refused it a
 * connection.
 */
const pause = 2_000

const established = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** Tracks the pool's established connections, as opposed to those only requested. */
export function countConnections(pool: pg.Pool) {
  const there = new Set<pg.PoolClient>()
  established.set(pool, there)
  pool.on('connect', (client) => void there.add(client))
  pool.on('remove', (client) => void there.delete(client))
}

/**
 * Takes a connection from the pool. Where the server refuses a new connection, the caller waits for
 * one of the pool's existing connections. These come free within milliseconds, so refusing the
 * request would turn a slowdown into an outage.
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

/**
 * Shrinks the pool to its existing connections for a while: repeated attempts by every waiting
 * caller would burden a full server further.
 */
function makeDo(pool: pg.Pool, connections: number) {
  const { max } = pool.options
  if (connections >= max) return
  pool.options.max = connections
  setTimeout(() => {
    pool.options.max = Math.max(max, pool.options.max)
  }, pause).unref()
}
