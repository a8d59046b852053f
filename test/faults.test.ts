import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbedded } from '../src/platform/embedded/postgres.ts'
import { migrate } from '../src/platform/sql/migrate.ts'
import type { Reply } from './support/client.ts'
import { rowsOf } from './support/database.ts'
import { type Fund, newFund, newProduct } from './support/ledger.ts'
import { assertAllThere, startLoad, unavailable } from './support/load.ts'
import { type Node, startNode } from './support/node.ts'
import { databasePid, temporaryFolder, until } from './support/process.ts'
import { startProxy } from './support/proxy.ts'
import { refused } from './support/refused.ts'
import type { Service } from './support/service.ts'

/** These tests use a durable database, a network to it that can fail, and a node of the service. */
describe('The service, when its database', { concurrency: false }, () => {
  const dataDir = temporaryFolder()
  let server: Awaited<ReturnType<typeof startEmbedded>>
  let proxy: Awaited<ReturnType<typeof startProxy>>
  let node: Node
  let service: Service
  let fund: Fund

  before(async () => {
    const settings = { shared_buffers: '32MB' }
    server = await startEmbedded({ dataDir, settings, onEvent: () => {} })
    await migrate(server.connection)
    proxy = await startProxy(server.connection)
    node = await startNode({ ...server.connection, ...proxy.place }, { REGISTRY_WORKER: 'false' })
    service = { ...node, connection: server.connection } as unknown as Service
  })
  after(async () => {
    await node.stop()
    await proxy.stop()
    await server.stop()
  })

  /** Runs load, a fault, and more load: no acknowledged posting is lost, no resource stays held. */
  async function survives(fault: (load: ReturnType<typeof startLoad>) => Promise<void>) {
    fund = await newFund(service, { accounts: 8 })
    const load = startLoad(service.admin, fund)
    await load.goesOn()
    await fault(load)
    await load.goesOn()
    const acknowledged = await load.stop()
    assert.ok(load.refusals() > 0, 'the fault was felt')
    await assertAllThere(service, fund, acknowledged)
    await assertNothingHeld()
  }

  /** Asserts that no transaction is open, and no more connections than the pools may have. */
  async function assertNothingHeld() {
    await until('the connections to be free', async () => {
      const rows = await rowsOf(
        server.connection,
        `select state from pg_stat_activity
         where application_name = 'registry' and datname = current_database()`,
      )
      assert.ok(rows.length <= 20, `${rows.length} connections`)
      return rows.every(({ state }) => state === 'idle')
    })
    const metrics = await (await fetch(`${node.url}/metrics`)).text()
    assert.match(metrics, /^database_connections\{state="waiting"\} 0$/m)
  }

  it('ends connections over and over, loses nothing and comes back', () =>
    survives(async () => {
      for (let round = 0; round < 20; round++) {
        await rowsOf(
          server.connection,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'registry'`,
        )
        await sleep(50)
      }
    }))

  it('is cut off in the middle of everything, loses nothing and comes back', () =>
    survives(async () => {
      for (let round = 0; round < 20; round++) {
        proxy.cut()
        await sleep(50)
      }
    }))

  for (const [how, signal] of [
    ['in an orderly way', 'SIGINT'],
    ['at once', 'SIGQUIT'],
  ] as const)
    it(`restarts ${how} under load, loses nothing and comes back`, () =>
      survives(async (load) => {
        const former = databasePid(dataDir)
        process.kill(former, signal)
        await until('another server', () => {
          try {
            return databasePid(dataDir) !== former
          } catch {
            return false // between the two there is none
          }
        })
        await load.goesOn()
      }))

  it('says nothing any more, answers everybody who asks, and comes back', () =>
    survives(async () => {
      proxy.fallSilent()
      const asked = [
        node.admin.get('/Product'),
        node.admin.post('/Product', { name: 'Into the void' }),
        node.admin.get('/PaymentDetail'),
        node.anyone.get('/Common/HealthCheck'),
      ]
      // All of them are answered while the silence lasts.
      for (const reply of await Promise.all(asked)) unavailable(reply)
      proxy.speakAgain()
    }))

  it('is locked in one place, serves everybody else and refuses who is too many', async () => {
    fund = await newFund(service, { accounts: 3 })
    const [locked, ...others] = fund.accounts
    const { productID } = await newProduct(service)
    const post = (accountID: number) =>
      node.admin.post('/BizTransaction/Deposit', {
        productID: fund.productID,
        investmentID: fund.investmentID,
        accountID,
        amount: 1,
        transactionDate: '2026-01-10',
      })
    assert.equal((await post(locked!.accountID)).status, 200)
    const holder = new pg.Client(server.connection)
    await holder.connect()
    await holder.query('begin')
    await holder.query('select from product where product_id = $1 for update', [productID])
    await holder.query('select from ledger_account where account_id = $1 for update', [
      locked!.accountID,
    ])
    const waiting = Array.from({ length: 50 }, () => post(locked!.accountID))
    const renames = Array.from({ length: 530 }, (_, i) =>
      node.admin.put('/Product', { productID, name: `Name ${i}` }),
    )
    // The excess is refused while the lock still holds.
    const refusals = await until('some to be refused', () => someOf(renames, 10))
    for (const reply of refusals) {
      refused(reply, 503, 'busy')
      unavailable(reply)
    }
    for (let i = 0; i < 20; i++)
      for (const { accountID } of others) assert.equal((await post(accountID)).status, 200)
    assert.equal((await node.admin.get(`/Product?ProductID=${productID}`)).status, 200)
    // Those who wait for too long are told so.
    await until('the first to give up', () => someOf(renames, refusals.length + 1))
    await holder.query('rollback')
    await holder.end()
    for (const reply of await Promise.all(waiting)) assert.equal(reply.status, 200, reply.text)
    const ends = await Promise.all(renames)
    for (const reply of ends) if (reply.status !== 200) unavailable(reply)
    // How many had waited for too long depends on the machine; whoever comes now is served.
    assert.ok(ends.some(({ status }) => status === 200))
    const now = Array.from({ length: 400 }, (_, i) =>
      node.admin.put('/Product', { productID, name: `Now ${i}` }),
    )
    for (const reply of await Promise.all(now)) assert.equal(reply.status, 200, reply.text)
    await assertNothingHeld()
  })
})

/** Waits until so many of the answers have come, and returns them. */
async function someOf(answers: Promise<Reply>[], count: number): Promise<Reply[] | undefined> {
  const seen = await Promise.all(answers.map((answer) => Promise.race([answer, undefined])))
  const come = seen.filter((one) => one !== undefined)
  return come.length >= count ? come : undefined
}
