import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { all, assertVerified, type Fund, newFund, only, poster } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let fund: Fund
let other: Fund
/** The ids of transactions by the names that this test gives them. */
const ids: Record<string, number> = {}

before(async () => {
  service = await startService()
  admin = service.admin
  fund = await newFund(service, { accounts: 2, investments: [{}, {}] })
  other = await newFund(service)
  const post = poster(() => service.admin)
  const [a, b] = fund.accounts.map(({ accountID }) => accountID)
  const [one, two] = fund.investmentIDs
  const make = async (name: string, kind: string, day: string, body: object) => {
    const made = all(
      await post(kind, {
        transactionDate: `2026-01-${day}`,
        externalBizTransactionId: name,
        ...body,
      }),
    )
    ids[name] = made[0].bizTransactionID
    if (made[1]) ids[`${name}+`] = made[1].bizTransactionID
  }
  await make('D-1', 'Deposit', '10', { accountID: a, investmentID: one, amount: 100 })
  await make('D-2', 'Deposit', '10', { accountID: a, investmentID: two, amount: 50 })
  await make('R_1', 'Redemption', '12', { accountID: a, investmentID: one, quantity: 20 })
  await make('T%1', 'Transfer', '11', {
    investmentID: one,
    fromAccountID: a,
    toAccountID: b,
    quantity: 10,
  })
  await make('d-late', 'Deposit', '05', { accountID: a, investmentID: one, amount: 7 })
  await make('gone', 'Deposit', '13', { accountID: b, investmentID: one, amount: 9 })
  await make('changed', 'Deposit', '14', { accountID: b, investmentID: two, amount: 3 })
  await make('X', 'Deposit', '10', {
    accountID: other.accountID,
    investmentID: other.investmentID,
    amount: 1,
  })
  only(await admin.put('/BizTransaction/Rollback', { bizTransactionID: ids.gone }))
  const named = { bizTransactionID: ids.changed, externalBizTransactionId: 'changed' }
  only(await admin.put('/BizTransaction', { ...named, amount: 4 }))
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const rowsOf = async (query: string, client = admin) =>
  all(await client.get(`/BizTransaction?${query}`))
const names = (rows: { bizTransactionID: number }[]) =>
  rows.map(
    ({ bizTransactionID }) => Object.entries(ids).find(([, id]) => id === bizTransactionID)?.[0],
  )
const found = async (query: string, client = admin) => names(await rowsOf(query, client))
const everything = ['D-1', 'D-2', 'R_1', 'T%1', 'T%1+', 'd-late', 'gone', 'changed', 'X']
const ofFund = everything.slice(0, -1)

describe('GET /BizTransaction', () => {
  it('lists all, or those of a product, in the order of their ids', async () => {
    assert.deepEqual(await found(''), everything)
    assert.deepEqual(await found(`ProductID=${fund.productID}`), ofFund)
    assert.deepEqual(await found(`ExternalProductId=${other.externalProductId}`), ['X'])
    assert.deepEqual(await found('ProductID=2000000'), [])
    assert.deepEqual(await found('ExternalProductId=none'), [])
  })

  it('filters by its id', async () => {
    const { gone, X } = ids
    assert.deepEqual(await found(`BizTransactionID=${gone}`), ['gone'])
    assert.deepEqual(await found(`BizTransactionID.in=${gone},${X},999`), ['gone', 'X'])
    assert.deepEqual(await found(`BizTransactionID.greaterThan=${gone}`), ['changed', 'X'])
    assert.deepEqual(await found(`BizTransactionID.lessThan=${ids.R_1}`), ['D-1', 'D-2'])
    assert.deepEqual(await found(`BizTransactionID.notIn=${gone}&ProductID=${fund.productID}`), [
      ...ofFund.filter((name) => name !== 'gone'),
    ])
    assert.deepEqual(await found('BizTransactionID=9007199254740991'), [])
  })

  it('filters by type, account and investment', async () => {
    assert.deepEqual(await found('BizTransactionTypeID.in=8,9'), ['T%1', 'T%1+'])
    assert.deepEqual(await found('BizTransactionTypeID=3'), ['R_1'])
    const [a, b] = fund.accounts
    assert.deepEqual(await found(`AccountID=${b!.accountID}`), ['T%1+', 'gone', 'changed'])
    const byAccount = ['T%1+', 'gone', 'changed']
    assert.deepEqual(await found(`ExternalAccountId=${b!.externalAccountId}`), byAccount)
    assert.deepEqual(await found(`AccountNumber.equal=${b!.accountNumber}`), byAccount)
    assert.deepEqual(
      await found(`AccountNumber.endsWith=${a!.accountNumber.toLowerCase().slice(1)}`),
      ['D-1', 'D-2', 'R_1', 'T%1', 'd-late'],
    )
    const [, two] = fund.investmentIDs
    assert.deepEqual(await found(`InvestmentID=${two}`), ['D-2', 'changed'])
    const [{ externalInvestmentId }] = all(await admin.get(`/Investment?InvestmentID=${two}`))
    assert.deepEqual(await found(`ExternalInvestmentId=${externalInvestmentId}`), [
      'D-2',
      'changed',
    ])
    assert.deepEqual(await found(`AccountID=${a!.accountID}&InvestmentID=${two}`), ['D-2'])
  })

  it('filters by investor, as holdings do, and by when it was created', async () => {
    const { bizEntityID, accountID } = fund.accounts[1]!
    const [{ externalBizEntityId }] = all(await admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    const own = ['T%1+', 'gone', 'changed']
    assert.deepEqual(await found(`BizEntityID=${bizEntityID}`), own)
    assert.deepEqual(await found(`ExternalBizEntityId=${externalBizEntityId}`), own)
    assert.deepEqual(await found('ExternalBizEntityId=nobody'), [])
    const holdings = all(
      await admin.get(`/BizEntity/Account/Holdings?BizEntityID=${bizEntityID}&Date=2026-02-01`),
    )
    assert.deepEqual(
      holdings.map((row: { accountID: number }) => row.accountID),
      fund.investmentIDs.map(() => accountID),
    )
    const [{ createdDate }] = await rowsOf(`BizTransactionID=${ids['D-1']}`)
    const since = `CreatedDate.greaterThanOrEqual=${createdDate}`
    assert.deepEqual(await found(since), everything)
    assert.deepEqual(await found(`CreatedDate.lessThan=${createdDate}`), [])
    assert.deepEqual(await found(`${since}&BizEntityID=${bizEntityID}`), own)
  })

  it('filters by external id; % and _ are letters', async () => {
    assert.deepEqual(await found('ExternalBizTransactionId=D-1'), ['D-1'])
    assert.deepEqual(await found('ExternalBizTransactionId=d-1'), [])
    assert.deepEqual(await found('ExternalBizTransactionId.beginsWith=d-'), [
      'D-1',
      'D-2',
      'd-late',
    ])
    assert.deepEqual(await found('ExternalBizTransactionId.contains=_'), ['R_1'])
    assert.deepEqual(await found('ExternalBizTransactionId.contains=%25'), ['T%1'])
    assert.deepEqual(await found('ExternalBizTransactionId.endsWith=ATE'), ['d-late'])
    assert.deepEqual(await found('ExternalBizTransactionId.in=X,gone'), ['gone', 'X'])
  })

  it('filters by day', async () => {
    assert.deepEqual(await found('TransactionDate=2026-01-10'), ['D-1', 'D-2', 'X'])
    assert.deepEqual(await found('TransactionDate.lessThan=2026-01-10'), ['d-late'])
    assert.deepEqual(await found('TransactionDate.greaterThanOrEqual=2026-01-13'), [
      'gone',
      'changed',
    ])
    assert.deepEqual(
      await found(
        'TransactionDate.greaterThan=2026-01-10&TransactionDate.lessThanOrEqual=2026-01-12',
      ),
      ['R_1', 'T%1', 'T%1+'],
    )
    assert.deepEqual(await found('TransactionDate.in=2026-01-05,2026-01-14'), ['d-late', 'changed'])
  })

  it('filters by status', async () => {
    assert.deepEqual(await found('Status=RolledBack'), ['gone'])
    assert.deepEqual(await found('Status=Updated'), ['changed'])
    const complete = everything.filter((name) => name !== 'gone' && name !== 'changed')
    assert.deepEqual(await found('Status=Complete'), complete)
    refused(await admin.get('/BizTransaction?Status=Pending'), 400, 'invalid_value')
  })

  it('pages by id, and a page beyond the last is empty', async () => {
    assert.deepEqual(await found('PageSize=4'), everything.slice(0, 4))
    assert.deepEqual(await found('PageSize=4&PageNumber=2'), everything.slice(4, 8))
    assert.deepEqual(await found('PageSize=4&PageNumber=3'), everything.slice(8))
    assert.deepEqual(await found('PageSize=4&PageNumber=4'), [])
    assert.deepEqual(await found(`PageSize=1000&PageNumber=${2 ** 53 - 1}`), [])
    refused(await admin.get('/BizTransaction?PageNumber=0'), 400)
    const large = await admin.get('/BizTransaction?PageSize=1001')
    refused(large, 400, 'page_size_exceeded')
    assert.equal(large.message, 'PageSize = 1001 exceeds the maximum allowed limit of 1000')
  })

  it('refuses parameters, operators and values it does not know', async () => {
    for (const query of [
      'Colour=red',
      'AccountID.near=1',
      'SecurityCode=x',
      'AccountID.contains=1',
    ])
      refused(await admin.get(`/BizTransaction?${query}`), 400, 'unknown_parameter')
    for (const query of ['AccountID=x', 'ShowClosing=2', 'BizTransactionID=1.5'])
      refused(await admin.get(`/BizTransaction?${query}`), 400, 'wrong_type')
    refused(await admin.get('/BizTransaction?TransactionDate=2026-02-30'), 400, 'invalid_date')
    refused(await admin.get('/BizTransaction?AccountID=1&AccountID=2'), 400, 'given_twice')
  })

  it('shows closings when asked, of the holding and of the whole account', async () => {
    const closing = (row: Record<string, number>) => [
      row.transactionClosingQuantity,
      row.transactionClosingAmount,
      row.accountClosingQuantity,
      row.accountClosingAmount,
    ]
    const query = `AccountID=${fund.accountID}`
    for (const row of await rowsOf(query)) assert.deepEqual(closing(row), [null, null, null, null])
    const shown = await rowsOf(`${query}&ShowClosing=true`)
    assert.deepEqual(
      shown.map((row: Record<string, number>) => closing(row)),
      [
        [107, 107, 107, 107],
        [50, 50, 157, 157],
        [77, 77, 127, 127],
        [97, 97, 147, 147],
        [7, 7, 7, 7],
      ],
    )
    const [gone] = await rowsOf(`BizTransactionID=${ids.gone}&ShowClosing=true`)
    assert.deepEqual(closing(gone), [null, null, null, null])
    const without = await rowsOf(`${query}&ShowClosing=false`)
    assert.deepEqual(
      shown.map((row: object) => ({
        ...row,
        transactionClosingQuantity: null,
        transactionClosingAmount: null,
        accountClosingQuantity: null,
        accountClosingAmount: null,
      })),
      without,
    )
  })

  it('shows a user only the products of their scope, whatever they ask for', async () => {
    const user = await service.userWith({ role: 'ReadOnly', productIDs: [other.productID] })
    assert.deepEqual(await found('', user), ['X'])
    assert.deepEqual(await found(`ProductID=${fund.productID}`, user), [])
    assert.deepEqual(await found(`ExternalProductId=${fund.externalProductId}`, user), [])
    assert.deepEqual(await found(`BizTransactionID=${ids.gone}`, user), [])
    assert.deepEqual(await found(`AccountID=${fund.accountID}`, user), [])
    assert.deepEqual(await found('Status=RolledBack', user), [])
    const nothing = await service.userWith({ role: 'ReadOnly', productIDs: [] })
    assert.deepEqual(await found('', nothing), [])
    const stranger = await service.userWith({ permissions: ['Product.Read'] })
    refused(await stranger.get('/BizTransaction'), 403, 'permission_missing')
  })
})
