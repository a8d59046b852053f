import sql from 'sql-template-tag'

/** The settings that decide how many connections one node takes at most. */
export type Taking = { databaseConnections: number; worker: boolean }

/** The queue's connections, on a node that works on it: see queue.ts. */
export const queueConnections = 5

/** The imports' connections for writing, and for reading meanwhile. See import/worker.ts. */
export const importConnections = 12
const importReaders = 3

/**
 * The pools for reads and for writes, the bell, and one connection that checks a silent server
 * (watch.ts).
 */
export const connectionsOfNode = ({ databaseConnections, worker }: Taking) =>
  2 * databaseConnections + 2 + (worker ? queueConnections + importConnections + importReaders : 0)

/** How many connections the server allows ordinary logins, and how many are in use. */
export type Room = { allowed: number; used: number }

/**
 * Since PostgreSQL 16 the server may also reserve connections for roles that are not superusers.
 */
export const roomStatement = sql`
  select current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int as allowed,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`

/** Says in words why the node's connections do not fit; undefined where they fit. */
export function lackOfRoom({ allowed, used }: Room, taken: number): string | undefined {
  if (taken > allowed)
    return (
      `a node uses up to ${taken} connections and the server allows ${allowed}: raise ` +
      'max_connections, or lower REGISTRY_DATABASE_CONNECTIONS'
    )
  if (used + taken > allowed)
    return (
      `a node uses up to ${taken} connections, and of the ${allowed} that the server allows ` +
      `${used} are in use: raise max_connections, or lower REGISTRY_DATABASE_CONNECTIONS`
    )
  return undefined
}
