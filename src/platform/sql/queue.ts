import { Logger, type Runner, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import sql from 'sql-template-tag'
import type { Tx } from './handle.ts'
import { queueConnections } from './room.ts'

/**
 * The job queue. A job is added in the transaction that needs it, and wakes a worker within
 * milliseconds of the commit. The queue only wakes: the work to do and its progress stand in the
 * registry's own tables. The queue's schema belongs to the owner's login; its workers use the
 * service's login.
 */
export async function migrateQueue(connection: pg.ClientConfig) {
  const pool = openQueuePool(connection)
  try {
    await runMigrations({ pgPool: pool, logger: quiet })
    await pool.query(admitWorkers)
  } finally {
    await pool.end()
  }
}

/** The queue's row-level security admits only its owner; its workers run as the service. */
const admitWorkers = `
  grant usage on schema graphile_worker to registry_service;
  grant select, insert, update, delete on all tables in schema graphile_worker to registry_service;
  grant usage on all sequences in schema graphile_worker to registry_service;
  do $$
  declare
    kept record;
  begin
    for kept in
      select oid::regclass as name from pg_class
      where relnamespace = 'graphile_worker'::regnamespace and relrowsecurity
        and not exists (select 1 from pg_policy where polrelid = pg_class.oid)
    loop
      execute format(
        'create policy workers on %s to registry_service using (true) with check (true)',
        kept.name);
    end loop;
  end $$`

/** Adds a job; it replaces a queued job under the same key. */
export const queueJob = (tx: Tx, task: string, payload: object, key: string) =>
  tx.query(sql`select queue_job(${task}, ${JSON.stringify(payload)}::json, ${key})`)

export type Task = (payload: unknown, signal: AbortSignal) => Promise<void>

/** Tasks that share a limit on how many run at once; other crews do not wait for them. */
export type Crew = { tasks: Record<string, Task>; concurrency: number }

export type QueueOptions = {
  connection: pg.ClientConfig
  crews: readonly Crew[]
  onTrouble: (message: string) => void
}

/** How long a task may continue after a stop before its signal is aborted, in milliseconds. */
const patience = 4_000
/** The pause between attempts to reach a database that is away, in milliseconds. */
const pause = 2_000

/** Works on the queue until it is stopped, through restarts of the database. */
export function startQueue(options: QueueOptions): () => Promise<void> {
  let stopped = false
  const runners = new Set<Runner>()
  // A runner may have stopped by itself.
  const stopAll = () => Promise.all([...runners].map((one) => one.stop().catch(() => {})))
  const wake = new AbortController()
  // If the database goes away while we stop, nobody needs to hear of it.
  const trouble = (message: string) => void (stopped || options.onTrouble(message))
  const work = async () => {
    while (!stopped) {
      const pool = openQueuePool(options.connection, trouble)
      try {
        for (const crew of options.crews) runners.add(await begin(pool, crew))
        if (stopped) await stopAll()
        await Promise.race([...runners].map(({ promise }) => promise))
      } catch (error) {
        trouble((error as Error).message)
      } finally {
        await stopAll()
        await Promise.allSettled([...runners].map(({ promise }) => promise))
        runners.clear()
        await pool.end().catch(() => {})
      }
      if (!stopped) await rest(wake.signal)
    }
  }
  const done = work()
  return async () => {
    stopped = true
    wake.abort()
    await stopAll()
    await done
  }
}

const begin = (pgPool: pg.Pool, { tasks, concurrency }: Crew) =>
  run({
    pgPool,
    concurrency,
    noHandleSignals: true,
    pollInterval: 2_000,
    logger: quiet,
    gracefulShutdownAbortTimeout: patience,
    preset: { worker: together },
    taskList: Object.fromEntries(
      Object.entries(tasks).map(([name, task]) => [
        name,
        (payload: unknown, { abortSignal }: { abortSignal?: AbortSignal }) =>
          task(payload, abortSignal ?? new AbortController().signal),
      ]),
    ),
  })

// A delay of 0 reports the end of a job at once, but by graphile-worker's path for several jobs.
// Its path for one job drops the promise, so a database that is away at that moment would end the
// whole process.
const together = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }

const rest = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, pause)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

function openQueuePool(
  connection: pg.ClientConfig,
  onTrouble: (message: string) => void = () => {},
) {
  const pool = new pg.Pool({
    ...connection,
    max: queueConnections,
    application_name: 'registry-queue',
  })
  pool.on('error', ({ message }) => onTrouble(message))
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

// Tasks write to our own log; the queue's logger would name every job.
const quiet = new Logger(() => () => {})
