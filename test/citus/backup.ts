import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import { createFund, type Load, startLoad } from '../failover/load.ts'
import { emptyDatabase, rowsOf, urlOf } from '../support/database.ts'
import { all, type Fund, newFund } from '../support/ledger.ts'
import { runCli, temporaryFolder, until } from '../support/process.ts'
import { encryptionKey, type Service, startService } from '../support/service.ts'
import { createDatabase, serversOfRun } from './database.ts'

/** `npm run test:citus` runs this after the walk: backups from several servers to one, and back. */
let service: Service
let funds: [Fund, Fund]
let loads: Load[]
let pairs: { stop: () => Promise<void>; keys: string[] }
const folders = { spread: join(temporaryFolder(), 'a'), one: join(temporaryFolder(), 'b') }
before(async () => {
  service = await startService()
  funds = [await newFund(service), await newFund(service)]
  loads = [await createFund(service.admin, 5), await createFund(service.admin, 5)].map((fund) =>
    startLoad([service.admin], fund),
  )
  pairs = postPairs()
})
after(async () => {
  await Promise.all([pairs, ...loads].map(({ stop }) => stop()))
  await service.stop()
})

/** Posts to two products in each request: both postings must be there afterwards, or neither. */
function postPairs() {
  const keys: string[] = []
  let stopped = false
  const post = async () => {
    while (!stopped) {
      const comment = `pair ${randomUUID()}`
      const transactionDate = '2026-01-10'
      const bodies = funds.map(({ productID, accountID, investmentID }) => ({
        ...{ productID, accountID, investmentID, transactionDate, amount: 1, comment },
      }))
      all(await service.admin.post('/BizTransaction/Deposit', bodies))
      keys.push(comment)
    }
  }
  const posting = Promise.all([post(), post(), post(), post()])
  return {
    keys,
    stop: async () => {
      stopped = true
      await posting
    },
  }
}

async function cli(words: string[], connection: pg.ClientConfig, wanted = 0) {
  const { code, output, errors } = await runCli(words, {
    DATABASE_URL: urlOf(connection),
    REGISTRY_DATA_DIR: temporaryFolder(),
    REGISTRY_ENCRYPTION_KEY: encryptionKey,
  })
  assert.equal(code, wanted, `${words[0]}: ${output}\n${errors}`)
  return output
}

/**
 * The number of rows and a hash of each table, whatever the order of the rows. The audit trail,
 * events and sessions are left out; the trail, for one, records every restore.
 */
async function fingerprints(connection: pg.ClientConfig) {
  const tables = await rowsOf(
    connection,
    `select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname !~ '^(audit.*|event|event_feed|migration|session|refresh_token)$' order by 1`,
  )
  const prints: Record<string, string> = {}
  for (const { name } of tables) {
    const rows = await rowsOf(connection, `select t::text as row from ${name} t`)
    const lines = rows.map(({ row }) => String(row)).sort()
    const hash = createHash('sha256').update(lines.join('\n')).digest('hex')
    prints[name] = `${lines.length} rows ${hash.slice(0, 16)}`
  }
  return prints
}

const commentsIn = async (connection: pg.ClientConfig) => {
  const rows = await rowsOf(connection, 'select comment from biz_transaction')
  const times = new Map<string, number>()
  for (const { comment } of rows) times.set(comment, (times.get(comment) ?? 0) + 1)
  return times
}

describe('A backup of a register that is spread over several servers', () => {
  let one: pg.ClientConfig
  let back: pg.ClientConfig
  let earlier: string[]

  it('is of one moment on all of them, made while the service writes', async () => {
    const enough = () =>
      pairs.keys.length > 40 && loads.every((load) => load.acknowledged.size > 40)
    await until('postings', enough)
    earlier = [...pairs.keys, ...loads.flatMap(({ acknowledged }) => [...acknowledged])]
    await cli(['backup', folders.spread], service.connection)
    const last = pairs.keys.length
    await until('postings after it', () => pairs.keys.length > last)
  })

  it('is restored on one server, where verify finds nothing, and no posting is torn', async () => {
    one = await emptyDatabase()
    await cli(['restore', folders.spread], one) // which verifies, too
    const times = await commentsIn(one)
    for (const key of earlier) assert.ok(times.has(key), `${key} is lost`)
    for (const [key, n] of times) assert.equal(n, key?.startsWith('pair') ? 2 : 1, key)
  })

  it('goes back onto several servers by way of one, the same to the last row', async () => {
    await cli(['backup', folders.one], one)
    const name = `test_back_${process.pid}`
    const servers = serversOfRun()
    await createDatabase(servers, name)
    back = { ...servers.coordinator.connection, database: name }
    await cli(['restore', folders.one], back)
    await cli(['distribute'], back)
    await cli(['verify'], back)
    assert.deepEqual(await fingerprints(back), await fingerprints(one))
  })

  it('is looked at by verify on the servers themselves: a unit too many is found', async () => {
    const [fund] = funds
    const own = 'product_id = $1 and account_id = $2'
    await rowsOf(back, `update holding set quantity = quantity + 1 where ${own}`, [
      fund.productID,
      fund.accountID,
    ])
    assert.match(await cli(['verify'], back, 1), /holding/)
  })
})
