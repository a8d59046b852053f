import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import type { Client, Reply } from '../support/client.ts'
import { freshDatabase, waitingForLocks } from '../support/database.ts'
import { configure, stage } from '../support/distribution.ts'
import { assertVerified } from '../support/ledger.ts'
import { type Node, startNode } from '../support/node.ts'
import { paymentsOf, runBody } from '../support/payment-run.ts'
import { until } from '../support/process.ts'
import { seedHolders } from '../support/seed.ts'

const accounts = 300

let connection: pg.ClientConfig
let client: pg.Client
let node: Node
let approver: Client
let fund: { productID: number; investmentID: number }
let runID: number | undefined

before(async () => {
  connection = await freshDatabase()
  client = new pg.Client(connection)
  await client.connect()
  const { productID, investmentIDs } = await seedHolders(client, accounts)
  fund = { productID, investmentID: investmentIDs[0]! }
  await start()
  const user = { username: 'second', password: 'another password', role: 'Administrator' }
  assert.equal((await node.admin.post('/User', user)).status, 200)
  const distribution = await configure(node, fund, { distributionAmountPerUnit: 1 })
  await stage(node.admin, 'Declare', distribution)
  await stage(node.admin, 'Payment', distribution)
  await client.query(`update payment_detail set bsb = '062000', account_number = '12345678'`)
  await signIn()
})
after(async () => {
  await node.stop()
  await client.end()
})

async function start() {
  node = await startNode(connection)
}
const signIn = async () => {
  approver = await node.anyone.signIn('second', 'another password')
}

/** A summary of everything that a step of a payment run can write. */
async function picture() {
  const tables = ['payment_run', 'payment', 'payment_item', 'payment_exception', 'payment_run_file']
  const parts = [...tables, 'event', 'audit'].map(
    (table) => `select '${table}' as t, count(*)::int as n,
      md5(coalesce(string_agg(r::text, '' order by r::text), '')) as h from ${table} r`,
  )
  return (await client.query(parts.join(' union all '))).rows
}

/** Whether another session has a database transaction open. */
const isUnderWay = async () =>
  (
    await client.query(`select from pg_stat_activity where datname = current_database()
      and pid <> pg_backend_pid() and backend_type = 'client backend'
      and xact_start is not null`)
  ).rowCount! > 0

/** Kills the service while a step waits to write this table, after everything before it. */
async function killAt(table: string, call: () => Promise<unknown>) {
  const earlier = await picture()
  await client.query('begin')
  await client.query(`lock table ${table} in share mode`)
  const calling = call().catch(() => 'cut off')
  await until(`the step to get to ${table}`, async () => (await waitingForLocks(connection)) > 0)
  await node.kill()
  assert.equal(await calling, 'cut off', 'nobody was told that it is done')
  await client.query('commit')
  await until('its transaction to end', async () => !(await isUnderWay()))
  assert.deepEqual(await picture(), earlier)
  await start()
  await signIn()
}

const key = () => ({ paymentRunID: runID! })
const results = async (state: string) => ({
  ...key(),
  payments: (await paymentsOf(node.admin, key())).map(({ paymentID }: { paymentID: number }) => ({
    paymentID,
    state,
  })),
})

/** Reissues the first half of the payments, by their ids. */
const reissueHalf = async () => {
  const ids = (await paymentsOf(node.admin, key())).map(
    ({ paymentID }: { paymentID: number }) => paymentID,
  )
  const half = { ...key(), paymentIDs: ids.slice(0, ids.length / 2) }
  return node.admin.post('/PaymentRun/Reissue', half)
}

const steps: [string, string, () => Promise<Reply>][] = [
  ['a run is made', 'payment_item', () => node.admin.post('/PaymentRun', runBody(fund))],
  ['it is approved', 'payment_run_file', () => approver.post('/PaymentRun/Approve', key())],
  ['it is sent', 'payment', () => node.admin.post('/PaymentRun/Sent', key())],
  [
    'its results are told',
    'audit',
    async () => node.admin.post('/PaymentRun/Result', await results('Returned')),
  ],
  ['half of it is reissued', 'payment_item', reissueHalf],
  [
    'the rest is unclaimed',
    'audit',
    () => node.admin.post('/PaymentRun/Unclaimed', { ...key(), days: 0 }),
  ],
]

describe('A service killed (-9) in the midst of a payment run', () => {
  for (const [words, table, call] of steps)
    it(`leaves all as it was while ${words}, and does it when called again`, async () => {
      await killAt(table, call)
      const reply = await call()
      assert.equal(reply.status, 200, reply.text)
      runID ??= reply.data[0].paymentRunID
    })

  it('has paid nobody twice, and verify finds nothing', async () => {
    await assertVerified({ connection })
    const { rows } = await client.query(`
      select state, count(*)::int as count from payment group by state order by state`)
    const [pending, reissued, unclaimed] = rows
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['Pending', 'Reissued', 'Unclaimed'],
    )
    assert.equal(pending.count, reissued.count)
    const { rows: paid } = await client.query('select count(*)::int as n from payment_item')
    assert.equal(pending.count + unclaimed.count, paid[0].n)
    assert.ok(paid[0].n > accounts / 2)
  })
})
