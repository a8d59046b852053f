import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureSlowness } from '../support/patience.ts'
import { type Citus, findCitus, startCitus } from './cluster.ts'
import { createTemplate, dropTestDatabases } from './database.ts'
import { exceptionFor } from './except.ts'

/**
 * `npm run test:citus` starts a coordinator and two workers in a temporary folder, and runs the
 * test files against them, one after another; then the crash suite of a cluster. Name files to run
 * only those.
 *   --keep    leaves the servers running until Ctrl-C, and says how to reach them
 */
const { values, positionals } = parseArgs({
  options: { keep: { type: 'boolean', default: false } },
  allowPositionals: true,
})

const say = (line: string) => process.stdout.write(`${line}\n`)
const found = findCitus()
if (typeof found === 'string') {
  say(`test:citus is skipped: ${found}`)
  say('It takes the folder of the programs of a PostgreSQL (15 or newer) that has Citus (13.2):')
  say('CITUS_BINDIR=/usr/lib/postgresql/15/bin npm run test:citus')
  say('docs/SCALING.md tells how to get such a folder.')
  process.exit(0)
}
const citus = await startCitus(found.bindir, { careless: true })
const begun = Date.now()
await createTemplate(citus)
say(`A coordinator and two workers; migrated and spread in ${Date.now() - begun} ms.`)
const failed = values.keep ? await stay() : await runAll(filesToRun(positionals))
await citus.stop()
const crashed = values.keep || positionals.length > 0 ? 0 : await runCrashSuite()
process.exit(failed + crashed > 0 ? 1 : 0)

/** The files in order: the walk, the suites of test/citus, then all others except except.ts's. */
function filesToRun(named: string[]): string[] {
  if (named.length > 0) return named
  const names = readdirSync('test', { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.test.ts')).sort()
  for (const name of files) {
    const reason = exceptionFor(name)
    if (reason) say(`left out test/${name}: ${reason}`)
  }
  const kept = files.filter((name) => !exceptionFor(name))
  const own = ['walk', 'explain', 'upgrade', 'backup', 'grow', 'ranges']
  return [...own.map((name) => `citus/${name}.ts`), ...kept].map((name) => join('test', name))
}

/** Kills servers of another cluster under load; `npm run test:citus:kills` runs more of this. */
function runCrashSuite(): Promise<number> {
  const args = ['--import', 'tsx', join('test', 'citus', 'kills.ts'), '--kills', '6']
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
}

async function runAll(files: string[]): Promise<number> {
  const slowness = measureSlowness()
  let failures = 0
  for (const file of files) {
    const start = Date.now()
    const code = await runFile(file, slowness)
    if (code !== 0) failures++
    say(
      `${code === 0 ? 'passed' : 'FAILED'} ${file} (${Math.round((Date.now() - start) / 1000)} s)`,
    )
    await dropTestDatabases(citus)
  }
  say(`${files.length - failures} passed, ${failures} failed`)
  return failures
}

function runFile(file: string, slowness: number): Promise<number> {
  const args = ['--import', 'tsx', '--test', '--test-timeout=600000', file]
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment(citus), TEST_SLOWNESS: String(slowness) },
  })
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
}

/** The environment variables that test/support/database.ts reads. */
function environment({ coordinator, workers }: Citus) {
  return {
    REGISTRY_TEST_SERVER: JSON.stringify(coordinator.connection),
    REGISTRY_TEST_WORKERS: JSON.stringify(workers.map(({ connection }) => connection)),
  }
}

async function stay(): Promise<number> {
  for (const [name, value] of Object.entries(environment(citus))) say(`export ${name}='${value}'`)
  await new Promise((resolve) => process.once('SIGINT', resolve))
  return 0
}
