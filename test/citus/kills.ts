import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { build } from '../../scripts/run.mjs'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { verify } from '../../src/operations/verify/verify.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { createFund, type Fund, type Load, replay, signIn, startLoad } from '../failover/load.ts'
import { until } from '../failover/processes.ts'
import { findCitus, startCitus } from './cluster.ts'
import { createDatabase, serversOf } from './database.ts'
import { counted, password, startRegister, username } from './register.ts'

/**
 * `npm run test:citus:kills -- --kills 30` kills workers and the coordinator under load, in turns,
 * and starts them again. It repeats every posting that was not acknowledged, and then counts the
 * postings by the keys in the ledger.
 */
const { values: given } = parseArgs({ options: { kills: { type: 'string', default: '30' } } })
const say = (line: string) => process.stdout.write(`${line}\n`)
const name = 'registry'

const found = findCitus()
if (typeof found === 'string') {
  say(`test:citus:kills is skipped: ${found} See docs/SCALING.md.`)
  process.exit(0)
}
await build()
const citus = await startCitus(found.bindir, {})
await createDatabase(citus, name)
const database = { ...citus.coordinator.connection, database: name }
await migrate(database)
await distribute(database)
const { url, log } = await startRegister(citus.folder, database)
const wrong = await drill()
await citus.stop()
process.exit(wrong > 0 ? 1 : 0)

/** Runs the drill and returns how many faults it found; two funds put load on several shards. */
async function drill(): Promise<number> {
  const [client] = await signIn([url], username, password)
  const funds = [await createFund(client!, 20), await createFund(client!, 20)]
  const keys: string[] = []
  let doubtful = 0
  let odd = 0
  for (let kill = 0; kill < Number(given.kills); kill++) {
    const loads = await round(kill, funds)
    keys.push(...loads.flatMap(keysOf))
    doubtful += loads.reduce((sum, { inDoubt }) => sum + inDoubt.length, 0)
    for (const words of loads.flatMap((load) => load.odd)) {
      odd++
      say(`  odd: ${words.slice(0, 200)}`)
    }
  }
  if (odd > 0) say(faultsOf(readFileSync(log, 'utf8')))
  const { lost, doubled } = await counted(database, keys)
  say(`${given.kills} kills: ${keys.length} postings, ${doubtful} in doubt, ${odd} odd answers;`)
  say(`${lost} lost, ${doubled} doubled.`)
  const checks = (await verify(database)).filter((one) => one.found > 0 && !one.isNote)
  for (const one of checks) say(`verify: ${one.name}: ${one.found} rows ${one.examples[0]}`)
  return lost + doubled + odd + checks.length
}

async function round(kill: number, funds: readonly Fund[]): Promise<Load[]> {
  const servers = serversOf(citus)
  const struck = servers[kill % servers.length]!
  const [client] = await signIn([url], username, password)
  const loads = funds.map((fund) => startLoad([client!], fund))
  await until('postings', () => loads.every(({ acknowledged }) => acknowledged.size > 20))
  await sleep(Math.random() * 1_000)
  await struck.kill()
  await sleep(300)
  await struck.start()
  const since = Date.now()
  await until('acknowledgements', () => loads.every(({ lastAt }) => lastAt() > since))
  await Promise.all(loads.map(({ stop }) => stop()))
  for (const [i, { inDoubt }] of loads.entries()) await replay([client!], funds[i]!, inDoubt)
  const sums = loads.map(({ acknowledged, inDoubt }) => `${acknowledged.size}+${inDoubt.length}`)
  say(`${kill + 1}: ${struck.name} killed; ${sums.join(', ')} acknowledged+in doubt`)
  return loads
}

/** The error lines of the log, which say more than an answer of 500. */
const faultsOf = (said: string) =>
  said
    .split('\n')
    .filter((line) => line.includes('"level":50'))
    .join('\n')

function keysOf({ acknowledged, inDoubt }: Load): string[] {
  return [...acknowledged, ...inDoubt.map(({ key }) => key)]
}
