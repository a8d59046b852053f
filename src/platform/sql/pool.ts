import pg from 'pg'
import { ByteClient } from './bytes.ts'
import { countConnections } from './lend.ts'

export type DatabaseOptions = {
  connection: pg.PoolConfig
  /** The role whose rights the service has; it may not touch what is append-only. */
  role?: string
  connections: number
  /** Standbys to read from. */
  standbys?: readonly pg.PoolConfig[]
  /** Off where a pooler in between does not keep statements. */
  prepareStatements: boolean
  onLostConnection: (error: Error) => void
}

// A date is a day, not a moment, and a decimal has more digits than a double: both stay text.
// Ids are the only bigint we read, and stay below 2^53.
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

// Everything we ask has an index behind it. Without sequential scans a plan made while a table was
// small stays right while it grows, before anybody has counted its rows; the few statements that
// work on whole tables turn them on for themselves. Which reads get one plan for any values is left
// to PostgreSQL's own judgement: forced, it would suit point reads (to plan a complete entity takes
// 26 ms, to read it 2) but walk whole tables for a page whose length it does not know.
const settings = [
  'timezone=UTC',
  'statement_timeout=30s',
  'lock_timeout=10s',
  'enable_seqscan=off',
  'jit=off',
  // A node that was killed, frozen or cut off must not hold locks for long: what it asked for ends,
  // and what it left open is undone.
  'client_connection_check_interval=1s',
  'idle_in_transaction_session_timeout=60s',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
  // For Citus, and without a meaning elsewhere: one connection to a worker for each transaction, so
  // that it sees what it has written; and what a transaction sets for itself holds there, too.
  'citus.multi_shard_modify_mode=sequential',
  'citus.propagate_set_commands=local',
  // The coordinator alone writes tables that all servers have copies of: it need not ask a worker
  // for a lock, too.
  'citus.allow_modifications_from_workers_to_replicated_tables=off',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/** Reads have connections of their own on which PostgreSQL itself refuses to write. */
export function openPool(options: DatabaseOptions, more: string): pg.Pool {
  const role = options.role ? `-c role=${options.role}` : ''
  const pool = new pg.Pool({
    ...options.connection,
    types,
    Client: ByteClient,
    max: options.connections,
    // After a rest the first to call need not wait for connections, and plans, to be made.
    min: Math.min(4, options.connections),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: `${settings} ${role} ${more}`,
  })
  // One that we are closing may still hear that the server stops.
  pool.on('error', (error) => pool.ending || options.onLostConnection(error))
  // The pool listens to idle clients only. One that breaks between two statements tells the next
  // of them; without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  countConnections(pool)
  return pool
}

export const plannedByValues = `
  select set_config('plan_cache_mode', 'auto', false) from pg_extension where extname = 'citus'`
