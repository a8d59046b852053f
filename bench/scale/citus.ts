import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { build } from '../../scripts/run.mjs'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { ask, type CitusServer, findCitus, startCitus } from '../../test/citus/cluster.ts'
import { createDatabase } from '../../test/citus/database.ts'
import { password, startRegister, username } from '../../test/citus/register.ts'
import { clientOf } from '../../test/support/client.ts'
import { fill } from '../dataset.ts'
import { type Call, load, median } from '../load.ts'
import type { Service } from '../service.ts'

/**
 * `npm run bench:citus -- --rounds 5` compares the same register on one server and on a coordinator
 * with two workers, all with the same PostgreSQL on this machine. It loads both in turns and prints
 * the answers a second and the processor time of each answer.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    entities: { type: 'string', default: '2000' },
    /** Records on a page: 1000 is the most that a page can have, 100 the default. */
    page: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
  },
})
const say = (line: string) => process.stdout.write(`${line}\n`)
const found = findCitus()
if (typeof found === 'string') {
  say(`bench:citus is skipped: ${found} See docs/SCALING.md.`)
  process.exit(0)
}

const person = '{"externalPersonId":"B{u}","firstName":"Ann","lastName":"Smith"}'
const entity =
  '{"name":"Bench {u}","externalBizEntityId":"B{u}","bizEntityTypeID":1,"bizEntityStatusID":1,' +
  `"accounts":[{"productID":1}],"bizEntityParties":[{"person":${person}}]}`
const page = `ProductID=1&PageSize=${values.page}`

type Work = { name: string; call: Call; least?: number }
const work: Work[] = [
  { name: 'page of transactions', call: get(`/BizTransaction?${page}`), least: 0.7 },
  { name: 'their newest', call: get(`/BizTransaction?${page}&Order=desc`), least: 0.7 },
  {
    name: "an account's transactions",
    call: get(`/BizTransaction?${page}&AccountID={n}`),
    least: 0.7,
  },
  { name: 'page of holdings', call: get(`/BizEntity/Account/Holdings?${page}`), least: 0.7 },
  { name: 'page of notices', call: get(`/BizEvent?${page}`), least: 0.7 },
  { name: 'page of entities', call: get(`/BizEntity?${page}`), least: 0.7 },
  { name: 'an entity', call: get('/BizEntity?BizEntityID={n}') },
  { name: 'POST /BizEntity', call: post('/BizEntity', entity), least: 0.5 },
  {
    name: 'POST /BizEntity, arrays of 100',
    call: { ...post('/BizEntity', entity), times: 100 },
    least: 0.5,
  },
  {
    name: 'POST Deposit',
    call: post(
      '/BizTransaction/Deposit',
      '{"accountID":{n},"investmentID":1,"transactionDate":"2026-01-10","amount":1}',
    ),
  },
]

function get(path: string): Call {
  return { method: 'GET', path }
}
function post(path: string, body: string): Call {
  return { method: 'POST', path, body }
}

await build()
const size = { name: 'citus', transactionsPerEntity: 10, warmSeconds: 1 }
const entities = Number(values.entities)
const name = 'registry'
const citus = await startCitus(found.bindir, {})
const single = await citus.addServer('single')
await createDatabase(citus, name)
await ask(single.connection, `create database ${name}`)
for (const server of [citus.coordinator, single]) {
  const connection = { ...server.connection, database: name }
  await migrate(connection)
  const client = new pg.Client(connection)
  await client.connect()
  await fill(client, { ...size, entities }, () => {}).finally(() => client.end())
}
await distribute({ ...citus.coordinator.connection, database: name })
for (const server of [citus.coordinator, single])
  await ask({ ...server.connection, database: name }, 'vacuum analyze')
const spread = await subjectOf(citus.coordinator, [citus.coordinator, ...citus.workers])
const one = await subjectOf(single, [single])

say('| | One server: a second | ms of processor | Citus: a second | ms | Ratio | by processor |')
say('|---|---:|---:|---:|---:|---:|---:|')
for (const { name: what, call, least } of work.filter(isWanted)) {
  const figures = await inTurns(call)
  const [rate, cost] = [figures.spread.rate / figures.one.rate, figures.one.ms / figures.spread.ms]
  const cells = [
    what,
    ...[figures.one.rate, figures.one.ms, figures.spread.rate, figures.spread.ms].map((n) =>
      n.toFixed(n < 10 ? 2 : 0),
    ),
    `${rate.toFixed(2)}${least === undefined ? '' : ` (${rate >= least ? '≥' : '<'} ${least})`}`,
    cost.toFixed(2),
  ]
  say(`| ${cells.join(' | ')} |`)
}
for (const { process } of [spread, one]) process.signal('SIGTERM')
await citus.stop()
process.exit(0)

/** Whether the name of the work contains one of the words given with `--only`. */
function isWanted({ name }: Work): boolean {
  return values.only.split(',').some((word) => name.includes(word))
}

type Subject = Awaited<ReturnType<typeof subjectOf>>

async function subjectOf({ connection }: CitusServer, servers: CitusServer[]) {
  const { url, process } = await startRegister(citus.folder, { ...connection, database: name })
  const reply = await clientOf(url).post('/User/Login', { username, password })
  const service = { url, token: reply.data.accessToken } as Service
  return { service, process, servers }
}

/** The medians of several turns of both subjects; the first turn of each does not count. */
async function inTurns(call: Call) {
  const turns: Record<'one' | 'spread', Turn[]> = { one: [], spread: [] }
  for (let round = 0; round <= Number(values.rounds); round++) {
    const both = { one: turn(one, call), spread: turn(spread, call) }
    if (round === 0) continue
    turns.one.push(both.one)
    turns.spread.push(both.spread)
  }
  return { one: middle(turns.one), spread: middle(turns.spread) }
}

type Turn = { rate: number; ms: number }

function turn({ service, process, servers }: Subject, call: Call): Turn {
  const seconds = Number(values.seconds)
  const before = used(process.pid, servers)
  const { perSecond } = load(service, call, { size: entities, connections: 16, seconds })
  return {
    rate: perSecond * (call.times ?? 1),
    ms: (used(process.pid, servers) - before) / (perSecond * seconds * (call.times ?? 1)),
  }
}

function middle(turns: readonly Turn[]): Turn {
  return { rate: median(turns.map(({ rate }) => rate)), ms: median(turns.map(({ ms }) => ms)) }
}

/** The milliseconds of processor time that the service and all its servers have used so far. */
function used(pid: number, servers: readonly CitusServer[]): number {
  const first = servers.map(({ pids }) => pids()[0]!)
  const others = servers.flatMap(({ pids }) => pids().slice(1))
  // The first process of a server counts its ended children, too: places 13 and 14 are theirs.
  return [
    ...first.map((one) => ticks(one, [11, 12, 13, 14])),
    ...[pid, ...others].map((one) => ticks(one, [11, 12])),
  ].reduce((sum, n) => sum + 10 * n, 0)
}

/** Sums fields of /proc/PID/stat, in hundredths of a second, by their places after the name. */
function ticks(pid: number, places: readonly number[]): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '')
    const figures = text.split(' ').map(Number)
    return places.reduce((sum, place) => sum + figures[place]!, 0)
  } catch {
    return 0 // it has ended just now
  }
}
