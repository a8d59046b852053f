import { totalmem } from 'node:os'
import type { Cluster } from './cluster.ts'

const MB = 1024 * 1024

/** The memory of this machine or of this container, whichever is smaller, in bytes. */
function memory(): number {
  const limit = process.constrainedMemory?.() ?? 0 // 0 or absurdly large: no limit
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

function sharedBuffers(bytes = memory()): string {
  return `${Math.min(2048, Math.max(128, Math.floor(bytes / 8 / MB)))}MB`
}

/**
 * Settings for the command line of postgres, so that no file in the data folder can override them.
 */
export const settings = (cluster: Cluster): Record<string, string> => ({
  // PostgreSQL listens only on a socket, in a folder of the database's user.
  listen_addresses: '',
  unix_socket_directories: `"${cluster.socketFolder.replaceAll('"', '""')}"`,
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  cluster_name: cluster.name,
  // lets other processes see whether this one is still alive
  'registry.starter': String(process.pid),

  // Acknowledged commits are on disk, and half-written pages are repaired.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  data_sync_retry: 'off',
  // After one of its processes crashes, the server ends and our supervisor starts it anew:
  // PostgreSQL 18.4 can hang for ever if it is disturbed while it restarts in place.
  restart_after_crash: 'off',

  max_connections: '100',
  shared_buffers: sharedBuffers(),
  // This build supports only pglz, which takes longer to compress a page than a disk to write it:
  // with it, postings to a million accounts were half as fast after a checkpoint.
  wal_compression: 'off',
  max_wal_size: '4GB',
  checkpoint_completion_target: '0.9',
  random_page_cost: '1.1',
  jit: 'off',
  deadlock_timeout: '200ms',
  client_connection_check_interval: '1s',
  idle_in_transaction_session_timeout: '60s',
  autovacuum_naptime: '10s', // a young registry grows faster than its statistics
  timezone: 'UTC',

  // SQL statements and parameters hold personal data, so the log shows neither.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_timezone: 'UTC',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  // An error goes to its caller only: its message can quote a value, and other people read the log.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_lock_waits: 'on',
  log_startup_progress_interval: '5s', // shows that a long recovery makes progress
  lc_messages: 'C', // our code parses the log
})
