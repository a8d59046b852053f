import { Gauge, type Registry } from 'prom-client'
import sql from 'sql-template-tag'
import { importQueue } from '../integration/import/order.ts'
import { deliveryQueue } from '../integration/webhook/attempt.ts'
import type { Sql } from '../platform/sql/handle.ts'

/**
 * How long a scrape waits for the database, in milliseconds: the other metrics must still arrive.
 */
const patience = 3_000

type Jobs = { task: string; state: string; jobs: number; oldest: string | null }
type Upkeep = { task: string; age: string; found: string | null }
type Standby = { standby: string; seconds: string; bytes: string }

/**
 * Prometheus gauges of what only the database knows: the queues, when the last backup and verify
 * ended, and how far standbys are behind. They are read at each scrape. If the reading fails, they
 * are left out and registry_database_up is 0.
 */
export function gaugesOf(register: Registry, handle: Sql): () => Promise<void> {
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `registry_${name}`, help, labelNames, registers: [register] })
  const up = gauge('database_up', '1 when the database answered this scrape.')
  const jobs = gauge('jobs', 'Jobs in the queue.', 'task', 'state')
  const oldest = gauge('oldest_job_age_seconds', 'Since the oldest ready job could run.', 'task')
  const age = gauge('upkeep_age_seconds', 'Since the last backup or verify ended.', 'task')
  const found = gauge('upkeep_found_rows', 'Rows that the last verify found wrong.', 'task')
  const lag = gauge('replication_lag_seconds', 'How far a standby is behind.', 'standby')
  const bytes = gauge('replication_lag_bytes', 'Log that a standby has not applied.', 'standby')
  const all = [jobs, oldest, age, found, lag, bytes]

  const read = async () => {
    const [queue, upkeep, standbys] = await Promise.all([
      handle.query<Jobs>(queueStatement),
      handle.query<Upkeep>(upkeepStatement),
      handle.query<Standby>(standbyStatement),
    ])
    for (const one of all) one.reset()
    for (const { task, state, jobs: count, oldest: since } of queue) {
      jobs.set({ task, state }, count)
      if (state === 'ready') oldest.set({ task }, Number(since))
    }
    for (const { task, age: seconds, found: rows } of upkeep) {
      age.set({ task }, Number(seconds))
      if (rows !== null) found.set({ task }, Number(rows))
    }
    for (const { standby, seconds, bytes: behind } of standbys) {
      lag.set({ standby }, Number(seconds))
      bytes.set({ standby }, Number(behind))
    }
    return true
  }
  return async () => {
    const answered = await Promise.race([read().catch(() => false), after(patience)])
    if (!answered) for (const one of all) one.reset()
    up.set(answered ? 1 : 0)
  }
}

const after = (milliseconds: number) =>
  new Promise<false>((resolve) => {
    setTimeout(() => resolve(false), milliseconds).unref()
  })

const queueStatement = sql`
  select task, state, count(*)::int as jobs, extract(epoch from now() - min(since)) as oldest
  from (
    select j.task_identifier as task, j.run_at as since, case
      when j.locked_at is not null then 'running'
      when j.attempts >= j.max_attempts then 'failed'
      when j.run_at > now() then 'later'
      else 'ready' end as state
    from graphile_worker.jobs j
    union all ${importQueue}
    union all ${deliveryQueue}) q
  group by task, state`

// Backup and verify write an audit record when they end; the index audit_upkeep holds only these.
const upkeepStatement = sql`
  select u.task, extract(epoch from now() - a.occurred_date) as age, a.changes ->> 'found' as found
  from (values ('backup', 'cli backup'), ('verify', 'cli verify')) u (task, operation)
  cross join lateral (
    select * from audit
    where operation in ('cli backup', 'cli verify') and operation = u.operation
    order by occurred_date desc limit 1) a`

// Without the role pg_monitor, PostgreSQL lists the standbys but hides their positions.
const standbyStatement = sql`
  select application_name as standby, coalesce(extract(epoch from replay_lag), 0) as seconds,
    pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) as bytes
  from pg_stat_replication where replay_lsn is not null and not pg_is_in_recovery()`
