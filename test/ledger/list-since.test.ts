import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isSpread, rowsOf } from '../support/database.ts'
import { all, newAccounts, newInvestment, newPrice, newProduct } from '../support/ledger.ts'
import { walksBothWays } from '../support/pages.ts'
import { type Service, startService } from '../support/service.ts'

type Row = {
  bizTransactionID: number
  transactionDate: string
  createdDate: string
  accountID: number
  investmentID: number
  externalAccountId: string
}

let service: Service
let everything: Row[]

const dayOf = (n: number) => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10)

/**
 * Makes ids as far apart as in a very large register, where lists are searched in steps
 * (platform/sql/by-windows.ts). Not on Citus, which does not allow the sequence of a distributed
 * table to be altered, and reads its shards without steps.
 */
const farApart = `
  alter sequence biz_transaction_biz_transaction_id_seq increment by 397;
  alter sequence biz_event_biz_event_id_seq increment by 1013`

/** Creates rows on 60 days, many on some of them, in an order unrelated to days and ids. */
before(async () => {
  service = await startService()
  if (!isSpread) await rowsOf(service.connection, farApart)
  const { productID } = await newProduct(service)
  const { investmentID } = await newInvestment(service, productID)
  await newPrice(service, investmentID, '2020-01-01', 1)
  const accounts = await newAccounts(service, productID, 900)
  const bodies = accounts.map(({ accountID }, n) => ({
    accountID,
    investmentID,
    transactionDate: dayOf(n % 5 === 0 ? 50 : (n * 37 + Math.floor(n / 100)) % 60),
    amount: 1,
  }))
  all(await service.admin.post('/BizTransaction/Deposit', bodies))
  await rowsOf(
    service.connection,
    `update biz_transaction set created_date = to_timestamp(
      extract(epoch from timestamptz '2024-01-01 00:00Z')
        + (biz_transaction_id * 7919 % 1000) * 3600)`,
  )
  everything = all(await service.admin.get('/BizTransaction?PageSize=1000'))
  // More accounts than a page by its accounts begins with.
  await newAccounts(service, productID, 5200)
})
after(() => service.stop())

const asked: [string, (row: Row) => boolean][] = [
  ['TransactionDate.greaterThan=2024-02-10', (row) => row.transactionDate > '2024-02-11'],
  ['TransactionDate.greaterThanOrEqual=2024-02-19', (row) => row.transactionDate >= '2024-02-19'],
  [
    'TransactionDate.greaterThan=2024-02-18&TransactionDate.lessThan=2024-02-21',
    (row) => row.transactionDate > '2024-02-19' && row.transactionDate < '2024-02-21',
  ],
  ['TransactionDate.greaterThan=2024-12-31', () => false],
  ['CreatedDate=2024-02-01T05:00:00Z', (row) => row.createdDate >= '2024-02-01T05:00:00Z'],
  [
    'CreatedDate.greaterThan=2024-01-20T00:00:00Z&CreatedDate.lessThan=2024-01-25T00:00:00Z',
    (row) => row.createdDate > '2024-01-20T00:00:00Z' && row.createdDate < '2024-01-25T00:00:00Z',
  ],
  [
    'CreatedDate.lessThanOrEqual=2024-01-05T00:00:00Z',
    (row) => row.createdDate <= '2024-01-05T00:00:00Z',
  ],
  ['CreatedDate.equal=2024-01-05T00:00:00Z', (row) => row.createdDate === '2024-01-05T00:00:00Z'],
]

describe('A list from a day or from a moment on', () => {
  for (const [query, fits] of asked)
    it(`has just what there is, page by page: ${query}`, async () => {
      const wanted = everything.filter(fits).map(({ bizTransactionID }) => bizTransactionID)
      for (const size of [1, 7, 60, 1000]) {
        const numbered: number[] = []
        const pages = Math.min(4, Math.ceil(wanted.length / size) + 1)
        for (let number = 1; number <= pages; number++)
          numbered.push(...ids(await get(`${query}&PageSize=${size}&PageNumber=${number}`)))
        assert.deepEqual(numbered, wanted.slice(0, pages * size), `pages of ${size}`)
      }
      const followed: number[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const next: Reply = await get(`${query}&PageSize=97${cursor && `&Cursor=${cursor}`}`)
        followed.push(...ids(next))
        cursor = next.body.nextCursor as string | undefined
      }
      assert.deepEqual(followed, wanted)
      const backwards: number[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const next: Reply = await get(
          `${query}&PageSize=89&${cursor ? `Cursor=${cursor}` : 'Order=desc'}`,
        )
        backwards.push(...ids(next))
        cursor = next.body.nextCursor as string | undefined
      }
      assert.deepEqual(backwards, wanted.toReversed())
      const total = (await get(`${query}&PageSize=1&IncludeTotal=true&Order=desc`)).body
      assert.equal(total.totalCount, wanted.length)
    })
})

const byAccount: [string, (row: Row) => boolean][] = [
  ['ExternalAccountId.contains=-', () => true],
  ['ExternalAccountId.endsWith=7', (row) => row.externalAccountId.endsWith('7')],
  ['ExternalAccountId.beginsWith=none', () => false],
  ['AccountNumber.notIn=none,neither', () => true],
  ['BizEntityID.greaterThan=700&ExternalBizEntityId.contains=E', (row) => row.accountID > 700],
  ['BizEntityID.lessThan=40', (row) => row.accountID < 40],
  ['ProductID=1&BizEntityID.greaterThan=300', (row) => row.accountID > 300],
  ['ProductID=1&BizEntityID.greaterThanOrEqual=890', (row) => row.accountID >= 890],
  ['ProductID=1&BizEntityID.lessThanOrEqual=5900', () => true],
  ['ProductID=1&BizEntityID.greaterThan=999999', () => false],
  ['ProductID=1&AccountID.greaterThan=450', (row) => row.accountID > 450],
  ['ProductID=1&AccountID.greaterThanOrEqual=890', (row) => row.accountID >= 890],
  ['ProductID=1&AccountID.lessThan=5800', () => true],
  ['ProductID=1&AccountID.lessThan=120', (row) => row.accountID < 120],
  [
    'ProductID=1&AccountID.greaterThan=200&BizEntityID.greaterThan=100&AccountID.lessThan=5800',
    (row) => row.accountID > 200,
  ],
  ['ExternalInvestmentId=none', () => false],
  ['ExternalInvestmentId.notEqual=none', () => true],
]

