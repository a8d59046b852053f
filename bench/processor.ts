import { readFileSync } from 'node:fs'
import pg from 'pg'
import type { Service } from './service.ts'

/** Processor time in microseconds, of the service's processes and of PostgreSQL's. */
export type Used = { node: number; database: number }

/**
 * The processor time that a load used for each request. On a machine that others use, too, this
 * says more than requests a second: that rate depends on what else ran meanwhile, and a server with
 * ten busy database processes gets a larger share of a crowded machine than a server with two.
 */
export async function using(
  service: Service,
  requests: () => number | Promise<number>,
): Promise<Used> {
  const before = await ticksOf(service)
  const count = await requests()
  const after = await ticksOf(service)
  const each = (name: keyof Used) => (microsecondsOfTick * since(before[name], after[name])) / count
  return { node: each('node'), database: each('database') }
}

/** The clock ticks that each process has used so far, by process id. */
type Ticks = ReadonlyMap<number, number>

/** The ticks used since `before` by the processes that still exist; idle ones may have ended. */
const since = (before: Ticks, after: Ticks) =>
  [...after].reduce((sum, [pid, ticks]) => sum + ticks - (before.get(pid) ?? 0), 0)

async function ticksOf({ pids, connection }: Service): Promise<Record<keyof Used, Ticks>> {
  const client = new pg.Client(connection)
  await client.connect()
  // Background processes count, too: they write what the other processes have logged.
  const { rows } = await client
    .query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()')
    .finally(() => client.end())
  return { node: used(pids()), database: used(rows.map(({ pid }) => pid)) }
}

const microsecondsOfTick = 10_000

/** Adds utime and stime, the 14th and 15th field of /proc/PID/stat: user and kernel time. */
const used = (pids: readonly number[]): Ticks =>
  new Map(
    pids.map((pid) => {
      const figures = figuresOf(pid)
      return [pid, Number(figures[11] ?? 0) + Number(figures[12] ?? 0)]
    }),
  )

/** The fields after the process name; none if it has just ended, as PostgreSQL's workers do. */
function figuresOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
  } catch {
    return []
  }
}
