import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { all, assertVerified, newFund, newPrice, only, poster } from '../support/ledger.ts'
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
/** Posts to settle a notice, with only the given fields. */
const settle = (kind: string, body: object, client = admin) =>
  client.post(`/BizTransaction/${kind}`, body)
const notice = (kind: string, body: object, client = admin) =>
  client.post(`/BizEvent/NoticeOf${kind}`, { transactionDate: '2026-01-10', ...body })
const cancel = (body: object, client = admin) => client.put('/BizEvent/Cancel', body)
const read = async (query: string, client = admin) => all(await client.get(`/BizEvent?${query}`))
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, { investments: [{}, {}], ...options })
  const [from, to] = made.investmentIDs
  return {
    ...made,
    own: { accountID: made.accountID, investmentID: made.investmentID },
    conversion: { accountID: made.accountID, fromInvestmentID: from, toInvestmentID: to },
  }
}
const statusOf = async (bizEventID: number) => {
  const [{ bizEventStatusID, parentBizTransactionID }] = await read(`BizEventID=${bizEventID}`)
  return [bizEventStatusID, parentBizTransactionID]
}

describe('A notice', () => {
  it('of a deposit is one pending event with all its names', async () => {
    const fund = await fresh()
    const [investment] = all(await admin.get(`/Investment?InvestmentID=${fund.investmentID}`))
    const [account] = fund.accounts
    const given = {
      externalProductId: fund.externalProductId,
      externalAccountId: account!.externalAccountId,
      securityCode: investment.securityCode,
      amount: '1000.005',
      comment: 'by cheque',
      paymentMethodID: 2,
      chequeBankName: 'Bank',
      chequeBSB: '062-000',
      chequeAccountNumber: '12345678',
      chequeChequeNo: '7',
      chequeDrawer: 'Ann',
      entryFeePercentage: 1,
      externalBizTransactionId: 'N-1',
    }
    const { bizEventID, createdDate, ...rest } = only(await notice('Deposit', given))
    assert.match(createdDate, /Z$/)
    assert.deepEqual(rest, {
      parentBizTransactionID: null,
      parentBizEventID: null,
      bizEventTypeID: 1,
      bizEventStatusID: 1,
      productID: fund.productID,
      externalProductId: fund.externalProductId,
      investmentID: fund.investmentID,
      externalInvestmentId: investment.externalInvestmentId,
      securityCode: investment.securityCode,
      accountID: account!.accountID,
      externalAccountId: account!.externalAccountId,
      accountNumber: account!.accountNumber,
      bizEntityName: 'Investor 1',
      bizEventDate: '2026-01-10',
      amount: 1000.005,
      quantity: null,
      comment: 'by cheque',
      conversionMethodID: null,
      conversionFactor: null,
      updatedDate: null,
      externalTransactionId: 'N-1',
    })
    assert.equal((await read(`BizEventID=${bizEventID}`)).length, 1)
    const [audit] = await rowsOf(
      service.connection,
      `select changes::text as changes from audit where resource = 'BizEvent' and resource_id = $1`,
      [bizEventID],
    )
    assert.doesNotMatch(audit.changes, /12345678/)
  })

  it('of a conversion is two linked events, out of one investment and into the other', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 10 }))
    const body = {
      ...fund.conversion,
      quantity: 4,
      conversionFactor: 1.5,
      fromExternalBizTransactionId: 'F',
      toExternalBizTransactionId: 'T',
    }
    const events = all(await notice('Conversion', body))
    const [from, to] = fund.investmentIDs
    const shown = events.map((event: Record<string, unknown>) => [
      event.bizEventTypeID,
      event.investmentID,
      event.externalTransactionId,
      event.conversionMethodID,
      event.conversionFactor,
      event.parentBizEventID,
    ])
    assert.deepEqual(shown, [
      [2, from, 'F', 1, 1.5, null],
      [3, to, 'T', 1, 1.5, events[0].bizEventID],
    ])
  })

  it('is refused without what it needs', async () => {
    const { own, conversion } = await fresh()
    refused(await notice('Deposit', own), 400, 'required')
    refused(await notice('Deposit', { ...own, amount: 0 }), 400, 'invalid_decimal')
    refused(await notice('Deposit', { ...own, amount: 1, transactionDate: null }), 400, 'required')
    const misprint = { ...own, amount: 1, transactionDate: '0026-01-10' }
    refused(await notice('Deposit', misprint), 400, 'out_of_range')
    refused(
      await notice('Deposit', { ...own, amount: 1, paymentMethodID: 9 }),
      400,
      'unknown_lookup',
    )
    refused(await notice('Deposit', { ...own, amount: 1, chequeBSB: '12' }), 400, 'invalid_value')
    refused(await notice('Deposit', { accountID: own.accountID, amount: 1 }), 400, 'required')
    refused(await notice('Deposit', { investmentID: own.investmentID, amount: 1 }), 400, 'required')
    refused(await notice('Deposit', { ...own, accountID: 2e6, amount: 1 }), 404, 'not_found')
    refused(await notice('Redemption', own), 400, 'required')
    refused(await notice('Conversion', conversion), 400, 'required')
    const factor = { ...conversion, quantity: 1, conversionMethod: 'Factor' }
    refused(await notice('Conversion', factor), 400, 'required')
    const same = { ...conversion, toInvestmentID: conversion.fromInvestmentID, quantity: 1 }
    refused(await notice('Conversion', same), 400, 'same_investment')
  })

  it('is refused where product, account and investment do not belong together', async () => {
    const [fund, other] = [await fresh(), await fresh()]
    const own = { ...fund.own, amount: 1 }
    refused(await notice('Deposit', { ...own, investmentID: other.investmentID }), 404, 'not_found')
    refused(await notice('Deposit', { ...own, productID: other.productID }), 404, 'not_found')
    refused(await notice('Deposit', { ...own, accountID: other.accountID }), 404, 'not_found')
  })

  it('to redeem or convert takes no more than is held now, by units or by money', async () => {
    const fund = await fresh({ price: null })
    await newPrice(service, fund.investmentID, '2026-01-01', 2, { redemptionPrice: 1.5 })
    const short = 'insufficient_holding'
    refused(await notice('Redemption', { ...fund.own, quantity: 1 }), 409, short)
    only(await post('Deposit', { ...fund.own, amount: 20 }))
    refused(await notice('Redemption', { ...fund.own, quantity: 10.0001 }), 409, short)
    refused(await notice('Redemption', { ...fund.own, amount: 15.01 }), 409, short)
    refused(await notice('Conversion', { ...fund.conversion, quantity: 11 }), 409, short)
    const cancel = async ({ bizEventID }: { bizEventID: number }) =>
      all(await service.admin.put('/BizEvent/Cancel', { bizEventID }))
    await cancel(only(await notice('Redemption', { ...fund.own, quantity: 10 })))
    await cancel(only(await notice('Redemption', { ...fund.own, amount: 15 })))
    assert.equal(all(await notice('Conversion', { ...fund.conversion, amount: 15 })).length, 2)
  })

  it('has an external id of its own among the notices of its product', async () => {
    const [fund, other] = [await fresh(), await fresh()]
    const named = { amount: 1, externalBizTransactionId: 'N' }
    only(await notice('Deposit', { ...fund.own, ...named }))
    refused(await notice('Deposit', { ...fund.own, ...named }), 409, 'duplicate')
    only(await notice('Deposit', { ...other.own, ...named }))
    only(await post('Deposit', { ...fund.own, ...named }))
    const both = { fromExternalBizTransactionId: 'B', toExternalBizTransactionId: 'B' }
    refused(
      await notice('Conversion', { ...fund.conversion, quantity: 1, ...both }),
      409,
      'duplicate',
    )
    assert.equal((await read(`ProductID=${fund.productID}`)).length, 1)
  })
})

