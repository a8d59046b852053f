import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection } from '../src/platform/embedded/postgres.ts'
import type { Service } from './service.ts'

export type Load = { perSecond: number; p50: number }

/**
 * A request of a load. In its texts {n} stands for a random number up to the register's size, {i}
 * for a random number up to 12, {u} for a number never used before, and {w} for the next number of
 * a walk through the register that visits every number once before it repeats one. With `times` the
 * body is an array of so many items.
 */
export type Call = {
  method: string
  path: string
  body?: string
  times?: number
  headers?: Readonly<Record<string, string>>
}

export type LoadOptions = { size: number; connections?: number; seconds?: number }

/**
 * Sends a call over keep-alive connections for some seconds, from another process: wrk, which
 * leaves most of the machine to the server, or autocannon where wrk is not installed.
 */
export function load(service: Service, call: Call, options: LoadOptions): Load {
  const { perSecond, p50, failed } = (isThere('wrk') ? byWrk : byAutocannon)(service, call, {
    connections: 64,
    seconds: 3,
    ...options,
  })
  if (failed) throw new Error(`${failed} calls of ${call.method} ${call.path} failed.`)
  return { perSecond, p50 }
}

type Measured = Load & { failed: number }

/** Options of a program that runs for some seconds; it is ended a minute after that. */
const bounded = (seconds: number) => ({
  encoding: 'utf8' as const,
  timeout: (seconds + 60) * 1000,
})

function byWrk(service: Service, call: Call, options: Required<LoadOptions>): Measured {
  const one = inLua(call.body)
  const script = `
    math.randomseed(os.time())
    local size = ${options.size}
    local walked = math.random(0, size - 1)
    local unique = os.time() * 1e6
    local n = function() return math.random(1, size) end
    local i = function() return math.random(1, 12) end
    local w = function() walked = (walked + ${stride}) % size return walked + 1 end
    local u = function() unique = unique + 1 return string.format("%.0f", unique) end
    local times = function(count)
      local items = {}
      for item = 1, count do items[item] = ${one} end
      return "[" .. table.concat(items, ",") .. "]"
    end
    local headers = { Authorization = "${service.token}", Version = "2.0" }
    ${call.body ? 'headers["Content-Type"] = "application/json"' : ''}
    request = function()
      ${headersInLua(call)}
      local body = ${call.times ? `times(${call.times})` : one}
      return wrk.format("${call.method}", ${inLua(call.path)}, headers, body)
    end
    done = function(summary, latency)
      local errors = summary.errors
      io.write(string.format("%d %d %d %d", summary.requests, summary.duration,
        latency:percentile(50), errors.status + errors.connect + errors.read + errors.write))
    end`
  const flags = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`]
  const output = withFile('load.lua', script, (file) =>
    execFileSync('wrk', [...flags, '-s', file, service.url], bounded(options.seconds)),
  )
  const [requests, duration, p50, failed] = output.trim().split('\n').at(-1)!.split(' ').map(Number)
  return { perSecond: requests! / (duration! / 1e6), p50: p50! / 1000, failed: failed! }
}

const headersInLua = ({ headers = {} }: Call) =>
  Object.entries(headers)
    .map(([name, text]) => `headers["${name}"] = ${inLua(text)}`)
    .join('\n')

/** A text with placeholders such as {n}, as an expression of Lua. */
const inLua = (text: string | undefined) =>
  text === undefined ? 'nil' : `'${text.replace(/\{([niuw])\}/g, "' .. $1() .. '")}'`

/** The step of {w}: it shares no factor with a register's size, so the walk visits everything. */
const stride = 7919

function byAutocannon(service: Service, call: Call, options: Required<LoadOptions>): Measured {
  const given = JSON.stringify({ url: service.url, token: service.token, call, stride, ...options })
  const program = join(import.meta.dirname, 'cannon.mjs')
  return JSON.parse(execFileSync(process.execPath, [program, given], bounded(options.seconds)))
}

/** How often a second pgbench runs a script straight against the database. */
export function pgbench(
  connection: Connection,
  script: string,
  clients: number,
  seconds = 3,
): number {
  const flags = ['-n', '-M', 'prepared', `-c${clients}`, '-j1', `-T${seconds}`]
  const output = withFile('script.sql', script, (file) =>
    execFileSync('pgbench', [...flags, '-f', file, connection.database], {
      ...bounded(seconds),
      env: environment(connection),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}

/** The median milliseconds of an SQL statement that psql runs repeatedly, discarding its rows. */
export function psql(connection: Connection, text: string, runs: number): number {
  const script = `\\timing on\n${settings}\n${`${text};\n`.repeat(runs)}`
  const output = withFile('script.sql', script, (file) =>
    execFileSync('psql', ['-q', '-o', '/dev/null', '-f', file, connection.database], {
      ...bounded(300),
      env: environment(connection),
    }),
  )
  const times = [...output.matchAll(/^Time: ([\d.]+) ms/gm)].map(([, ms]) => Number(ms))
  return median(times.slice(-runs))
}

const settings = 'set enable_seqscan = off; set jit = off; set role registry_service;'

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
