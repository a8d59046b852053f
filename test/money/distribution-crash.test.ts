import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { freshDatabase } from '../support/database.ts'
import { configure, keyOf } from '../support/distribution.ts'
import { assertVerified, only } from '../support/ledger.ts'
import { type Node, startNode } from '../support/node.ts'
import { until } from '../support/process.ts'
import { seedHolders } from '../support/seed.ts'

/** How many accounts take part; fewer for a quick look, more on a large machine. */
const accounts = Number(process.env.REGISTRY_CRASH_ACCOUNTS ?? 12_000)

/** Runs every stage in one database transaction; distribution-job-crash.test.ts has the jobs. */
const atOnce = { REGISTRY_STAGE_INLINE: '1000000' }

let connection: pg.ClientConfig
let client: pg.Client
let node: Node
let distribution: { productID: number; corporateActionID: number }

before(async () => {
  connection = await freshDatabase()
  client = new pg.Client(connection)
  await client.connect()
  const { productID, investmentIDs } = await seedHolders(client, accounts)
  node = await startNode(connection, atOnce)
  const fund = { productID, investmentID: investmentIDs[0]! }
  distribution = await configure(node, fund, {
    distributionAmountTotal: 1_234_567.89,
    taxComponents: [
      { taxComponentName: 'CapitalGains', percentage: 33.3333 },
      { taxComponentName: 'AustralianFrankedDividends', percentage: 66.6667 },
    ],
    drpIndicatorID: 2,
    drpPrice: 1.2345,
    drpInvestmentID: investmentIDs[1],
  })
})
after(async () => {
  await node.stop()
  await client.end()
})

/** A summary of everything that a stage writes, in a few figures. */
async function picture() {
  const { rows } = await client.query(`
    select (select json_agg(d) from distribution d) as distributions,
      (select json_build_array(count(*), sum(gross_amount), count(payment_transaction_id),
        count(payment_detail_id), count(drp_units), sum(drp_residual))
        from entitlement) as entitled,
      (select json_build_array(count(*), sum(amount), sum(quantity), count(corporate_action_id))
        from biz_transaction) as ledger,
      (select json_build_array(count(*), sum(quantity), sum(cost_amount)) from holding) as held,
      (select json_build_array(count(*), max(last_date))
        from ledger_account) as totals,
      (select json_build_array(count(*), sum(amount)) from drp_residual) as residuals,
      (select count(*) from audit) as audited`)
  return rows[0]
}

/** What the other connections to the database are doing. */
const others = async (condition: string, values: unknown[] = []) => {
  const { rowCount } = await client.query(
    `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    values,
  )
  return rowCount! > 0
}

const call = (stage: string) =>
  node.admin.post(`/Distribution/${stage}`, keyOf(distribution)).catch(() => undefined)

/** Kills the service with the stage in the middle of this statement, and starts it again. */
async function killDuring(stage: string, statement: string) {
  const earlier = await picture()
  const calling = call(stage)
  await until(`${stage} to get to ${statement}`, () =>
    others(`state = 'active' and query ~* $1`, [statement]),
  )
  await node.kill()
  assert.equal(await calling, undefined, 'nobody was told that it is done')
  await until('its transaction to end', async () => !(await others('xact_start is not null')))
  assert.deepEqual(await picture(), earlier)
  node = await startNode(connection, atOnce)
}

const moments: [string, string[], number][] = [
  ['Declare', ['insert into entitlement'], 2],
  ['Payment', ['update entitlement', 'insert into biz_transaction'], 3],
  ['DrpAllotment', ['insert into biz_transaction'], 4],
]

describe(`A service killed (-9) while ${accounts} accounts take part`, () => {
  for (const [stage, statements, statusID] of moments)
    it(`leaves the stage before ${stage} whole, and does it when called again`, async () => {
      for (const statement of statements) await killDuring(stage, statement)
      const reply = await node.admin.post(`/Distribution/${stage}`, keyOf(distribution))
      assert.equal(only(reply).distributionStatusID, statusID)
    })

  it('leaves a register in which verify finds nothing', () => assertVerified({ connection }))
})
