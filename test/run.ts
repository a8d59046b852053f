import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../src/platform/embedded/postgres.ts'
import { migrate } from '../src/platform/sql/migrate.ts'
import { templateName } from './support/database.ts'
import { measureSlowness } from './support/patience.ts'

/**
 * Starts one PostgreSQL, migrates a template in it, and runs the test files, each of which clones
 * the template. Groups of files run in parallel. Name files to run only those, or --long for the
 * long suites. Other flags go to Node's test runner. REGISTRY_TEST_DATABASE_URL names another
 * server to use, with a superuser; the tests may leave anything in it.
 */
const compiled = '.tested'
const long = '--long'
/** Files per process: loading and warming up the service takes longer than most test files. */
const inGroup = 15
/** Processes at a time, which is enough to keep two cores busy. */
const atOnce = 3
/** The slowest files run first, each in another process, so that none runs alone at the end. */
const longest = filesOf(`access/authorization console/day crash fuzz operations/start operations/cli
  operations/backup faults platform/database two-nodes ledger/ledger-concurrency access/secrets
  ledger/ledger-plans`)
/**
 * Long suites whose subject also has a shorter suite, or that are about releases. `npm run
 * test:long` runs these, and `npm test` runs all others, which take 10 to 15 minutes on two cores.
 * CI runs both.
 */
const longSuites = filesOf(`console/pages records/statement-send platform/embedded
  records/statement-send-slow release operations/start-elsewhere records/report-worker console/areas
  console/settings console/figures console/waiting integration/import-crash
  money/distribution-job-crash console/files faults-clients operations/demo operations/backup-store
  console/frame access/database-login parties/tax-numbers platform/file-storage console/papers
  console/drawers console/payments console/together ledger/list-since parties/entities-from-account
  integration/webhook-load platform/generated-clients console/hands console/presses
  console/changing integration/event-types operations/build
  console/lists crash-seen operations/start-refused integration/client-tour
  integration/import-steps integration/import-turns operations/import-cli records/report-plans
  parties/investor-plans money/distribution-crash records/report-known
  integration/import-rights`)
/** Random walks and kills, of which `npm test` has a bounded form: the long run goes further. */
const walksToo = filesOf(`fuzz crash ledger/ledger-model money/distribution-model
  money/payment-run-model money/withholding-model`)
const furtherWalks = { REGISTRY_TEST_WALKS: '2', REGISTRY_CRASH_CYCLES: '6' }
const { REGISTRY_TEST_DATABASE_URL: given } = process.env
const server = given ? givenServer(new URL(given)) : await startServer()
let status = 1
try {
  await createTemplate()
  status = await runFiles(process.argv.slice(2))
} finally {
  await server.stop()
}
process.exit(status)

function filesOf(names: string) {
  return names.split(/\s+/).map((name) => `${name}.test.js`)
}

async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'registry-tests-'))
  const { connection, stop } = await startEmbedded({
    dataDir: folder,
    // What these tests write is thrown away; the crash suites start durable servers of their own.
    settings: { fsync: 'off', max_connections: '300', shared_buffers: '256MB' },
    onEvent: ({ level, message }) => level !== 'info' && process.stderr.write(`${message}\n`),
  })
  const clear = () => rmSync(folder, { recursive: true, force: true })
  return { connection, stop: () => stop().finally(clear) }
}

function givenServer({ hostname, port, username, password, pathname }: URL) {
  const login = { user: username, password: decodeURIComponent(password) }
  const place = { host: hostname, port: Number(port) || 5432, database: pathname.slice(1) }
  return { connection: { ...login, ...place }, stop: async () => {} }
}

async function createTemplate() {
  const client = new pg.Client(server.connection)
  await client.connect()
  await client.query(`drop database if exists ${templateName}`)
  await client.query(`create database ${templateName}`)
  await client.end()
  await migrate({ ...server.connection, database: templateName })
}

/**
 * Compiles everything to JavaScript once: otherwise each process would translate all sources
 * itself, which takes a minute of a run. Files that the sources read beside them are linked.
 */
function compileAll(isLong: boolean): string[] {
  rmSync(compiled, { recursive: true, force: true })
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
  const flags = ['--noCheck', '--noEmit', 'false', '--rootDir', '.']
  execFileSync(
    process.execPath,
    [tsc, ...flags, '--rewriteRelativeImportExtensions', '--outDir', compiled],
    { stdio: 'inherit' },
  )
  // Of console/ some files are imported by tests, and so are translated; the others are linked.
  for (const name of ['migrations', 'scale-out', 'scripts', 'dist', 'package.json'])
    symlinkSync(join('..', name), join(compiled, name))
  const names = readdirSync(join(compiled, 'test'), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.test.js')).sort()
  const others = files.filter((file) => ![...longest, ...longSuites].includes(file))
  return grouped(isLong ? [...walksToo, ...longSuites] : [...longest, ...others])
}

/** Deals the files to groups like cards, so that long files of a folder run in other processes. */
function grouped(files: string[]): string[] {
  const count = Math.max(atOnce, Math.ceil(files.length / inGroup))
  const groups = Array.from({ length: count }, (): string[] => [])
  for (const [i, file] of files.entries()) groups[i % groups.length]!.push(file) // one of them
  mkdirSync(join(compiled, 'groups'))
  return groups.map((group, i) => {
    const path = join(compiled, 'groups', `${String(i).padStart(2, '0')}.test.js`)
    const runs = group.map((file) => {
      const name = JSON.stringify(file.replace(/\.js$/, '.ts'))
      return `describe(${name}, async () => { await import(${JSON.stringify(`../test/${file}`)}) })`
    })
    // What ends the programs that files start does so for the group, not for its first file alone.
    const head = ["import { describe } from 'node:test'", "import '../test/support/process.js'"]
    writeFileSync(path, [...head, ...runs, ''].join('\n'))
    return path
  })
}

function runFiles(words: string[]): Promise<number> {
  const named = words.filter((word) => !word.startsWith('-'))
  const isLong = words.includes(long)
  const [loader, files] = named.length > 0 ? [['--import', 'tsx'], named] : [[], compileAll(isLong)]
  // A group that hangs is ended and counts as failed; the others go on. How long one may take
  // grows with how slow this machine is now; half an hour at least, for it may get busy later.
  const slowness = measureSlowness()
  const limit = Math.ceil(1_800_000 * Math.max(1, slowness, loadavg()[0]! / availableParallelism()))
  // With more room, what lives no longer than a request dies before it is looked at: a fortieth.
  const flags = [
    '--max-semi-space-size=64',
    `--test-concurrency=${atOnce}`,
    `--test-timeout=${limit}`,
  ]
  const own = words.filter((word) => word.startsWith('-') && word !== long)
  // The reporter that names at the end what failed: of a long run's output often only that is kept.
  const chosen = own.some((flag) => flag.startsWith('--test-reporter'))
  const reporter = chosen ? [] : ['--test-reporter=spec']
  const args = [...loader, '--test', ...flags, ...reporter, ...own, ...files]
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: {
      ...(isLong && furtherWalks),
      ...process.env,
      REGISTRY_TEST_SERVER: JSON.stringify(server.connection),
      TEST_SLOWNESS: String(slowness),
    },
  })
  // The database and its folder are ours to clear away, so we leave after the tests.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
}
