import { totalmem } from 'node:os'
import type { Cluster } from './cluster.ts'

const MB = 1024 * 1024

/** Memory of this machine or of this container, whichever is smaller. */
function memory(): number {
  const limit = process.constrainedMemory?.() ?? 0 // 0 or absurdly large: no limit
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

function sharedBuffers(bytes = memory()): string {
  return `${Math.min(2048, Math.max(128, Math.floor(bytes / 8 / MB)))}MB`
}

/** Given on the command line, so that nothing in the data folder can undo them. */
export const settings = (cluster: Cluster): Record<string, string> => ({
  // Only a socket, in a folder of the database's user.
  listen_addresses: '',
  unix_socket_directories: `"${cluster.socketFolder.replaceAll('"', '""')}"`,
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  cluster_name: cluster.name,
  'registry.starter': String(process.pid), // lets others tell whether we still live

  // What was acknowledged is on disk, and a half-written page is repaired.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  data_sync_retry: 'off',
  // After a crash of one of its processes the server ends, and its supervisor starts it anew:
  // PostgreSQL 18.4 can hang for ever when it is disturbed while it restarts in place.
  restart_after_crash: 'off',

  max_connections: '100',
  shared_buffers: sharedBuffers(),
  // This build has pglz only, which takes longer to shrink a page than a disk to write it: after a
  // checkpoint, postings to a million accounts were half as fast with it.
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

  // Statements and parameters hold personal data, so the log shows neither.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_timezone: 'UTC',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  // An error tells its caller; its words can quote a value, and a log is read by others.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_lock_waits: 'on',
  log_startup_progress_interval: '5s', // how a long recovery tells that it moves
  lc_messages: 'C', // we read the log
})
