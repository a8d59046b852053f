import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { createFund, type Load, replay, startLoad } from '../failover/load.ts'
import { rowsOf } from '../support/database.ts'
import { assertVerified } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { type Citus, findCitus, startCitus } from './cluster.ts'
import { createDatabase, createPart, serversOfRun } from './database.ts'
import { counted } from './register.ts'

/** `npm run test:citus` runs this after the walk: it adds a worker while the service writes. */
let service: Service
let more: Citus
before(async () => {
  const found = findCitus()
  if (typeof found === 'string') throw new Error(found)
  more = await startCitus(found.bindir, { workers: 0, careless: true })
  // Not a copy of the template: Citus has the database itself by its name, and would look for it.
  const servers = serversOfRun()
  const name = `test_grow_${process.pid}`
  await createDatabase(servers, name)
  const connection = { ...servers.coordinator.connection, database: name }
  await migrate(connection)
  await distribute(connection)
  service = await startService({}, connection)
})
after(async () => {
  await service.stop()
  await more.stop()
})

const ask = (text: string) => rowsOf(service.connection, text)
const shardsOn = async (port: number) => {
  const [row] = await ask(`select count(*)::int as n from citus_shards
    where citus_table_type = 'distributed' and nodeport = ${port}`)
  return row.n as number
}

describe('A worker more', () => {
  it('takes its part of the ledger while the service writes; nothing is lost', async (t) => {
    const funds = []
    for (let n = 0; n < 4; n++) funds.push(await createFund(service.admin, 5))
    const loads: Load[] = funds.map((fund) => startLoad([service.admin], fund))
    await until('postings', () => loads.every(({ acknowledged }) => acknowledged.size > 20))
    const { port, ...server } = more.coordinator
    await createPart({ ...server, port }, service.connection.database!)
    await ask(`select citus_add_node('127.0.0.1', ${port})`)
    const begun = Date.now()
    await ask('select citus_rebalance_start()')
    await ask('select citus_rebalance_wait()')
    const moved = Date.now()
    await until('postings after it', () => loads.every(({ lastAt }) => lastAt() > moved))
    await Promise.all(loads.map(({ stop }) => stop()))
    for (const [i, { inDoubt }] of loads.entries())
      await replay([service.admin], funds[i]!, inDoubt)
    const sent = loads.flatMap(({ acknowledged, inDoubt }) => [
      ...acknowledged,
      ...inDoubt.map(({ key }) => key),
    ])
    const late = loads.reduce((sum, { inDoubt }) => sum + inDoubt.length, 0)
    const slowest = Math.max(...loads.map((load) => load.slowest()))
    t.diagnostic(
      `moved in ${moved - begun} ms; ${sent.length} postings, ${late} of them told to come ` +
        `again; slowest answer ${slowest} ms`,
    )
    assert.deepEqual(
      loads.flatMap(({ odd }) => odd),
      [],
    )
    assert.ok((await shardsOn(port)) > 0, 'nothing was moved')
    assert.deepEqual(await counted(service.connection, sent), { lost: 0, doubled: 0 })
    await assertVerified(service)
  })
})
