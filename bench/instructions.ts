import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postAtOnce } from '../src/ledger/biz-transaction/at-once.ts'
import type { AtOnce } from '../src/ledger/biz-transaction/posting-rows.ts'
import { program } from '../src/platform/embedded/binaries.ts'
import { type Cluster, prepareCluster } from '../src/platform/embedded/cluster.ts'
import { cleanEnvironment } from '../src/platform/embedded/identity.ts'
import type { Form } from '../src/platform/sql/form.ts'
import { tables } from './bare.ts'
import { bareDeposit } from './bare-sql.mjs'
import { sizes } from './dataset.ts'
import { isThere } from './load.ts'
import { prepare } from './service.ts'
import { everybody } from './statement.ts'

/**
 * `npm run bench:instructions`: how many instructions PostgreSQL executes for a deposit, for the
 * rows alone that a deposit writes, and for the deposit of the bare server. valgrind counts them in
 * PostgreSQL's single-user mode on a copy of the small register. The figures stay the same within a
 * twentieth however busy the machine is, where times and processor times differ by half.
 */
const size = sizes.small!
const investments = 12

type Statement = { text: string; values: readonly unknown[] }
/** `next` makes the SQL statement anew for each run, with other accounts in it. */
type Work = { name: string; postings: number; next: () => Promise<Statement> | Statement }

const random = (most: number) => 1 + Math.floor(Math.random() * most)

/** The ids of `count` different accounts. */
function someAccounts(count: number): number[] {
  const chosen = new Set<number>()
  while (chosen.size < count) chosen.add(random(size.entities))
  return [...chosen]
}

const requestOf = (accountID: number): AtOnce => ({
  write: {
    userID: 1,
    username: 'bench',
    operation: 'POST /BizTransaction/Deposit',
    resource: 'BizTransaction',
    event: 'biztransaction.posted',
    requestID: crypto.randomUUID(),
  },
  request: {
    operation: 'Deposit',
    bodies: [
      {
        accountID,
        investmentID: random(investments),
        transactionDate: '2026-11-01',
        amount: '110',
      },
    ],
    path: () => '',
  },
})

/** The SQL statement that the service would send for deposits that arrive together. */
async function depositStatement(postings: number): Promise<Statement> {
  let caught: Form | undefined
  const once = async (form: Form) => {
    caught = form
    return []
  }
  const naming = { account: 'account_id', investment: 'investment_id', product: undefined }
  await postAtOnce({ once }, everybody, naming, someAccounts(postings).map(requestOf))
  return caught!
}

const deposits = (postings: number): Work => ({
  name: `deposit, ${postings} in a statement`,
  postings,
  next: () => depositStatement(postings),
})

/** A write to one table alone; `given` has the accounts a and investments i. */
const rowsOf = (name: string, postings: number, write: string): Work => ({
  name: `${name}, ${postings} in a statement`,
  postings,
  next: () => ({
    text: write.replace('from given', 'from unnest($1::int[], $2::int[]) given (a, i)'),
    values: [
      `{${someAccounts(postings)}}`,
      `{${Array.from({ length: postings }, () => random(investments))}}`,
    ],
  }),
})

const rows = (postings: number): Work[] => [
  rowsOf('nothing', postings, 'select count(*) from given'),
  rowsOf(
    'rows of transactions',
    postings,
    `insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
      transaction_date, investment_price, amount, quantity, closing_quantity, closing_amount,
      closing_cost, closing_gain)
    select 1, 1, a, i, '2026-11-01', 1.1, 110, 100, 100, 110, 110, 0 from given`,
  ),
  rowsOf(
    'rows of holdings',
    postings,
    `update holding h set quantity = quantity + 1, cost_amount = cost_amount + 1 from given
    where product_id = 1 and account_id = a and investment_id = i`,
  ),
  rowsOf(
    'rows of accounts',
    postings,
    `update ledger_account l set last_date = '2026-11-01' from given
    where product_id = 1 and account_id = a`,
  ),
  rowsOf(
    'one audit record',
    postings,
    `insert into audit (user_id, username, operation, resource, resource_id, product_id, changes,
      request_id, is_event)
    select 1, 'bench', 'POST /BizTransaction/Deposit', 'BizTransaction', 1, 1,
      json_agg(json_build_object('accountID', a, 'investmentID', i)), 'bench', true from given`,
  ),
]

