import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
// @ts-expect-error: not in the driver's types; it is how the driver writes a value
import { prepareValue } from 'pg/lib/utils.js'
import { readSteps } from '../../src/platform/sql/steps.ts'
import {
  configure,
  type Distribution,
  fundOf,
  newPaymentDetail,
  stage,
  takeBack,
} from '../support/distribution.ts'
import { all, type Fund, newFund, only, poster } from '../support/ledger.ts'
import { newRun } from '../support/payment-run.ts'
import { type Service, startService } from '../support/service.ts'

/** `npm run test:citus` runs this after the walk: SQL about one product must go to one shard. */
let service: Service
let fund: Fund
let paying: Fund
let distribution: Distribution
before(async () => {
  service = await startService()
  await newFund(service) // another product, on another shard perhaps
  fund = await newFund(service, { accounts: 2 })
  only(await post('Deposit', { ...own(), amount: 100 }))
  paying = await fundOf(service, [100, 50])
  for (const { accountID } of paying.accounts) await newPaymentDetail(service, accountID)
  const drp = { drpIndicatorID: 2, drpPrice: 1, drpInvestmentID: paying.investmentID }
  distribution = await configure(service, paying, { distributionAmountPerUnit: 1, ...drp })
})
after(() => service.stop())

const own = () => ({ accountID: fund.accountID, investmentID: fund.investmentID })
const post = poster(() => service.admin)
const get = (path: string) => async () => all(await service.admin.get(path))
const list = (path: string, more = '') =>
  get(`${path}?ProductID=${fund.productID}${more && `&${more}`}`)

const requests: Record<string, () => Promise<unknown>> = {
  'a deposit': async () => only(await post('Deposit', { ...own(), amount: 1 })),
  'an allotment': async () => only(await post('Allotment', { ...own(), quantity: 1 })),
  'a redemption': async () => only(await post('Redemption', { ...own(), quantity: 1 })),
  'a posting dated back': async () =>
    only(await post('Deposit', { ...own(), amount: 1, transactionDate: '2020-01-02' })),
  'deposits as an array': async () =>
    all(
      await post(
        'Deposit',
        [1, 2, 3].map((amount) => ({ ...own(), amount })),
      ),
    ),
  'a transfer': async () => {
    const [from, to] = fund.accounts.map(({ accountID }) => accountID)
    const investmentID = fund.investmentID
    return all(
      await post('Transfer', { fromAccountID: from, toAccountID: to, investmentID, quantity: 1 }),
    )
  },
  'a distribution that is declared': () => stage(service.admin, 'Declare', distribution),
  'its payment': () => stage(service.admin, 'Payment', distribution),
  'a payment run': () => newRun(service.admin, paying),
  'its reinvestment': () => stage(service.admin, 'DrpAllotment', distribution),
  'a stage that is taken back': () => takeBack(service.admin, distribution, 4),
  'a page of transactions': () => list('/BizTransaction')(),
  'the newest transactions': () => list('/BizTransaction', 'Order=desc')(),
  'transactions of an account': () => list('/BizTransaction', `AccountID=${fund.accountID}`)(),
  'transactions with closings': () => list('/BizTransaction', 'ShowClosing=true')(),
  'transactions from a day on': () =>
    list('/BizTransaction', 'TransactionDate.greaterThan=2020-01-01')(),
  'holdings of a product': () => list('/BizEntity/Account/Holdings')(),
  'holdings of an account': () =>
    list('/BizEntity/Account/Holdings', `AccountID=${fund.accountID}`)(),
  'holdings of a day': () => list('/BizEntity/Account/Holdings', 'Date=2026-01-31')(),
  'how a holding came about': () =>
    list(
      '/BizEntity/Account/Holdings/Explain',
      `AccountID=${fund.accountID}&InvestmentID=${fund.investmentID}`,
    )(),
  'transactions as known': () =>
    list('/BizTransaction', `KnownAt=${new Date(Date.now() - 1).toISOString()}`)(),
  'a page of notices': () => list('/BizEvent')(),
  'a page of distributions': () => list('/Distribution')(),
  'what accounts get of distributions': () =>
    get(`/Distribution/Account?ProductID=${paying.productID}`)(),
  'a page of payment runs': () => list('/PaymentRun')(),
  'a page of holds': () => list('/Hold')(),
}

type Sent = { text: string; values: unknown[] }

/** The SQL statements that this process sends to PostgreSQL while it does some work. */
async function sentBy(work: () => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  const listening = function (this: pg.Client, ...given: unknown[]) {
    const { text, values } = given[0] as Partial<Sent>
    if (text) sent.push({ text, values: values ?? [] })
    return Reflect.apply(query, this, given)
  }
  Object.assign(prototype, { query: listening })
  try {
    await work()
  } finally {
    Object.assign(prototype, { query })
  }
  return sent
}

const ledger = readSteps().flatMap(({ kind, table }) =>
  kind === 'create_distributed_table' ? table! : [],
)
const readsLedger = new RegExp(
  `\\b(from|join|into|update)\\s+\\(*(public\\.)?(${ledger.join('|')})\\b`,
  'i',
)

/** Whether an SQL statement must name the product; a look-up by id alone asks every shard. */
const isOfOneProduct = ({ text }: Sent) =>
  readsLedger.test(text) && !/= any\(array\(\s*select product_id from product/.test(text)

async function tasksOf({ text, values }: Sent): Promise<string[]> {
  const client = new pg.Client(service.connection)
  await client.connect()
  try {
    const path = /as known/.test(text) ? 'known, named, public' : 'public'
    await client.query(`begin; set local search_path = ${path};
      set local registry.known_at = '2026-01-01Z'; set local registry.named_at = '2026-01-01Z'`)
    const given = values.map((value) => {
      const written = prepareValue(value)
      return written === null ? 'null' : pg.escapeLiteral(String(written))
    })
    const asked = text.replace(/\$(\d+)/g, (_, n) => given[n - 1]!)
    const { rows } = await client.query(`explain ${asked}`)
    const lines = rows.map((row) => String(row['QUERY PLAN']))
    // Rows that come along with the statement are of its product, and go where that lives.
    const ofGiven = lines.some((line) => /Citus INSERT \.\.\. SELECT/.test(line)) ? ['1'] : []
    return [...ofGiven, ...lines.flatMap((line) => /Task Count: (.+)/.exec(line)?.[1] ?? [])]
  } finally {
    await client.end()
  }
}

describe('A statement of one product', () => {
  for (const [name, request] of Object.entries(requests))
    it(`goes to one shard: ${name}`, async () => {
      const sent = (await sentBy(request)).filter(isOfOneProduct)
      assert.ok(sent.length > 0, 'nothing of the ledger was asked')
      for (const one of sent) {
        const tasks = await tasksOf(one)
        assert.ok(tasks.length > 0, `no tasks: ${one.text}`)
        assert.deepEqual([...new Set(tasks)], ['1'], one.text)
      }
    })
})
