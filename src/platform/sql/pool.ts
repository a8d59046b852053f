import pg from 'pg'
import { ByteClient } from './bytes.ts'
import { countConnections } from './lend.ts'

export type DatabaseOptions = {
  connection: pg.PoolConfig
  /** The role whose rights the service uses; it may not change append-only tables. */
  role?: string
  connections: number
  /** Standbys to read from. */
  standbys?: readonly pg.PoolConfig[]
  /** Off where a connection pooler in between does not keep prepared statements. */
  prepareStatements: boolean
  onLostConnection: (error: Error) => void
}

// Dates stay text because they are days, not moments; decimals because a double has fewer digits.
// Ids are the only bigints we read, and they stay below 2^53.
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    asText.has(oid)
      ? (value: string) => value
      : oid === pg.types.builtins.INT8
        ? Number
        : pg.types.getTypeParser(oid, format),
}
const { DATE, TIMESTAMP, TIMESTAMPTZ, JSON: JSON_TYPE, JSONB, NUMERIC, TEXT } = pg.types.builtins
const asText = new Set<number>([DATE, TIMESTAMP, TIMESTAMPTZ, JSON_TYPE, JSONB, NUMERIC, TEXT])

// An index serves every SQL statement. Without sequential scans a plan made while a table was small
// stays right while the table grows, before its statistics are updated; the few SQL statements that
// work on whole tables turn sequential scans on for themselves. Whether a read gets a generic plan
// is left to PostgreSQL. Forced, generic plans would suit point reads (planning a complete entity
// takes 26 ms, reading it 2 ms), but would walk whole tables for a page whose length the plan does
// not know.
const settings = [
  'timezone=UTC',
  'statement_timeout=30s',
  'lock_timeout=10s',
  'enable_seqscan=off',
  'jit=off',
  // A node that was killed, frozen or cut off must not hold locks for long: its running SQL
  // statements end and its open transactions are rolled back.
  'client_connection_check_interval=1s',
  'idle_in_transaction_session_timeout=60s',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  // For Citus, without effect elsewhere: a transaction uses one connection to each worker, so that
  // it sees its own writes; and its `set local` commands apply on the workers too.
  'citus.multi_shard_modify_mode=sequential',
  'citus.propagate_set_commands=local',
  // Only the coordinator writes reference tables (copied to all servers), so it need not ask a
  // worker for a lock as well.
  'citus.allow_modifications_from_workers_to_replicated_tables=off',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/**
 * Opens a pool of connections with the registry's settings; `more` adds options. The pools for
 * reads have connections on which PostgreSQL itself refuses to write.
 */
export function openPool(options: DatabaseOptions, more: string): pg.Pool {
  const role = options.role ? `-c role=${options.role}` : ''
  const pool = new pg.Pool({
    ...options.connection,
    types,
    Client: ByteClient,
    max: options.connections,
    // After a quiet time the first requests need not wait for new connections and plans.
    min: Math.min(4, options.connections),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: `${settings} ${role} ${more}`,
  })
  // A connection of a pool that is closing may still report that the server stops.
  pool.on('error', (error) => pool.ending || options.onLostConnection(error))
  // The pool listens for errors of idle clients only. A connection that breaks between two SQL
  // statements fails the next one; without this listener the error would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  countConnections(pool)
  return pool
}

export const plannedByValues = `
  select set_config('plan_cache_mode', 'auto', false) from pg_extension where extname = 'citus'`
