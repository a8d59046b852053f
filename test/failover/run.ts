import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { build } from '../../scripts/run.mjs'
import { verify } from '../../src/operations/verify/verify.ts'
import { type Cluster, findPrograms, type Node, startCluster } from './cluster.ts'
import { createFund, type Fund, type Posting, replay, signIn, startLoad } from './load.ts'
import { signalPid, startNode, until } from './processes.ts'

/**
 * `npm run test:failover` removes the leader of a replicated PostgreSQL under load, and counts the
 * postings afterwards.
 *   --rounds 2              of each kind
 *   --kinds node,postgres,freeze
 *   --unsafe                without synchronous replication: must find losses, or it proves nothing
 *   --keep                  leaves the folder with the logs of all servers
 */
const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2' },
    kinds: { type: 'string', default: 'node,postgres,freeze' },
    unsafe: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})

const say = (line: string) => process.stdout.write(`${line}\n`)
const password = randomBytes(16).toString('hex')
const username = 'admin'

type Round = {
  kind: string
  acknowledged: number
  inDoubt: number
  /** How many of the postings in doubt were done. */
  committed: number
  lost: number
  doubled: number
  odd: number
  /** Seconds in which no server took writes. */
  seconds: number
  /** How long the slowest answer took. */
  slowest: number
}

/** The ways to lose a leader (`strike`), and to bring it back once another leads (`mend`). */
const faults: Record<string, { strike: (node: Node) => void; mend: (node: Node) => void }> = {
  node: {
    strike: (node) => signalAll([node.patroniPid(), ...node.postgresPids()], 'SIGKILL'),
    mend: (node) => node.start(),
  },
  postgres: {
    strike: (node) => signalAll(node.postgresPids(), 'SIGKILL'),
    mend: () => {}, // Patroni is there to do so
  },
  freeze: {
    strike: (node) => signalAll([node.patroniPid(), ...node.postgresPids()], 'SIGSTOP'),
    mend: (node) => signalAll([node.patroniPid(), ...node.postgresPids()], 'SIGCONT'),
  },
}

const signalAll = (pids: number[], name: NodeJS.Signals) => {
  for (const pid of pids) signalPid(pid, name)
}

async function main(): Promise<number> {
  const programs = process.platform === 'linux' ? findPrograms() : ['Linux']
  if (Array.isArray(programs)) {
    say(`Skipped: ${programs.join(', ')} not found. On Debian:`)
    say('  apt-get install patroni etcd-server haproxy postgresql')
    return 0
  }
  await build()
  const cluster = await startCluster(programs, { synchronous: !given.unsafe, keep: given.keep })
  if (given.keep) say(cluster.folder)
  return drill(cluster)
}

async function drill(cluster: Cluster): Promise<number> {
  const database = { ...cluster.connection, database: 'registry' }
  await rowsOf(cluster.connection, 'create database registry')
  const urls = [await startService(cluster, 1), await startService(cluster, 2)]
  const [first] = await signIn(urls, username, password)
  const fund = await createFund(first!, 200)
  const [version] = await rowsOf(database, 'show server_version')
  say(`PostgreSQL ${version.server_version}, three servers, two nodes of the service.`)
  const rounds: Round[] = []
  for (const kind of given.kinds.split(','))
    for (let round = 0; round < Number(given.rounds); round++) {
      rounds.push(await oneRound(cluster, { kind, urls, fund, database }))
      say(lineOf(rounds.at(-1)!))
    }
  const all = rounds.reduce(addedUp)
  say(lineOf({ ...all, kind: 'in all' }))
  return (await isWhole(database)) && all.lost + all.doubled + all.odd === 0 ? 0 : 1
}

type Drill = { kind: string; urls: string[]; fund: Fund; database: pg.ClientConfig }

