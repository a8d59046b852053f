import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { foldClosings } from '../../src/ledger/biz-transaction/fold.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Database } from '../../src/platform/sql/handle.ts'
import { rowsOf } from '../support/database.ts'
import {
  all,
  assertVerified,
  newAccounts,
  newInvestment,
  newPrice,
  newProduct,
  only,
} from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let database: Database
let accountID: number
let investmentID: number

const rows = 400
const dayOf = (n: number) =>
  new Date(Date.UTC(2022, 0, 1) + n * 86_400_000).toISOString().slice(0, 10)

/** Posts a history of one holding: deposits, and as every fourth a redemption at another price. */
before(async () => {
  service = await startService()
  database = connect(readConfig({}), service.connection, createLog('silent'))
  const { productID } = await newProduct(service)
  ;({ investmentID } = await newInvestment(service, productID))
  await newPrice(service, investmentID, '2020-01-01', '1.37')
  const [account] = await newAccounts(service, productID, 1)
  accountID = account!.accountID
  for (const kind of ['Allotment', 'Redemption'])
    all(
      await service.admin.post(
        `/BizTransaction/${kind}`,
        Array.from({ length: rows }, (_, n) => n)
          .filter((n) => (n % 4 === 3) === (kind === 'Redemption'))
          .map((n) => ({
            accountID,
            investmentID,
            transactionDate: dayOf(n),
            investmentPrice: `1.${100 + ((n * 7) % 400)}`,
            quantity: kind === 'Allotment' ? 10 + (n % 3) : 7,
          })),
      ),
    )
})
after(async () => {
  await database.close()
  await service.stop()
})

const post = (kind: string, transactionDate: string, more: object) =>
  service.admin.post(`/BizTransaction/${kind}`, {
    accountID,
    investmentID,
    transactionDate,
    ...more,
  })

const marks = async () => (await rowsOf(service.connection, 'select * from closing_mark')).length

/** The places (ctid) of the ledger's rows: a row that is written anew gets another place. */
const places = async () => {
  const found = await rowsOf(service.connection, 'select ctid::text as place from biz_transaction')
  return new Set(found.map(({ place }) => place as string))
}

/** All answers that show closing figures. */
const answers = () => {
  const position = `AccountID=${accountID}&InvestmentID=${investmentID}`
  return Promise.all(
    [
      `/BizTransaction?AccountID=${accountID}&ShowClosing=true&PageSize=1000`,
      `/BizEntity/Account/Holdings/Explain?${position}&PageSize=1000`,
      ...['2021-12-31', '2022-02-01', '2022-11-01', '2023-06-01'].map(
        (day) => `/BizEntity/Account/Holdings?AccountID=${accountID}&Date=${day}`,
      ),
      `/BizEntity/Account/Holdings?AccountID=${accountID}`,
      `/BizEntity?AccountID=${accountID}`,
    ].map(async (path) => {
      const reply = await service.admin.get(path)
      assert.equal(reply.status, 200, `${path} ${reply.text}`)
      return reply.text
    }),
  )
}

describe('A posting into the midst of a long history', () => {
  it('writes none of the later rows anew, and every closing is right', async () => {
    const before = await places()
    only(await post('Allotment', '2021-06-01', { quantity: '13.5', investmentPrice: '1.11' }))
    const stayed = [...(await places())].filter((place) => before.has(place))
    assert.equal(stayed.length, rows)
    assert.ok((await marks()) > 0)
    await assertVerified(service)
  })

  it('is judged on every later day, whatever their number', async () => {
    const before = await answers()
    const refused = await post('Redemption', '2022-01-02', { quantity: 100 })
    assert.equal(refused.status, 409)
    assert.match(refused.message!, /would be short by [\d.]+ units on 2022-01-0\d\./)
    assert.deepEqual(await answers(), before)
  })

  it('may be a redemption, an array, a correction to another day, or a rollback', async () => {
    only(await post('Redemption', '2022-05-05', { quantity: '3.25', investmentPrice: '1.9' }))
    const days = ['2022-01-01', '2022-03-01', '2022-03-01', '2021-07-01']
    const posted = all(
      await service.admin.post(
        '/BizTransaction/Deposit',
        days.map((transactionDate) => ({ accountID, investmentID, transactionDate, amount: 100 })),
      ),
    )
    await assertVerified(service)
    const [first, second] = posted as { bizTransactionID: number }[]
    only(
      await service.admin.put('/BizTransaction', {
        bizTransactionID: first!.bizTransactionID,
        transactionDate: '2022-09-09',
        amount: 77,
      }),
    )
    await assertVerified(service)
    only(
      await service.admin.put('/BizTransaction/Rollback', {
        bizTransactionID: second!.bizTransactionID,
      }),
    )
    await assertVerified(service)
  })

  it('leaves what is appended later as quick and as right as ever', async () => {
    only(await post('Deposit', '2024-01-01', { amount: 50 }))
    only(await post('Redemption', '2024-01-02', { quantity: 5 }))
    only(await post('Deposit', '2023-12-31', { amount: 50 }))
    await assertVerified(service)
  })
})

describe('Closings that are written anew piece by piece', () => {
  const fold = () => database.transaction((tx) => foldClosings(tx, { enough: 0, rows: 30 }))

  it('are the same after every piece, and after one that breaks off', async () => {
    const before = await answers()
    const there = await marks()
    await assert.rejects(
      database.transaction(async (tx) => {
        await foldClosings(tx, { enough: 0, rows: 30 })
        throw new Error('the node dies here')
      }),
    )
    assert.equal(await marks(), there)
    let pieces = 0
    for (; await fold(); pieces++) if (pieces % 5 === 0) assert.deepEqual(await answers(), before)
    assert.ok(pieces > rows / 30)
    assert.equal(await marks(), 0)
    assert.deepEqual(await answers(), before)
    await assertVerified(service)
  })
})
