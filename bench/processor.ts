import { readFileSync } from 'node:fs'
import pg from 'pg'
import type { Service } from './service.ts'

/** Processor time in microseconds, of a server's process and of PostgreSQL's. */
export type Used = { node: number; database: number }

/**
 * What a load used of the processors for each request. On a machine that others use, too, this
 * tells more than how many there were a second: that depends on who else wanted them meanwhile, and
 * a server of ten busy database processes gets more of a crowded machine than one of two.
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

/** What each process used so far, by its id. */
type Ticks = ReadonlyMap<number, number>

/** Of those that are there still: connections that rested are closed meanwhile. */
const since = (before: Ticks, after: Ticks) =>
  [...after].reduce((sum, [pid, ticks]) => sum + ticks - (before.get(pid) ?? 0), 0)

async function ticksOf({ pids, connection }: Service): Promise<Record<keyof Used, Ticks>> {
  const client = new pg.Client(connection)
  await client.connect()
  // Background processes, too: they write what the others have logged.
  const { rows } = await client
    .query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()')
    .finally(() => client.end())
  return { node: used(pids()), database: used(rows.map(({ pid }) => pid)) }
}

const microsecondsOfTick = 10_000

/** The 14th and 15th figure of a process: what it used itself, and the kernel for it. */
const used = (pids: readonly number[]): Ticks =>
  new Map(
    pids.map((pid) => {
      const figures = figuresOf(pid)
      return [pid, Number(figures[11] ?? 0) + Number(figures[12] ?? 0)]
    }),
  )

/** None of one that has just ended: PostgreSQL's own workers come and go. */
function figuresOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
  } catch {
    return []
  }
}
