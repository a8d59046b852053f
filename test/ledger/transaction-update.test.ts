import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
before(async () => {
  service = await startService()
  admin = service.admin
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)
const put = (body: object, client = admin) => client.put('/BizTransaction', body)
const rollBack = (...ids: number[]) =>
  admin.put('/BizTransaction/Rollback', { bizTransactionIDs: ids })
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, options)
  const ids = made.accounts.map(({ accountID }) => accountID)
  return { ...made, ids, own: { accountID: made.accountID, investmentID: made.investmentID } }
}
const ledgerOf = async (accountID: number) =>
  all(await admin.get(`/BizTransaction?AccountID=${accountID}&ShowClosing=true`))
const closings = async (accountID: number) =>
  (await ledgerOf(accountID)).map((row: Record<string, number>) => [
    row.transactionClosingQuantity,
    row.transactionClosingAmount,
    row.accountClosingQuantity,
    row.accountClosingAmount,
  ])
const versionsOf = (bizTransactionID: number) =>
  rowsOf(
    service.connection,
    `select version, biz_transaction_status_id as status, amount::text, quantity::text, comment,
      external_biz_transaction_id as external, replaced_by_user_id as by,
      transaction_date::text as date, valid_from < valid_to as lasted
    from biz_transaction_version where biz_transaction_id = $1 order by version`,
    [bizTransactionID],
  )
const deposit = async (own: object, amount: number, day = '10', more: object = {}) =>
  only(await post('Deposit', { ...own, amount, transactionDate: `2026-01-${day}`, ...more }))

