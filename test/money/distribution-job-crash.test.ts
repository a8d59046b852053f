import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { freshDatabase } from '../support/database.ts'
import { configure, keyOf } from '../support/distribution.ts'
import { assertVerified } from '../support/ledger.ts'
import { type Node, startNode } from '../support/node.ts'
import { until } from '../support/process.ts'
import { seedHolders } from '../support/seed.ts'

/** How many accounts take part, and how many of them the job handles at a time. */
const accounts = Number(process.env.REGISTRY_CRASH_ACCOUNTS ?? 3_000)
const inRanges = { REGISTRY_STAGE_INLINE: String(Math.ceil(accounts / 10)) }

let connection: pg.ClientConfig
let client: pg.Client
let node: Node
let distribution: { productID: number; corporateActionID: number }

before(async () => {
  connection = await freshDatabase()
  client = new pg.Client(connection)
  await client.connect()
  const { productID, investmentIDs } = await seedHolders(client, accounts)
  node = await startNode(connection, inRanges)
  const fund = { productID, investmentID: investmentIDs[0]! }
  distribution = await configure(node, fund, {
    distributionAmountTotal: 1_234_567.89,
    drpIndicatorID: 2,
    drpPrice: 1.2345,
    drpInvestmentID: investmentIDs[1],
  })
})
after(async () => {
  await node.stop()
  await client.end()
})

type Progress = { phase: number; after: number; status: number } | undefined

/** The progress of the stage; undefined if no stage is under way. */
async function progress(): Promise<Progress> {
  const { rows } = await client.query(`
    select phase, after_account_id as after from distribution_stage`)
  return rows[0]
}
const status = async (): Promise<number> => {
  const { rows } = await client.query('select distribution_status_id as id from distribution')
  return rows[0].id
}

/** Kills the service as soon as it has got further than before, and starts it again. */
async function killOnTheWay(earlier: Progress): Promise<Progress> {
  const now = await until('the stage to get on', async () => {
    const seen = await progress()
    const further = !seen || !earlier || seen.phase > earlier.phase || seen.after > earlier.after
    return further ? { seen } : undefined
  })
  await node.kill()
  await assertVerified({ connection })
  node = await startNode(connection, inRanges)
  return now.seen
}

const stages: [string, object, number][] = [
  ['Declare', {}, 2],
  ['Payment', {}, 3],
  ['DrpAllotment', {}, 4],
  ['Reverse', { fromStatusID: 4, reason: 'tried' }, 3],
  ['Reverse', { fromStatusID: 3, reason: 'tried' }, 2],
  ['Payment', {}, 3],
]

describe(`A service killed (-9) between and in the ranges of ${accounts} accounts`, () => {
  for (const [stage, body, statusID] of stages)
    it(`finishes ${stage} to status ${statusID} once, with no account half done`, async () => {
      const path = `/Distribution/${stage}`
      const reply = await node.admin.post(path, { ...keyOf(distribution), ...body })
      assert.equal(reply.status, 202, reply.text)
      await killOnTheWay(await progress())
      await until(`status ${statusID}`, async () => !(await progress()))
      assert.equal(await status(), statusID)
      await assertVerified({ connection })
    })

  it('has paid every account once', async () => {
    const { rows } = await client.query(`
      select count(*)::int as paid, count(distinct account_id)::int as accounts,
        trim_scale(sum(amount)) as amount
      from biz_transaction
      where biz_transaction_type_id = 10 and biz_transaction_status_id <> 3`)
    assert.equal(rows[0].paid, rows[0].accounts)
    const { rows: told } = await client.query(
      'select trim_scale(paid_amount) as amount from distribution',
    )
    assert.equal(rows[0].amount, told[0].amount)
  })

  it('ends within its time when told to (SIGTERM) in the middle, and goes on later', async () => {
    const reply = await node.admin.post('/Distribution/DrpAllotment', keyOf(distribution))
    assert.equal(reply.status, 202, reply.text)
    assert.equal(await node.stop(), 0)
    await assertVerified({ connection })
    node = await startNode(connection, inRanges)
    await until('the stage to be finished', async () => (await status()) === 4)
    await assertVerified({ connection })
  })
})
