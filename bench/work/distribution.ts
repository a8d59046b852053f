import pg from 'pg'
import { median } from '../load.ts'
import { atMost, call, result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'

/** The rows that each stage inserts or updates: a condition for each table. */
const written: Record<string, Record<string, string>> = {
  Declare: {
    entitlement: 'corporate_action_id = $1',
    entitlement_total: `(product_id, account_id, investment_id) in (
      select product_id, account_id, investment_id from entitlement
      where corporate_action_id = $1)`,
  },
  Payment: {
    biz_transaction: 'corporate_action_id = $1 and biz_transaction_type_id = 10',
    entitlement: 'corporate_action_id = $1',
    ledger_account: `(product_id, account_id) in (
      select product_id, account_id from entitlement where corporate_action_id = $1)`,
  },
  DrpAllotment: {
    biz_transaction: 'corporate_action_id = $1 and biz_transaction_type_id = 11',
    entitlement: 'corporate_action_id = $1 and drp_amount > 0',
    holding: `investment_id = 2 and (product_id, account_id) in (
      select product_id, account_id from entitlement
      where corporate_action_id = $1 and drp_units > 0)`,
    ledger_account: `(product_id, account_id) in (
      select product_id, account_id from entitlement
      where corporate_action_id = $1 and drp_units > 0)`,
    drp_residual: `(product_id, account_id) in (
      select product_id, account_id from entitlement where corporate_action_id = $1)`,
  },
}

/**
 * A distribution on class 1, which every account holds, reinvested in class 2. The baseline is a
 * plain INSERT … SELECT of the rows that each stage wrote, into tables with the same columns and
 * indexes. On the small register it runs several times, because one run is too short to tell much.
 */
export const distributionStages: Workload = async ({ service, size, rounds }) => {
  const client = new pg.Client(service.connection)
  await client.connect()
  try {
    const runs: Stage[][] = []
    for (let run = 0; run < (size.name === 'small' ? rounds : 1); run++)
      runs.push(await stagesOfOne(service, client))
    return runs[0]!.map(({ stage, rows }, place) => {
      const what = {
        number: `4${'abc'[place]}`,
        work: `${stage} over ${size.entities.toLocaleString('en')} accounts`,
        baseline: `plain INSERT … SELECT of the ${rows.toLocaleString('en')} rows it wrote`,
        unit: 'ms',
      }
      const all = runs.map((stages) => stages[place]!)
      const subject = median(all.map(({ milliseconds }) => milliseconds))
      const against = median(all.map(({ plain }) => plain))
      return result(what, { subject, against }, atMost(3))
    })
  } finally {
    await client.end()
  }
}

type Stage = { stage: string; milliseconds: number; plain: number; rows: number }

/** Each round declares another distribution with the same record date, which must be confirmed. */
const second: Record<string, object> = { Declare: { confirmSecond: true } }

/** Runs one distribution from its creation to its last stage. */
async function stagesOfOne(service: Service, client: pg.Client): Promise<Stage[]> {
  const post = (path: string, body: object) =>
    call(service, 'POST', `/Distribution${path}`, JSON.stringify(body))
  const created = await post('', {
    productID: 1,
    investmentID: 1,
    recordDate: '2026-10-31',
    paymentDate: '2026-11-02', // after all that other workloads post
    distributionAmountPerUnit: 0.0325,
    drpIndicatorID: 2,
    drpInvestmentID: 2,
    drpPrice: 1.2345,
    taxComponents: [
      { taxComponentName: 'CapitalGains', percentage: 33.3333 },
      { taxComponentName: 'AustralianFrankedDividends', percentage: 66.6667 },
    ],
  })
  const [{ corporateActionID }] = [created.data()].flat() as [{ corporateActionID: number }]
  const stages: Stage[] = []
  for (const [stage, tables] of Object.entries(written)) {
    await client.query('checkpoint')
    const start = performance.now()
    await post(`/${stage}`, { productID: 1, corporateActionID, ...second[stage] })
    await finished(service, corporateActionID)
    const milliseconds = performance.now() - start
    const plain = await plainly(client, tables, corporateActionID)
    stages.push({ stage, milliseconds, plain: plain.milliseconds, rows: plain.rows })
  }
  return stages
}

/** Waits until a stage has ended: with more than 20,000 accounts it is a job that runs on. */
export async function finished(service: Service, corporateActionID: number) {
  for (;;) {
    const path = `/Distribution?ProductID=1&CorporateActionID=${corporateActionID}`
    const [found] = (await call(service, 'GET', path)).data() as [{ stageProgress: unknown }]
    if (found.stageProgress === null) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function plainly(client: pg.Client, tables: Record<string, string>, action: number) {
  let [milliseconds, rows] = [0, 0]
  for (const [table, condition] of Object.entries(tables)) {
    const where = condition.replaceAll('$1', String(action))
    await client.query(`create table plain (like ${table} including all); checkpoint`)
    const start = performance.now()
    const { rowCount } = await client.query(
      `insert into plain overriding system value select * from ${table} where ${where}`,
    )
    milliseconds += performance.now() - start
    rows += rowCount ?? 0
    await client.query('drop table plain')
  }
  return { milliseconds, rows }
}