describe('A posting that names a notice', () => {
  it('takes from it what it leaves out, and completes it', async () => {
    const { own } = await fresh({ price: 2 })
    const given = {
      ...own,
      amount: 100,
      comment: 'c',
      externalBizTransactionId: 'N',
      entryFeeAmount: 10,
    }
    const { bizEventID } = only(await notice('Deposit', given))
    const made = only(await settle('Deposit', { bizEventID }))
    assert.deepEqual(
      [
        made.amount,
        made.quantity,
        made.comment,
        made.externalBizTransactionId,
        made.transactionDate,
      ],
      [100, 45, 'c', 'N', '2026-01-10T00:00:00Z'],
    )
    assert.deepEqual(await statusOf(bizEventID), [2, made.bizTransactionID])
  })

  it('keeps what it gives itself, and may name the notice by its external id', async () => {
    const { own, productID } = await fresh()
    only(await notice('Deposit', { ...own, amount: 100, externalBizTransactionId: 'N' }))
    const made = only(
      await settle('Deposit', {
        productID,
        externalTransactionId: 'N',
        amount: 90,
        transactionDate: '2026-01-12',
        externalBizTransactionId: 'own',
        comment: 'less',
      }),
    )
    assert.deepEqual(
      [made.amount, made.externalBizTransactionId, made.comment, made.transactionDate],
      [90, 'own', 'less', '2026-01-12T00:00:00Z'],
    )
    refused(await settle('Deposit', { externalTransactionId: 'N' }), 400, 'required')
  })

  it('settles redemptions by units or money, and conversions whole', async () => {
    const { own, conversion } = await fresh({ price: 2 })
    const wanted = only(await notice('Deposit', { ...own, amount: 100 }))
    const allotted = only(
      await settle('Allotment', { bizEventID: wanted.bizEventID, quantity: 49 }),
    )
    assert.deepEqual([allotted.quantity, allotted.amount], [49, 98])
    const byUnits = only(await notice('Redemption', { ...own, quantity: 5 }))
    assert.equal(only(await settle('Redemption', { bizEventID: byUnits.bizEventID })).amount, -10)
    const byMoney = only(await notice('Redemption', { ...own, amount: 5 }))
    assert.equal(
      only(await settle('Redemption', { bizEventID: byMoney.bizEventID })).quantity,
      -2.5,
    )
    const body = { ...conversion, quantity: 10, conversionFactor: 3 }
    for (const named of [0, 1]) {
      const events = all(await notice('Conversion', body))
      const legs = all(await settle('Conversion', { bizEventID: events[named].bizEventID }))
      assert.deepEqual(
        legs.map(({ quantity }: Record<string, number>) => quantity),
        [-10, 30],
      )
      for (const i of [0, 1])
        assert.deepEqual(await statusOf(events[i].bizEventID), [2, legs[i].bizTransactionID])
    }
  })

  it('is refused where the notice is not pending, not of its kind, or not there', async () => {
    const { own, conversion } = await fresh()
    only(await post('Deposit', { ...own, amount: 100 }))
    const { bizEventID } = only(await notice('Deposit', { ...own, amount: 100 }))
    refused(await settle('Redemption', { bizEventID }), 409, 'wrong_event')
    refused(await settle('Adjustment', { bizEventID, quantity: 1 }), 409, 'wrong_event')
    refused(await settle('Conversion', { bizEventID }), 409, 'wrong_event')
    const [half] = all(await notice('Conversion', { ...conversion, quantity: 1 }))
    refused(await settle('Redemption', { bizEventID: half.bizEventID }), 409, 'wrong_event')
    refused(await settle('Deposit', { bizEventID: 2e9 }), 404, 'not_found')
    only(await settle('Deposit', { bizEventID }))
    const again = await settle('Deposit', { bizEventID })
    refused(again, 409, 'event_not_pending')
    assert.deepEqual(fieldsOf(again), ['bizEventID'])
    const cancelled = only(await notice('Deposit', { ...own, amount: 1 })).bizEventID
    only(await cancel({ bizEventID: cancelled }))
    refused(await settle('Deposit', { bizEventID: cancelled }), 409, 'event_not_pending')
  })

  it('leaves the notice pending when it is refused, also in an array', async () => {
    const { own } = await fresh()
    const { bizEventID } = only(await notice('Deposit', { ...own, amount: 100 }))
    refused(await settle('Deposit', { bizEventID, transactionDate: '2999-01-01' }), 400)
    const twice = await settle('Deposit', [{ bizEventID }, { bizEventID }])
    refused(twice, 409, 'event_not_pending')
    assert.deepEqual(fieldsOf(twice), ['[1].bizEventID'])
    assert.deepEqual(await statusOf(bizEventID), [1, null])
    only(await post('Deposit', { ...own, amount: 1 }))
    const out = only(await notice('Redemption', { ...own, quantity: 1 })).bizEventID
    only(await post('Redemption', { ...own, quantity: 1 }))
    refused(await settle('Redemption', { bizEventID: out }), 409, 'insufficient_holding')
    assert.deepEqual(await statusOf(out), [1, null])
    const both = [{ bizEventID }, { ...own, amount: 1, transactionDate: '2026-01-10' }]
    const [first] = all(await settle('Deposit', both))
    assert.deepEqual(await statusOf(bizEventID), [2, first.bizTransactionID])
  })
})