describe('A list by what the accounts of its rows are like', () => {
  for (const list of ['/BizTransaction', '/BizEntity/Account/Holdings'])
    for (const [query, fits] of byAccount)
      it(`has just what there is, page by page: ${list}?${query}`, async () => {
        const wanted = everything.filter(fits).map(({ accountID }) => accountID)
        await walksBothWays(pageOf(`${list}?${query}`), wanted, [7, 400, 1000])
        const second = await read(`${list}?${query}&PageSize=30&PageNumber=2`)
        assert.deepEqual(accountsOf(second), wanted.slice(30, 60))
      })
})

describe('A list of notices from an account on', () => {
  const noticed = Array.from({ length: 300 }, (_, n) => 1 + 3 * n)
  before(async () => {
    const line = { investmentID: everything[0]!.investmentID, transactionDate: '2024-01-01' }
    for (const accountID of noticed)
      all(await service.admin.post('/BizEvent/NoticeOfDeposit', { ...line, accountID, amount: 1 }))
  })

  for (const [query, fits] of [
    ['AccountID.greaterThan=450', (id: number) => id > 450],
    ['AccountID.greaterThanOrEqual=892', (id: number) => id >= 892],
    ['AccountID.lessThan=700', (id: number) => id < 700],
    [
      'AccountID.greaterThan=200&AccountID.lessThanOrEqual=500',
      (id: number) => id > 200 && id <= 500,
    ],
  ] as const)
    it(`has just what there is, page by page: ${query}`, async () => {
      const wanted = noticed.filter(fits)
      await walksBothWays(pageOf(`/BizEvent?ProductID=1&${query}`), wanted, [3, 50, 1000])
    })
})

describe('A list by a part of the external ids of its rows', () => {
  const named = (n: number) => {
    if (n % 3 === 0) return n % 2 ? `Odd ${n}` : n % 4 ? `Order${n}` : `Reorder${n}`
    return `INV/${n % 2 ? 'a' : 'b'}-${n}`
  }
  let rows: { id: number; name: string }[]
  /** Creates more rows after the others; more of them begin with INV/ than one look-up takes. */
  before(async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    await newPrice(service, investmentID, '2020-01-01', 1)
    const bodies = (await newAccounts(service, productID, 8000)).map(({ accountID }, n) => ({
      ...{ accountID, investmentID, transactionDate: '2024-01-01', amount: 1 },
      externalBizTransactionId: named(n),
    }))
    rows = []
    for (let from = 0; from < bodies.length; from += 1000) {
      const posted = await service.admin.post(
        '/BizTransaction/Deposit',
        bodies.slice(from, from + 1000),
      )
      const own = all(posted) as { bizTransactionID: number; externalBizTransactionId: string }[]
      for (const { bizTransactionID: id, externalBizTransactionId: name } of own)
        rows.push({ id, name })
    }
  })

  const parts: [string, RegExp][] = [
    ['contains=inv/', /^INV/],
    ['contains=b-77', /b-77/],
    ['beginsWith=odd%20', /^Odd/],
    ['beginsWith=INV/A-12', /^INV\/a-12/],
    ['beginsWith=order1', /^Order1/],
    ['beginsWith=order', /^Order/],
    ['endsWith=777', /777$/],
    ['endsWith=77', /77$/],
    ['contains=nowhere', /nowhere/],
  ]
  for (const [query, pattern] of parts)
    it(`has just what there is, page by page: ExternalBizTransactionId.${query}`, async () => {
      const wanted = rows.filter(({ name }) => pattern.test(name)).map(({ id }) => id)
      const page = async (asked: string) => {
        const { data, body } = await get(`ExternalBizTransactionId.${query}&${asked}`)
        return { data: data.map(({ bizTransactionID }) => bizTransactionID), body }
      }
      await walksBothWays(page, wanted, [7, 400, 1000])
      const third = await get(`ExternalBizTransactionId.${query}&PageSize=9&PageNumber=3`)
      assert.deepEqual(ids(third), wanted.slice(18, 27))
    })

  it('has none of a product that the caller does not see', async () => {
    const other = await newProduct(service)
    const user = await service.userWith({ role: 'Operator', productIDs: [other.productID] })
    const { data } = await user.get('/BizTransaction?ExternalBizTransactionId.contains=b-77')
    assert.deepEqual(data, [])
  })
})

/** Reads a page of a list as account ids; each account has one row. */
const pageOf = (list: string) => async (asked: string) => {
  const reply = await read(`${list}&${asked}`)
  return { data: accountsOf(reply), body: reply.body }
}

type Reply = { data: Row[]; body: Record<string, unknown> }
const ids = ({ data }: Reply) => data.map(({ bizTransactionID }) => bizTransactionID)

const accountsOf = ({ data }: Reply) => data.map(({ accountID }) => accountID)

const get = (query: string) => read(`/BizTransaction?${query}`)

async function read(path: string): Promise<Reply> {
  const reply = await service.admin.get(path)
  assert.equal(reply.status, 200, reply.text)
  return { data: reply.data, body: JSON.parse(reply.text) }
}