const bare: Work = {
  name: 'deposit of the bare server',
  postings: 1,
  next: () => ({
    text: bareDeposit,
    values: [random(size.entities), random(investments), '2026-11-01', '110'],
  }),
}

const literal = (value: unknown) =>
  value === null || value === undefined ? 'null' : `'${String(value).replaceAll("'", "''")}'`

/** Ends an SQL statement as single-user mode wants it: with a semicolon and a blank line. */
const ended = (text: string) => `${text.replace(/\n\s*\n/g, '\n').trim()};\n\n`

/** A script that prepares an SQL statement once and runs it `times` times. */
async function scriptOf({ next }: Work, times: number): Promise<string> {
  let script = ended(`prepare work as ${(await next()).text}`)
  for (let run = 0; run < times; run++) {
    const { values } = await next()
    script += ended(`execute work(${values.map(literal).join(', ')})`)
  }
  return script
}

const settings = ['enable_seqscan=off', 'jit=off', 'plan_cache_mode=force_generic_plan']

/** Runs a script in single-user mode; `counter` is the command line of the counting program. */
function runAlone(cluster: Cluster, script: string, counter: string[] = []): string {
  const [file = '', ...args] = [
    ...cluster.identity.prefix,
    ...counter,
    ...[program(cluster.binaries, 'postgres'), '--single', '-j', '-F', '-D', cluster.folder],
    ...settings.flatMap((setting) => ['-c', setting]),
    'registry',
  ]
  const { stdout, stderr } = spawnSync(file, args, {
    ...cluster.identity.spawn,
    cwd: cluster.dataDir,
    env: cleanEnvironment(),
    input: script,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const failed = /(ERROR|FATAL): .*/.exec(stderr)
  if (failed) throw new Error(failed[0])
  return stdout + stderr
}

const counter = [
  'valgrind',
  '--tool=cachegrind',
  '--cache-sim=no',
  '--cachegrind-out-file=/dev/null',
]

function instructionsOf(cluster: Cluster, script: string): number {
  const [, count] = /I\s+refs:\s+([\d,]+)/.exec(runAlone(cluster, script, counter)) ?? []
  if (!count) throw new Error('valgrind told no count.')
  return Number(count.replaceAll(',', ''))
}

/**
 * Thousands of instructions of one run. Subtracting a script with few runs from one with many
 * leaves out the start of PostgreSQL and the planning.
 */
async function thousandsOf(cluster: Cluster, work: Work): Promise<number> {
  const [few, many] = [5, work.postings === 1 ? 45 : 20]
  const first = instructionsOf(cluster, await scriptOf(work, few))
  const second = instructionsOf(cluster, await scriptOf(work, many))
  return (second - first) / (many - few) / 1000
}

if (!isThere('valgrind')) throw new Error('The count needs valgrind on the path.')
const say = (line: string) => process.stdout.write(`${line}\n`)
const own = mkdtempSync(join(tmpdir(), 'registry-instructions-'))
try {
  execFileSync('cp', ['-a', `${await prepare(size, say)}/.`, own])
  const cluster = await prepareCluster(own)
  // Every account gets a holding of every investment, so that no deposit has to create one.
  const holdings = `insert into holding select 1, a, i, 100, 100, 100, 0
    from generate_series(1, ${size.entities}) a, generate_series(1, ${investments}) i
    on conflict do nothing`
  const preparation = [holdings, 'vacuum analyze holding', ...tables.split(';')]
  runAlone(cluster, preparation.map(ended).join(''))
  const all = [bare, ...rows(1), ...rows(32), deposits(1), deposits(8), deposits(32)]
  say('| PostgreSQL, thousands of instructions | a statement | a posting |\n|---|---:|---:|')
  for (const work of all) {
    const thousands = await thousandsOf(cluster, work)
    say(`| ${work.name} | ${Math.round(thousands)} | ${Math.round(thousands / work.postings)} |`)
  }
} finally {
  rmSync(own, { recursive: true })
}