describe('PUT /BizEvent/Cancel', () => {
  it('cancels pending notices, a list of them, and both halves of a conversion', async () => {
    const { own, conversion } = await fresh()
    only(await post('Deposit', { ...own, amount: 100 }))
    const a = only(await notice('Deposit', { ...own, amount: 1, comment: 'kept' })).bizEventID
    const b = only(await notice('Redemption', { ...own, quantity: 1 })).bizEventID
    const [, half] = all(await notice('Conversion', { ...conversion, quantity: 1 }))
    const one = only(await cancel({ bizEventID: a }))
    assert.deepEqual([one.bizEventStatusID, one.comment], [3, 'kept'])
    assert.ok(one.updatedDate)
    const rest = all(await cancel({ bizEventIDs: [half.bizEventID, b], comment: 'changed mind' }))
    assert.deepEqual(
      rest.map((event: Record<string, unknown>) => [event.bizEventStatusID, event.comment]),
      [1, 2, 3].map(() => [3, 'changed mind']),
    )
  })

  it('is all or nothing: one that is not pending or not there leaves the others', async () => {
    const { own } = await fresh()
    const [a, b] = [
      only(await notice('Deposit', { ...own, amount: 1 })).bizEventID,
      only(await notice('Deposit', { ...own, amount: 1 })).bizEventID,
    ]
    only(await settle('Deposit', { bizEventID: a }))
    refused(await cancel({ bizEventIDs: [b, a] }), 409, 'event_not_pending')
    refused(await cancel({ bizEventIDs: [b, 2e9] }), 404, 'not_found')
    refused(await cancel({}), 400, 'required')
    assert.deepEqual(await statusOf(b), [1, null])
    only(await cancel({ bizEventID: b }))
    refused(await cancel({ bizEventID: b }), 409, 'event_not_pending')
  })
})

