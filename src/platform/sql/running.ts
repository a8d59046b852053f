import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { earName, lockOf } from './bell.ts'
import type { Fragment, Sql } from './handle.ts'

/**
 * The lock names that every node and every worker holds on its bell connection, whatever its
 * secret: see Bell.
 */
export const nodesName = 'nodes'
export const workersName = 'workers'

/** The processes and the lock names they hold, on this database only. */
export const heldNames: Fragment = sql`
  select pid, (classid::bigint << 32) | objid::bigint as key from pg_locks
  where locktype = 'advisory' and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())`

/** Nodes of versions that held no lock name yet are found by their bell connection. */
const running = sql`
  select pid from (${heldNames}) h where h.key in (${lockOf(nodesName)}, ${lockOf(workersName)})
  union
  select pid from pg_stat_activity
  where datname = current_database() and application_name = ${earName}
  order by pid`

/** Whether any node or worker runs on the database. */
export const isAnyRunning = async ({ query }: Sql) => (await query(running)).length > 0

/** How many nodes and workers run that do not hold a lock name. */
export async function countWithout({ query }: Sql, name: string): Promise<number> {
  const without = await query(sql`
    select 1 from (${running}) r where not exists (
      select 1 from (${heldNames}) h where h.pid = r.pid and h.key = ${lockOf(name)})`)
  return without.length
}

/** In milliseconds; longer than a node takes to stop after it was told to. */
const patience = 12_000

/**
 * Waits until no node or worker is left that started on the old schema. Such a process would go on
 * writing by rules that the pending migrations end, and nobody would notice.
 */
export async function awaitNobody(client: pg.Client, pending: readonly string[]) {
  for (const begun = Date.now(); ; await sleep(250)) {
    const { rows } = await client.query<{ pid: number }>(running)
    if (rows.length === 0) return
    if (Date.now() - begun > patience) throw stillRunning(rows, pending)
  }
}

const stillRunning = (rows: { pid: number }[], pending: readonly string[]) =>
  new Error(
    `The database lacks ${pending.join(', ')}, but processes that started before are still ` +
      'running on it and would go on by the old rules. Stop all nodes, workers and commands, ' +
      'then try again. In PostgreSQL (pg_stat_activity) they are the processes ' +
      `${rows.map(({ pid }) => pid).join(', ')}. See docs/upgrading.md.`,
  )