describe('PUT /BizTransaction', () => {
  it('changes what it names, makes it Updated, and rolls the closings forward', async () => {
    const { own } = await fresh()
    const a = await deposit(own, 100, '01', { comment: 'old', externalBizTransactionId: 'old' })
    await deposit(own, 10, '05')
    only(await post('Redemption', { ...own, quantity: 50 }))
    const updated = only(
      await put({
        bizTransactionID: a.bizTransactionID,
        amount: 90,
        quantity: 80,
        investmentPrice: 1.125,
        transactionDate: '2026-01-02',
        comment: 'new',
        externalBizTransactionId: 'new',
      }),
    )
    assert.deepEqual(
      { ...updated, updatedDate: null },
      {
        ...a,
        amount: 90,
        quantity: 80,
        investmentPrice: 1.125,
        transactionDate: '2026-01-02T00:00:00Z',
        comment: 'new',
        externalBizTransactionId: 'new',
        bizTransactionStatusID: 2,
        statusName: 'Updated',
        updatedDate: null,
      },
    )
    assert.ok(updated.updatedDate)
    assert.deepEqual(await closings(own.accountID), [
      [80, 90, 80, 90],
      [90, 100, 90, 100],
      [40, 50, 40, 50],
    ])
  })

  it('leaves what is left out; null clears the comment, never the external id', async () => {
    const { own } = await fresh()
    const more = { comment: 'c', externalBizTransactionId: 'x' }
    const { bizTransactionID } = await deposit(own, 100, '01', more)
    const { amount, quantity, comment, externalBizTransactionId, transactionDate } = only(
      await put({ bizTransactionID }),
    )
    assert.deepEqual(
      [amount, quantity, comment, externalBizTransactionId, transactionDate],
      [100, 100, 'c', 'x', '2026-01-01T00:00:00Z'],
    )
    const cleared = { bizTransactionID, comment: null, externalBizTransactionId: null }
    const bare = only(await put(cleared))
    assert.deepEqual([bare.comment, bare.externalBizTransactionId], [null, 'x'])
    refused(await post('Deposit', { ...own, amount: 1, externalBizTransactionId: 'x' }), 409)
  })

  it('finds it by its external id in a product', async () => {
    const { own, productID, externalProductId } = await fresh()
    await deposit(own, 100, '01', { externalBizTransactionId: 'x' })
    const named = { externalBizTransactionId: 'x' }
    assert.equal(only(await put({ productID, ...named, amount: 5 })).amount, 5)
    const kept = only(await put({ externalProductId, ...named, comment: 'kept' }))
    assert.deepEqual([kept.externalBizTransactionId, kept.comment], ['x', 'kept'])
    refused(await put(named), 400, 'required')
    refused(await put({ productID, externalBizTransactionId: 'y' }), 404, 'not_found')
    refused(await put({ bizTransactionID: 2e9 }), 404, 'not_found')
    refused(await put({}), 400, 'required')
  })

  it('keeps every version it replaces, with who did it', async () => {
    const { own } = await fresh()
    const { bizTransactionID } = await deposit(own, 100, '01', { externalBizTransactionId: 'v' })
    only(await put({ bizTransactionID, amount: 90, comment: 'first' }))
    only(await put({ bizTransactionID, transactionDate: '2026-01-03' }))
    only(await rollBack(bizTransactionID))
    const common = { by: 1, lasted: true, external: 'v' }
    assert.deepEqual(await versionsOf(bizTransactionID), [
      {
        version: 1,
        status: 1,
        amount: '100.00',
        quantity: '100.0000',
        comment: null,
        date: '2026-01-01',
        ...common,
      },
      {
        version: 2,
        status: 2,
        amount: '90.00',
        quantity: '90.0000',
        comment: 'first',
        date: '2026-01-01',
        ...common,
      },
      {
        version: 3,
        status: 2,
        amount: '90.00',
        quantity: '90.0000',
        comment: 'first',
        date: '2026-01-03',
        ...common,
      },
    ])
  })

  it('refuses what makes a holding negative, with the day and the shortfall', async () => {
    const { own } = await fresh()
    const { bizTransactionID } = await deposit(own, 100, '01')
    only(await post('Redemption', { ...own, quantity: 60, transactionDate: '2026-01-05' }))
    const before = await ledgerOf(own.accountID)
    const less = await put({ bizTransactionID, quantity: 59.5 })
    refused(less, 409, 'insufficient_holding')
    assert.match(less.message!, /short by 0.5 units on 2026-01-05/)
    const later = await put({ bizTransactionID, transactionDate: '2026-01-06' })
    refused(later, 409, 'insufficient_holding')
    assert.match(later.message!, /short by 60 units on 2026-01-05/)
    assert.deepEqual(await ledgerOf(own.accountID), before)
    assert.deepEqual(await versionsOf(bizTransactionID), [])
  })

  it('refuses figures of the wrong sign, of no units, and a day too far', async () => {
    const { own } = await fresh()
    const { bizTransactionID } = await deposit(own, 100, '01')
    const out = only(await post('Redemption', { ...own, quantity: 10 })).bizTransactionID
    const adjusted = only(await post('Adjustment', { ...own, quantity: 10 })).bizTransactionID
    refused(await put({ bizTransactionID, quantity: -1 }), 400, 'invalid_value')
    refused(await put({ bizTransactionID, amount: -1 }), 400, 'invalid_value')
    refused(await put({ bizTransactionID, quantity: 0 }), 400, 'invalid_value')
    const none = await put({ bizTransactionID, quantity: '0.00001' })
    refused(none, 400, 'too_small')
    assert.deepEqual(fieldsOf(none), ['quantity'])
    refused(await put({ bizTransactionID: out, quantity: 5 }), 400, 'invalid_value')
    refused(await put({ bizTransactionID: adjusted, amount: -5, quantity: 5 }), 400)
    only(await put({ bizTransactionID: adjusted, amount: -5, quantity: -5 }))
    refused(await put({ bizTransactionID, transactionDate: '2999-01-01' }), 400, 'out_of_range')
    refused(await put({ bizTransactionID, investmentPrice: 0 }), 400, 'invalid_decimal')
    assert.deepEqual(await versionsOf(bizTransactionID), [])
  })

  it('refuses the external id of another transaction', async () => {
    const { own } = await fresh()
    const { bizTransactionID } = await deposit(own, 100)
    await deposit(own, 100, '10', { externalBizTransactionId: 'theirs' })
    const taken = await put({ bizTransactionID, externalBizTransactionId: 'theirs' })
    refused(taken, 409, 'duplicate')
    assert.deepEqual(fieldsOf(taken), ['externalBizTransactionId'])
  })

  it('changes both legs of a transfer alike, whichever is named', async () => {
    const { own, ids, investmentID } = await fresh({ accounts: 2 })
    await deposit(own, 100, '01')
    const [from, to] = ids as [number, number]
    const transfer = { investmentID, fromAccountID: from, toAccountID: to, quantity: 10 }
    const [out, into] = all(await post('Transfer', transfer))
    only(
      await post('Redemption', {
        accountID: to,
        investmentID,
        quantity: 4,
        transactionDate: '2026-01-20',
      }),
    )
    const seen = (rows: Record<string, unknown>[]) =>
      rows.map(({ quantity, amount, transactionDate, statusName, comment }) => [
        quantity,
        amount,
        String(transactionDate).slice(8, 10),
        statusName,
        comment,
      ])
    const day = '2026-01-12'
    const both = { quantity: 12, amount: 13, transactionDate: day, comment: 'in' }
    const first = all(await put({ bizTransactionID: into.bizTransactionID, ...both }))
    assert.deepEqual(seen(first), [
      [-12, -13, '12', 'Updated', null],
      [12, 13, '12', 'Updated', 'in'],
    ])
    const alone = all(await put({ bizTransactionID: out.bizTransactionID, comment: 'out' }))
    assert.deepEqual(seen(alone), [[-12, -13, '12', 'Updated', 'out']])
    const short = await put({ bizTransactionID: out.bizTransactionID, quantity: -3 })
    refused(short, 409, 'insufficient_holding')
    assert.match(short.message!, /short by 1 units on 2026-01-20/)
    const late = await put({
      bizTransactionID: out.bizTransactionID,
      transactionDate: '2026-01-21',
    })
    assert.match(late.message!, /short by 4 units on 2026-01-20/)
    assert.deepEqual(await closings(to), [
      [12, 13, 12, 13],
      [8, 9, 8, 9],
    ])
  })

  it('moves both legs of a conversion to another day and figures', async () => {
    const { own, accountID, investmentIDs } = await fresh({ investments: [{}, {}] })
    await deposit(own, 100, '01')
    const [fromInvestmentID, toInvestmentID] = investmentIDs
    const body = { accountID, fromInvestmentID, toInvestmentID, quantity: 10, conversionFactor: 2 }
    const [, into] = all(await post('Conversion', body))
    const { bizTransactionID } = into
    const legs = all(await put({ bizTransactionID, quantity: 21, transactionDate: '2026-01-09' }))
    assert.deepEqual(
      legs.map(({ quantity, transactionDate }: Record<string, unknown>) => [
        quantity,
        transactionDate,
      ]),
      [
        [-10.5, '2026-01-09T00:00:00Z'],
        [21, '2026-01-09T00:00:00Z'],
      ],
    )
  })
})