async function oneRound(cluster: Cluster, { kind, urls, fund, database }: Drill): Promise<Round> {
  await cluster.whole()
  const fault = faults[kind]
  if (!fault) throw new Error(`There is no kind ${kind}; there are ${Object.keys(faults)}.`)
  const clients = await signIn(urls, username, password)
  const load = startLoad(clients, fund)
  await until('postings', () => load.acknowledged.size > 500)
  await sleep(1_000 + Math.random() * 2_000)
  const leader = (await cluster.leader())!
  const struckAt = Date.now()
  fault.strike(leader)
  await sleep(500) // answers that were under way
  const answersFrom = Date.now()
  await until('an acknowledgement', () => load.lastAt() > answersFrom)
  const seconds = (Date.now() - struckAt) / 1_000
  if (kind !== 'postgres')
    await until('another leader', async () => (await cluster.leader())?.name !== leader.name)
  fault.mend(leader)
  await sleep(3_000)
  await load.stop()
  await until('a leader', () => cluster.leader())
  const committed = (await postedOnce(database, load.inDoubt)).size
  await replay(clients, fund, load.inDoubt)
  for (const odd of new Set(load.odd)) say(`  odd: ${odd.slice(0, 200)}`)
  const keys = [...load.acknowledged, ...load.inDoubt.map(({ key }) => key)]
  return {
    kind,
    acknowledged: load.acknowledged.size,
    inDoubt: load.inDoubt.length,
    committed,
    ...(await counted(database, keys)),
    odd: load.odd.length,
    seconds,
    slowest: load.slowest() / 1_000,
  }
}

async function postedOnce(database: pg.ClientConfig, postings: Posting[]) {
  const keys = postings.map(({ key }) => key)
  const rows = await rowsOf(
    database,
    'select distinct comment from biz_transaction where comment = any($1)',
    [keys],
  )
  return new Set(rows.map(({ comment }) => comment))
}

/** Counts the keys that are not in the ledger, and those that are there more than once. */
async function counted(database: pg.ClientConfig, keys: string[]) {
  const [row] = await rowsOf(
    database,
    `select count(*) filter (where n is null)::int as lost,
      count(*) filter (where n > 1)::int as doubled
    from unnest($1::text[]) key
    left join (select comment, count(*) as n from biz_transaction group by 1) t on comment = key`,
    [keys],
  )
  return { lost: row.lost as number, doubled: row.doubled as number }
}

async function isWhole(database: pg.ClientConfig): Promise<boolean> {
  const checks = await verify(database)
  const wrong = checks.filter(({ found }) => found > 0)
  for (const { name, found } of wrong) say(`verify: ${name}: ${found} rows`)
  say(`verify: ${checks.length} checks, ${wrong.length} of them found something.`)
  return wrong.length === 0
}

const addedUp = (sum: Round, one: Round): Round => ({
  kind: '',
  acknowledged: sum.acknowledged + one.acknowledged,
  inDoubt: sum.inDoubt + one.inDoubt,
  committed: sum.committed + one.committed,
  lost: sum.lost + one.lost,
  doubled: sum.doubled + one.doubled,
  odd: sum.odd + one.odd,
  seconds: Math.max(sum.seconds, one.seconds),
  slowest: Math.max(sum.slowest, one.slowest),
})

const lineOf = (round: Round) =>
  [
    `${round.kind.padEnd(9)} acknowledged ${round.acknowledged}`,
    `in doubt ${round.inDoubt} (${round.committed} committed)`,
    `lost ${round.lost}`,
    `doubled ${round.doubled}`,
    `odd answers ${round.odd}`,
    `${round.seconds.toFixed(1)} s without a leader`,
    `slowest answer ${round.slowest.toFixed(1)} s`,
  ].join(', ')

/** Starts a node of the service, connected to the current leader. */
async function startService({ folder, connection }: Cluster, number: number): Promise<string> {
  const { user, password: own, host, port } = connection
  const databaseUrl = `postgres://${user}:${own}@${host}:${port}/registry`
  const dataDir = join(folder, `service-${number}`)
  return (await startNode({ dataDir, databaseUrl, username, password })).url
}

async function rowsOf(connection: pg.ClientConfig, text: string, values: unknown[] = []) {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  },
)
