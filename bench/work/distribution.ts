import pg from 'pg'
import { atMost, call, type Result, result, type Workload } from '../measure.ts'

/** What each stage writes, by table: new rows, and those it writes anew. */
const written: Record<string, Record<string, string>> = {
  Declare: { entitlement: 'corporate_action_id = $1' },
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
 * A distribution on class 1, which everybody holds, reinvested in class 2, against plain
 * INSERT … SELECTs of the rows that each stage left, into tables with the same columns and indexes.
 */
export const distributionStages: Workload = async ({ service, size }) => {
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
  const [record] = [created.data()].flat() as [{ corporateActionID: number }]
  const key = { productID: 1, corporateActionID: record.corporateActionID }
  const client = new pg.Client(service.connection)
  await client.connect()
  const results: Result[] = []
  try {
    for (const [place, stage] of Object.keys(written).entries()) {
      await client.query('checkpoint')
      const { milliseconds } = await post(`/${stage}`, key)
      const plain = await plainly(client, written[stage]!, key.corporateActionID)
      const what = {
        number: `4${'abc'[place]}`,
        work: `${stage} over ${size.entities.toLocaleString('en')} accounts`,
        baseline: `plain INSERT … SELECT of the ${plain.rows.toLocaleString('en')} rows it wrote`,
        unit: 'ms',
      }
      results.push(result(what, { subject: milliseconds, against: plain.milliseconds }, atMost(3)))
    }
  } finally {
    await client.end()
  }
  return results
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