describe('PUT /BizTransaction/Rollback', () => {
  it('keeps the transaction readable, counting for nothing', async () => {
    const { own } = await fresh()
    await deposit(own, 100, '01')
    const gone = await deposit(own, 30, '05', { externalBizTransactionId: 'gone' })
    await deposit(own, 1, '09')
    const back = only(
      await admin.put('/BizTransaction/Rollback', { bizTransactionID: gone.bizTransactionID }),
    )
    assert.deepEqual(
      { ...back, updatedDate: null },
      { ...gone, bizTransactionStatusID: 3, statusName: 'RolledBack' },
    )
    assert.deepEqual(await closings(own.accountID), [
      [100, 100, 100, 100],
      [null, null, null, null],
      [101, 101, 101, 101],
    ])
    const again = { ...own, amount: 1, externalBizTransactionId: 'gone' }
    refused(await post('Deposit', again), 409, 'duplicate')
  })

  it('keeps the reason in the audit trail, where one is given', async () => {
    const { own } = await fresh()
    const { bizTransactionID } = await deposit(own, 100, '01')
    const rollback = { bizTransactionID, reason: 'Posted twice' }
    refused(
      await admin.put('/BizTransaction/Rollback', { ...rollback, reason: 'x'.repeat(501) }),
      400,
      'too_long',
    )
    only(await admin.put('/BizTransaction/Rollback', rollback))
    const about = `Resource=BizTransaction&ResourceID=${bizTransactionID}`
    const { data } = await admin.get(`/Audit?${about}&Order=desc&PageSize=1`)
    assert.deepEqual(data[0].changes, rollback)
  })

  it('of the newest leaves an account that goes on right, on any day after', async () => {
    const { own } = await fresh()
    await deposit(own, 100, '05')
    const { bizTransactionID } = await deposit(own, 30, '20')
    only(await rollBack(bizTransactionID))
    await deposit(own, 7, '10')
    await deposit(own, 3, '25')
    only(await post('Redemption', { ...own, quantity: 107, transactionDate: '2026-01-15' }))
    assert.deepEqual((await closings(own.accountID)).slice(2), [
      [107, 107, 107, 107],
      [3, 3, 3, 3],
      [0, 0, 0, 0],
    ])
  })

  it('takes the other leg along, whichever is named, and both may be named', async () => {
    const { own, ids, investmentID } = await fresh({ accounts: 2 })
    await deposit(own, 100, '01')
    const [from, to] = ids
    const transfer = { investmentID, fromAccountID: from, toAccountID: to, quantity: 10 }
    for (const pick of [[0], [1], [0, 1]]) {
      const legs = all(await post('Transfer', transfer))
      const named = pick.map((i) => legs[i].bizTransactionID)
      const back = all(await rollBack(...named))
      assert.deepEqual(
        back.map(({ statusName }: Record<string, string>) => statusName),
        ['RolledBack', 'RolledBack'],
      )
    }
    const holdings = await admin.get(`/BizEntity/Account/Holdings?AccountID.in=${ids}`)
    assert.deepEqual(
      all(holdings).map(({ accountID, quantity }: Record<string, number>) => [accountID, quantity]),
      [[from, 100]],
    )
  })

  it('is all or nothing over a list, and refused where a holding would be short', async () => {
    const { own } = await fresh()
    const a = await deposit(own, 100, '01')
    const b = await deposit(own, 50, '02')
    only(await post('Redemption', { ...own, quantity: 120, transactionDate: '2026-01-05' }))
    const short = await rollBack(a.bizTransactionID, b.bizTransactionID)
    refused(short, 409, 'insufficient_holding')
    assert.match(short.message!, /short by 120 units on 2026-01-05/)
    refused(await rollBack(b.bizTransactionID), 409, 'insufficient_holding')
    refused(await rollBack(b.bizTransactionID, 2e9), 404, 'not_found')
    refused(await admin.put('/BizTransaction/Rollback', {}), 400, 'required')
    refused(await admin.put('/BizTransaction/Rollback', { bizTransactionIDs: [] }), 400)
    assert.deepEqual((await closings(own.accountID)).length, 3)
    assert.deepEqual(await versionsOf(a.bizTransactionID), [])
  })

  it('is once: neither rolled back again nor updated after', async () => {
    const { own } = await fresh()
    const { bizTransactionID } = await deposit(own, 100)
    only(await rollBack(bizTransactionID))
    refused(await rollBack(bizTransactionID), 409, 'rolled_back')
    refused(await put({ bizTransactionID, amount: 1 }), 409, 'rolled_back')
  })
})

describe('A user whose scope is one product', () => {
  it('neither changes nor rolls back a transaction of another, by any name', async () => {
    const [mine, foreign] = [await fresh(), await fresh()]
    const user = await service.userWith({ role: 'Operator', productIDs: [mine.productID] })
    const more = { externalBizTransactionId: 'x' }
    const { bizTransactionID } = await deposit(foreign.own, 10, '10', more)
    const own = await deposit(mine.own, 10)
    const { productID, externalProductId } = foreign
    for (const body of [
      { bizTransactionID },
      { productID, ...more },
      { externalProductId, ...more },
    ])
      refused(await put({ ...body, amount: 1 }, user), 404, 'not_found')
    for (const body of [
      { bizTransactionID },
      { bizTransactionIDs: [own.bizTransactionID, bizTransactionID] },
    ])
      refused(await user.put('/BizTransaction/Rollback', body), 404, 'not_found')
    only(await put({ bizTransactionID: own.bizTransactionID, amount: 1 }, user))
    assert.equal((await versionsOf(bizTransactionID)).length, 0)
  })
})
