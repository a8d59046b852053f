import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql as Statement } from 'sql-template-tag'
import type { Connection } from '../src/embedded/postgres.ts'
import type { Service } from './service.ts'

export type Load = { perSecond: number; p50: number }

/** What one request of a load is, in Lua: `n` is a random number up to the register's size. */
export type Call = { method: string; path: string; body?: string }

/**
 * Calls over keep-alive connections for some seconds, by wrk: a process of its own that leaves most
 * of the machine to the server.
 */
export function load(
  service: Service,
  call: Call,
  size: number,
  connections = 64,
  seconds = 5,
): Load {
  const script = `
    math.randomseed(os.time())
    local headers = { Authorization = "${service.token}", Version = "2.0" }
    ${call.body ? 'headers["Content-Type"] = "application/json"' : ''}
    request = function()
      local n = math.random(1, ${size})
      return wrk.format("${call.method}", ${call.path}, headers, ${call.body ?? 'nil'})
    end
    done = function(summary, latency)
      local errors = summary.errors
      io.write(string.format("%d %d %d %d", summary.requests, summary.duration,
        latency:percentile(50), errors.status + errors.connect + errors.read + errors.write))
    end`
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`]
  const output = withFile('load.lua', script, (file) =>
    execFileSync('wrk', [...flags, '-s', file, service.url], { encoding: 'utf8' }),
  )
  const [requests, duration, p50, failed] = output.trim().split('\n').at(-1)!.split(' ').map(Number)
  if (failed) throw new Error(`${failed} of ${requests} calls to ${call.path} failed.`)
  return { perSecond: requests! / (duration! / 1e6), p50: p50! / 1000 }
}

/** The same statements straight at the database, by pgbench. */
export function pgbench(
  connection: Connection,
  script: string,
  clients: number,
  seconds = 5,
): Load {
  const flags = ['-n', '-M', 'prepared', `-c${clients}`, '-j1', `-T${seconds}`]
  const output = withFile('script.sql', script, (file) =>
    execFileSync('pgbench', [...flags, '-f', file, connection.database], {
      encoding: 'utf8',
      env: environment(connection),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const [, rate = '0'] = /tps = ([\d.]+)/.exec(output) ?? []
  const [, latency = '0'] = /latency average = ([\d.]+)/.exec(output) ?? []
  return { perSecond: Number(rate), p50: Number(latency) }
}

/** A statement run again and again by psql, its rows thrown away: the median in milliseconds. */
export function psql(connection: Connection, text: string, runs: number): number {
  const script = `\\timing on\n${settings}\n${`${text};\n`.repeat(runs)}`
  const output = withFile('script.sql', script, (file) =>
    execFileSync('psql', ['-q', '-o', '/dev/null', '-f', file, connection.database], {
      encoding: 'utf8',
      env: environment(connection),
    }),
  )
  const times = [...output.matchAll(/^Time: ([\d.]+) ms/gm)].map(([, ms]) => Number(ms))
  return median(times.slice(-runs))
}

export const settings = 'set enable_seqscan = off; set jit = off; set role registry_service;'

export const median = (numbers: number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!

export const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined

const environment = ({ host, port, user, password }: Connection) => ({
  ...process.env,
  PGHOST: host,
  PGPORT: String(port),
  PGUSER: user,
  PGPASSWORD: password,
  PGOPTIONS: '-c enable_seqscan=off -c jit=off',
})

/** A statement of ours as a script of pgbench or psql, with its parameters written in. */
export function scriptOf(
  { text, values }: Statement,
  inPlace: Record<string, string> = {},
): string {
  return (
    text
      .replace(/\$(\d+)/g, (_, place) => {
        const value = values[Number(place) - 1]
        return inPlace[String(value)] ?? literal(value)
      })
      // pgbench would take these for variables of its own.
      .replaceAll('HH24:MI:SS', "HH24' || ':' || 'MI' || ':' || 'SS")
  )
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `'{${value.join(',')}}'`
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : `'${String(value).replaceAll("'", "''")}'`
}

function withFile<T>(name: string, text: string, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'registry-bench-'))
  try {
    const file = join(folder, name)
    writeFileSync(file, text)
    return use(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