describe('GET /BizEvent', () => {
  it('filters by id, type, account and product, and pages', async () => {
    const fund = await fresh({ accounts: 2 })
    const [a, b] = fund.accounts
    const { investmentID } = fund
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    const bodies: [string, object][] = [
      ['Deposit', { ...fund.own, amount: 1 }],
      ['Redemption', { ...fund.own, quantity: 1 }],
      ['Deposit', { accountID: b!.accountID, investmentID, amount: 1 }],
      ['Conversion', { ...fund.conversion, quantity: 1 }],
    ]
    const ids: number[] = []
    for (const [kind, body] of bodies)
      ids.push(
        ...all(await notice(kind, body)).map(
          ({ bizEventID }: Record<string, number>) => bizEventID,
        ),
      )
    const found = async (query: string) =>
      (await read(`ProductID=${fund.productID}&${query}`)).map(
        ({ bizEventID }: Record<string, number>) => ids.indexOf(bizEventID!),
      )
    assert.deepEqual(await found(''), [0, 1, 2, 3, 4])
    assert.deepEqual(await found(`BizEventID=${ids[2]}`), [2])
    assert.deepEqual(await found(`BizEventID.in=${ids[0]},${ids[4]}`), [0, 4])
    assert.deepEqual(await found(`BizEventID.greaterThan=${ids[2]}`), [3, 4])
    assert.deepEqual(await found('BizEventTypeID=1'), [0, 2])
    assert.deepEqual(await found('BizEventTypeID.in=2,3'), [1, 3, 4])
    assert.deepEqual(await found('BizEventTypeID.notEqual=1'), [1, 3, 4])
    assert.deepEqual(await found('BizEventStatusID.lessThan=1'), [])
    assert.deepEqual(await found('BizEventStatusID.notIn=2,3'), [0, 1, 2, 3, 4])
    assert.deepEqual(await found(`AccountID=${b!.accountID}`), [2])
    assert.deepEqual(await found(`AccountNumber=${a!.accountNumber}`), [0, 1, 3, 4])
    assert.deepEqual(await found(`ExternalAccountId.endsWith=${b!.externalAccountId}`), [2])
    assert.deepEqual(await found('PageSize=2&PageNumber=3'), [4])
    assert.deepEqual(await found('PageSize=2&PageNumber=4'), [])
    const outside = await read(`ExternalProductId=${fund.externalProductId}&PageSize=1`)
    assert.equal(outside.length, 1)
    refused(await admin.get('/BizEvent?Status=1'), 400, 'unknown_parameter')
  })
})

describe('A user whose scope is one product', () => {
  it('neither sees, gives, settles nor cancels notices of another', async () => {
    const [mine, foreign] = [await fresh(), await fresh()]
    const user = await service.userWith({ role: 'Operator', productIDs: [mine.productID] })
    const { productID, externalProductId } = foreign
    const named = { externalBizTransactionId: 'theirs' }
    const { bizEventID } = only(await notice('Deposit', { ...foreign.own, amount: 1, ...named }))
    const own = only(await notice('Deposit', { ...mine.own, amount: 1 }, user))
    assert.deepEqual(await read('', user), [own])
    for (const query of [`BizEventID=${bizEventID}`, `ProductID=${productID}`])
      assert.deepEqual(await read(query, user), [])
    refused(await notice('Deposit', { ...foreign.own, amount: 1 }, user), 404, 'not_found')
    refused(await cancel({ bizEventID }, user), 404, 'not_found')
    refused(await cancel({ bizEventIDs: [own.bizEventID, bizEventID] }, user), 404, 'not_found')
    for (const body of [
      { bizEventID },
      { bizEventID, ...mine.own, amount: 1, transactionDate: '2026-01-10' },
      { productID, externalTransactionId: 'theirs' },
      { externalProductId, externalTransactionId: 'theirs' },
    ])
      assert.ok([400, 404].includes((await settle('Deposit', body, user)).status))
    assert.deepEqual(await statusOf(bizEventID), [1, null])
    only(await settle('Deposit', { bizEventID: own.bizEventID }, user))
  })
})
