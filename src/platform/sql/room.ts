import sql from 'sql-template-tag'
import { isFull } from './away.ts'

/** What one node takes of the server's connections, at most. */
export type Taking = { databaseConnections: number; worker: boolean }

/** Those of the queue, where a node works on it: see queue.ts. */
export const queueConnections = 5

/** Those of the imports, to write with; and how many read meanwhile. See import/worker.ts. */
export const importConnections = 12
const importReaders = 3

/** A pool to read and one to write with, the bell, one to break statements off with. */
export const connectionsOfNode = ({ databaseConnections, worker }: Taking) =>
  2 * databaseConnections + 2 + (worker ? queueConnections + importConnections + importReaders : 0)

/** Connections the server has for logins like ours, and those that are in use. */
export type Room = { allowed: number; used: number }

/** Since 16 the server may keep some back for others than superusers, too. */
export const roomStatement = sql`
  select current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int as allowed,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`

/** What is wrong with the room there is, in words; undefined where a node fits in. */
export function lackOfRoom({ allowed, used }: Room, taken: number): string | undefined {
  if (taken > allowed)
    return (
      `a node takes up to ${taken} connections and the server allows ${allowed}: raise ` +
      'max_connections, or lower REGISTRY_DATABASE_CONNECTIONS'
    )
  if (used + taken > allowed)
    return (
      `a node takes up to ${taken} connections, and of the ${allowed} that the server allows ` +
      `${used} are in use: raise max_connections, or lower REGISTRY_DATABASE_CONNECTIONS`
    )
  return undefined
}

/** What to do about a server that has refused us a connection, for who runs it; else undefined. */
export function wordsOfFull(error: unknown): string | undefined {
  const refused = [error, (error as Error).cause].find((one) => one && isFull(one))
  if (!refused) return undefined
  return (
    `the database has no connection left (${(refused as Error).message}): raise max_connections, ` +
    'lower REGISTRY_DATABASE_CONNECTIONS, or end what else holds connections (pg_stat_activity)'
  )
}
