import pg from 'pg'
import { median } from '../load.ts'
import { atMost, call, result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'
import { finished } from './distribution.ts'

/** Most registers have the tax file number or the ABN of nine investors in ten. */
const quoteMost = "update person set abn = '51824753556' where person_id % 10 <> 0"
const quoteNone = 'update person set abn = null'

/** The payment of a distribution with withholding tax against one without, in turns. */
export const withholding: Workload = async ({ service, size, rounds }) => {
  const client = new pg.Client(service.connection)
  await client.connect()
  try {
    await client.query(quoteNone)
    const all = await payment(service, client, true)
    await client.query(quoteMost)
    const [taxed, plain]: [number[], number[]] = [[], []]
    for (let round = 0; round < (size.name === 'small' ? rounds : 1); round++) {
      plain.push(await payment(service, client, false))
      taxed.push(await payment(service, client, true))
    }
    await client.query('update product set withholding = false')
    return [
      result(
        {
          number: '14',
          work: `Payment over ${size.entities.toLocaleString('en')} accounts, a tenth taxed`,
          baseline: 'the same without withholding, in turns',
          unit: 'ms',
          note: `all of them taxed, each with a transaction more: ${all.toFixed(0)} ms`,
        },
        { subject: median(taxed), against: median(plain) },
        atMost(1.5),
      ),
    ]
  } finally {
    await client.end()
  }
}

async function payment(service: Service, client: pg.Client, withholds: boolean): Promise<number> {
  await client.query('update product set withholding = $1 where product_id = 1', [withholds])
  let start = 0
  await paidDistribution(service, async () => {
    await client.query('checkpoint')
    start = performance.now()
  })
  return performance.now() - start
}

/** Creates a distribution to everybody who holds class 1, declares it and pays it. */
export async function paidDistribution(service: Service, beforePayment = async () => {}) {
  const post = (path: string, body: object) =>
    call(service, 'POST', `/Distribution${path}`, JSON.stringify(body))
  const created = await post('', {
    productID: 1,
    investmentID: 1,
    recordDate: '2026-10-31',
    paymentDate: '2026-11-02',
    distributionAmountPerUnit: 0.0325,
    taxComponents: [
      { taxComponentName: 'CapitalGains', percentage: 30 },
      { taxComponentName: 'AustralianUnfrankedDividends', percentage: 70 },
    ],
  })
  const [{ corporateActionID }] = [created.data()].flat() as [{ corporateActionID: number }]
  const which = { productID: 1, corporateActionID }
  await post('/Declare', { ...which, confirmSecond: true })
  await finished(service, corporateActionID)
  await beforePayment()
  await post('/Payment', which)
  await finished(service, corporateActionID)
  return corporateActionID
}
