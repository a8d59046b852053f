import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)
const notice = (kind: string, body: object) =>
  service.admin.post(`/BizEvent/NoticeOf${kind}`, { transactionDate: '2026-01-10', ...body })
const rollBack = (bizTransactionID: number, more: object = {}) =>
  service.admin.put('/BizTransaction/Rollback', { bizTransactionID, ...more })
const fresh = async (options: Parameters<typeof newFund>[1] = {}) => {
  const made = await newFund(service, options)
  return { ...made, own: { accountID: made.accountID, investmentID: made.investmentID } }
}
const eventOf = async (bizEventID: number) =>
  only(await service.admin.get(`/BizEvent?BizEventID=${bizEventID}`))
const figuresOf = ({ amount, quantity }: { amount: number; quantity: number }) => ({
  amount,
  quantity,
})

describe('A notice', () => {
  it('is settled only by a posting to its account and investment', async () => {
    const fund = await fresh({ accounts: 2, investments: [{}, {}] })
    const { bizEventID } = only(await notice('Deposit', { ...fund.own, amount: 10 }))
    const [, other] = fund.accounts
    refused(await post('Deposit', { bizEventID, accountID: other!.accountID }), 409, 'other_notice')
    const wrong = { bizEventID, investmentID: fund.investmentIDs[1] }
    refused(await post('Deposit', wrong), 409, 'other_notice')
    only(await post('Deposit', { bizEventID, accountID: fund.accountID, amount: 11 }))
  })

  it('of a day before 1900, from when they could be, is settled on another day alone', async () => {
    const { own } = await fresh({ accounts: 1 })
    const { bizEventID } = only(await notice('Deposit', { ...own, amount: 10 }))
    const misprinted = `update biz_event set biz_event_date = '0026-01-10' where biz_event_id = $1`
    await rowsOf(service.connection, misprinted, [bizEventID])
    const settle = (more: object) =>
      service.admin.post('/BizTransaction/Deposit', { bizEventID, investmentPrice: 1, ...more })
    const reply = await settle({})
    refused(reply, 400, 'out_of_range')
    assert.equal(reply.errors[0]!.field, 'transactionDate')
    only(await settle({ transactionDate: '2026-01-10' }))
  })

  it('of a deposit is refused with a fee above its amount, as the deposit would be', async () => {
    const { own } = await fresh()
    const reply = await notice('Deposit', { ...own, amount: 10, entryFeeAmount: 10.01 })
    refused(reply, 400, 'invalid_value')
    assert.equal(reply.errors[0]!.field, 'entryFeeAmount')
    only(await notice('Deposit', { ...own, amount: 10, entryFeeAmount: 10 }))
  })

  it('of a product that is not there is not found, by the name of the product', async () => {
    const reply = await post('Redemption', {
      externalProductId: 'nope',
      externalTransactionId: 'x',
    })
    refused(reply, 404, 'not_found')
    assert.equal(reply.errors[0]!.field, 'externalProductId')
  })

  it('is pending again when its posting is rolled back, and may take its id again', async () => {
    const fund = await fresh()
    const body = { ...fund.own, amount: 10, externalBizTransactionId: 'N-1' }
    const { bizEventID } = only(await notice('Deposit', body))
    const first = only(await post('Deposit', { bizEventID }))
    assert.equal(first.externalBizTransactionId, 'N-1')
    only(await rollBack(first.bizTransactionID))
    const open = await eventOf(bizEventID)
    assert.deepEqual([open.bizEventStatusID, open.parentBizTransactionID], [1, null])
    const stranger = { ...fund.own, amount: 1, externalBizTransactionId: 'N-1' }
    refused(await post('Deposit', stranger), 409, 'duplicate')
    const second = only(await post('Deposit', { bizEventID }))
    assert.equal(second.externalBizTransactionId, 'N-1')
    assert.equal((await eventOf(bizEventID)).parentBizTransactionID, second.bizTransactionID)
  })

  it('gives its external id away when the rollback says so', async () => {
    const fund = await fresh()
    const body = { ...fund.own, amount: 10, externalBizTransactionId: 'R-1' }
    const { bizTransactionID } = only(await post('Deposit', body))
    const gone = only(await rollBack(bizTransactionID, { releaseExternalId: true }))
    assert.equal(gone.externalBizTransactionId, null)
    only(await post('Deposit', body))
  })

  it('of redemption is counted with the others that are pending', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 80 }))
    const { bizEventID } = only(await notice('Redemption', { ...fund.own, quantity: 60 }))
    const more = await notice('Redemption', { ...fund.own, quantity: 60 })
    refused(more, 409, 'insufficient_holding')
    assert.match(more.message!, /80 units are held now, and 60 are on notice/)
    only(await service.admin.put('/BizEvent/Cancel', { bizEventID }))
    const both = await Promise.all(
      [1, 2].map(() => notice('Redemption', { ...fund.own, quantity: 60 })),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  })

  it('of a conversion is refused between two currencies, as what would settle it is', async () => {
    const fund = await fresh({ investments: [{}, { currencyID: 3 }] })
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    const both = { accountID: fund.accountID, fromInvestmentID, toInvestmentID, quantity: 1 }
    for (const how of [{ conversionMethod: 'Price' }, { conversionFactor: 2 }]) {
      refused(await post('Conversion', { ...both, ...how }), 400, 'other_currency')
      refused(await notice('Conversion', { ...both, ...how }), 400, 'other_currency')
    }
  })

  it('of a conversion by factor has the units that the target gets', async () => {
    const fund = await fresh({ investments: [{}, { unitDecimals: 0 }] })
    only(await post('Deposit', { ...fund.own, amount: 80 }))
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    const { accountID } = fund
    const body = { accountID, fromInvestmentID, toInvestmentID, conversionFactor: 1.25 }
    const events = all(await notice('Conversion', { ...body, quantity: 9 }))
    assert.deepEqual(
      events.map(({ quantity }: { quantity: number }) => quantity),
      [9, 11],
    )
    all(await post('Conversion', { bizEventID: events[0].bizEventID }))
    const query = `/BizEvent?AccountID=${accountID}&BizEventStatusID=2`
    assert.equal(all(await service.admin.get(query)).length, 2)
  })

  it('of a conversion by factor has pending what its source has, however rounded', async () => {
    const fund = await fresh({ investments: [{}, { unitDecimals: 0 }] })
    only(await post('Deposit', { ...fund.own, amount: 80 }))
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    const both = { accountID: fund.accountID, fromInvestmentID, toInvestmentID }
    const by = { ...both, quantity: 10, conversionFactor: '0.3333' }
    const [{ bizEventID }, target] = all(await notice('Conversion', by))
    const left = async () =>
      [await eventOf(bizEventID), await eventOf(target.bizEventID)].map(({ quantity }) => quantity)
    assert.deepEqual(await left(), [10, 3])
    // 2 become 1, and of the 8 that are left 3, not 2.
    const [part] = all(await post('Conversion', { bizEventID, quantity: 2, partial: true }))
    assert.deepEqual(await left(), [8, 3])
    // 6 become 2: of the others 1 is left, where nothing was.
    const [more] = all(await post('Conversion', { bizEventID, quantity: 6, partial: true }))
    assert.deepEqual(await left(), [2, 1])
    all(await rollBack(part.bizTransactionID))
    assert.deepEqual(await left(), [4, 1])
    all(await rollBack(more.bizTransactionID))
    assert.deepEqual(await left(), [10, 3])
    all(await post('Conversion', { bizEventID }))
    assert.equal((await eventOf(target.bizEventID)).bizEventStatusID, 2)
  })

  it('of a conversion is completed whole, also where a half is rounded the same', async () => {
    const fund = await fresh({ investments: [{}, { unitDecimals: 0 }], price: null })
    only(await post('Allotment', { ...fund.own, quantity: 1000, amount: 1000 }))
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    const both = { accountID: fund.accountID, fromInvestmentID, toInvestmentID }
    const by = { ...both, quantity: 100, conversionFactor: '0.01' }
    const [source, target] = all(await notice('Conversion', by))
    const { bizEventID } = source
    // Both 60 and 100 units become one.
    const part = { bizEventID, quantity: 60, partial: true }
    const [{ bizTransactionID }, other] = all(await post('Conversion', part))
    all(await service.admin.put('/BizTransaction', { bizTransactionID, quantity: -100 }))
    const halves = [await eventOf(bizEventID), await eventOf(target.bizEventID)]
    assert.deepEqual(
      halves.map((half) => [half.bizEventStatusID, half.parentBizTransactionID]),
      [
        [2, bizTransactionID],
        [2, other.bizTransactionID],
      ],
    )
  })

  it('of a conversion by price has no units of the target before its day', async () => {
    const fund = await fresh({ investments: [{}, {}], price: 2 })
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    const both = { accountID: fund.accountID, fromInvestmentID, toInvestmentID }
    const byPrice = { ...both, quantity: 10, conversionMethod: 'Price' }
    const [source, target] = all(await notice('Conversion', byPrice))
    assert.deepEqual([source, target].map(figuresOf), [
      { amount: null, quantity: 10 },
      { amount: null, quantity: null },
    ])
    const { bizEventID } = source
    all(await post('Conversion', { bizEventID, quantity: 4, partial: true, toInvestmentPrice: 3 }))
    assert.deepEqual(figuresOf(await eventOf(target.bizEventID)), { amount: null, quantity: null })
    const rest = all(await post('Conversion', { bizEventID, toInvestmentPrice: 3 }))
    assert.deepEqual(rest.map(figuresOf), [
      { amount: -12, quantity: -6 },
      { amount: 12, quantity: 4 },
    ])
    assert.equal((await eventOf(target.bizEventID)).bizEventStatusID, 2)
  })

  it('that is settled in part stays pending with what is left, until the rest is', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    const body = { ...fund.own, quantity: 60, externalBizTransactionId: 'P-1' }
    const { bizEventID } = only(await notice('Redemption', body))
    const part = only(await post('Redemption', { bizEventID, quantity: 20, partial: true }))
    const left = await eventOf(bizEventID)
    assert.deepEqual([left.bizEventStatusID, left.quantity], [1, 40])
    only(await rollBack(part.bizTransactionID))
    assert.equal((await eventOf(bizEventID)).quantity, 60)
    only(await post('Redemption', { bizEventID, quantity: 10, partial: true }))
    const rest = only(await post('Redemption', { bizEventID }))
    assert.deepEqual([rest.quantity, rest.externalBizTransactionId], [-50, null])
    const done = await eventOf(bizEventID)
    assert.deepEqual(
      [done.bizEventStatusID, done.parentBizTransactionID],
      [2, rest.bizTransactionID],
    )
  })

  it('that has one figure keeps none of the other, however its parts come and go', async () => {
    const fund = await fresh({ price: 3 })
    only(await post('Deposit', { ...fund.own, amount: 300 }))
    const units = only(await notice('Redemption', { ...fund.own, quantity: 40 })).bizEventID
    const part = only(await post('Redemption', { bizEventID: units, quantity: 10, partial: true }))
    assert.deepEqual(figuresOf(await eventOf(units)), { amount: null, quantity: 30 })
    only(await rollBack(part.bizTransactionID))
    assert.deepEqual(figuresOf(await eventOf(units)), { amount: null, quantity: 40 })
    only(await post('Redemption', { bizEventID: units, quantity: 10, partial: true }))
    const rest = only(await post('Redemption', { bizEventID: units }))
    assert.deepEqual(figuresOf(rest), { amount: -90, quantity: -30 })

    const money = only(await notice('Redemption', { ...fund.own, amount: 30 })).bizEventID
    const half = only(await post('Redemption', { bizEventID: money, amount: 15, partial: true }))
    assert.deepEqual(figuresOf(await eventOf(money)), { amount: 15, quantity: null })
    only(await rollBack(half.bizTransactionID))
    const whole = only(await post('Redemption', { bizEventID: money }))
    assert.deepEqual(figuresOf(whole), { amount: -30, quantity: -10 })
  })

  it('has its entry fee charged once, however many parts it is settled in', async () => {
    const fund = await fresh({ price: 3 })
    const body = { ...fund.own, amount: 100, entryFeeAmount: 10 }
    const { bizEventID } = only(await notice('Deposit', body))
    const settle = async (more: object) => only(await post('Deposit', { bizEventID, ...more }))
    const feeLeft = async (): Promise<number> => {
      const statement = 'select entry_fee_amount as fee from biz_event where biz_event_id = $1'
      return Number((await rowsOf(service.connection, statement, [bizEventID]))[0].fee)
    }
    const part = await settle({ amount: 40, partial: true })
    assert.deepEqual([part.entryFeeAmount, part.quantity, await feeLeft()], [10, 10, 0])
    only(await rollBack(part.bizTransactionID))
    assert.equal(await feeLeft(), 10)
    const some = await settle({ amount: 40, entryFeeAmount: 4, partial: true })
    assert.deepEqual([some.entryFeeAmount, await feeLeft()], [4, 6])
    const rest = await settle({})
    assert.deepEqual([rest.amount, rest.entryFeeAmount, rest.quantity], [60, 6, 18])
    only(await rollBack(rest.bizTransactionID))
    assert.equal(await feeLeft(), 6)
  })

  it('has pending what a correction leaves, and is completed by one that uses it up', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 100 }))
    const { bizEventID } = only(await notice('Redemption', { ...fund.own, quantity: 40 }))
    const asked = { bizEventID, quantity: 10, partial: true }
    const { bizTransactionID } = only(await post('Redemption', asked))
    const corrected = (quantity: number) =>
      service.admin.put('/BizTransaction', { bizTransactionID, quantity })
    all(await corrected(-15))
    assert.equal((await eventOf(bizEventID)).quantity, 25)
    all(await corrected(-40))
    const done = await eventOf(bizEventID)
    assert.deepEqual(
      [done.bizEventStatusID, done.parentBizTransactionID, done.quantity],
      [2, bizTransactionID, 40],
    )
    only(await rollBack(bizTransactionID))
    const again = await eventOf(bizEventID)
    assert.deepEqual([again.bizEventStatusID, again.quantity], [1, 40])
  })

  it('waits for its rest again when a slip that used it up is corrected', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 1000 }))
    const left = async (bizEventID: number) => {
      const { bizEventStatusID, quantity } = await eventOf(bizEventID)
      return [bizEventStatusID, quantity]
    }
    // Whether the slip was a correction or the part itself; but not who settles it as a whole.
    for (const { quantity, partial, after } of [
      { quantity: 10, partial: true, after: [1, 28] },
      { quantity: 40, partial: true, after: [1, 28] },
      { quantity: 40, partial: false, after: [2, 40] },
    ]) {
      const { bizEventID } = only(await notice('Redemption', { ...fund.own, quantity: 40 }))
      const part = { bizEventID, quantity, partial }
      const { bizTransactionID } = only(await post('Redemption', part))
      const corrected = async (units: number) =>
        all(await service.admin.put('/BizTransaction', { bizTransactionID, quantity: units }))
      await corrected(-41)
      assert.equal((await eventOf(bizEventID)).bizEventStatusID, 2)
      await corrected(-12)
      assert.deepEqual(await left(bizEventID), after)
      if (after[0] === 2) continue
      only(await post('Redemption', { bizEventID }))
      assert.deepEqual(await left(bizEventID), [2, 28])
    }
  })

  it('has the same left in whatever order its parts are corrected and rolled back', async () => {
    const fund = await fresh()
    only(await post('Deposit', { ...fund.own, amount: 1000 }))
    const halfAndRest = async () => {
      const { bizEventID } = only(await notice('Redemption', { ...fund.own, quantity: 100 }))
      const asked = { bizEventID, quantity: 40, partial: true }
      const first = only(await post('Redemption', asked)).bizTransactionID
      const last = only(await post('Redemption', { bizEventID })).bizTransactionID
      const correct = (quantity: number) =>
        service.admin.put('/BizTransaction', { bizTransactionID: first, quantity })
      const state = async () => {
        const { bizEventStatusID, quantity, parentBizTransactionID } = await eventOf(bizEventID)
        return [bizEventStatusID, quantity, parentBizTransactionID]
      }
      return { first, last, correct, state }
    }
    for (const isFirst of [true, false]) {
      const { first, last, correct, state } = await halfAndRest()
      if (isFirst) all(await correct(-30))
      only(await rollBack(last))
      if (!isFirst) all(await correct(-30))
      assert.deepEqual(await state(), [1, 70, null])
      only(await rollBack(first))
      assert.deepEqual(await state(), [1, 100, null])
    }
    for (const isFirst of [true, false]) {
      const { first, last, correct, state } = await halfAndRest()
      if (isFirst) all(await correct(-100))
      only(await rollBack(last))
      if (!isFirst) all(await correct(-100))
      assert.deepEqual(await state(), [2, 100, first])
    }
    // By less than was left, and the first part goes before the last.
    const { bizEventID } = only(await notice('Redemption', { ...fund.own, quantity: 100 }))
    const part = only(await post('Redemption', { bizEventID, quantity: 40, partial: true }))
    const less = only(await post('Redemption', { bizEventID, quantity: 50 }))
    only(await rollBack(part.bizTransactionID))
    assert.equal((await eventOf(bizEventID)).quantity, 50)
    only(await rollBack(less.bizTransactionID))
    assert.equal((await eventOf(bizEventID)).quantity, 100)
  })

  it('gets back what parts had used up, and keeps no rest that nobody can settle', async () => {
    const fund = await fresh({ price: 2 })
    only(await post('Deposit', { ...fund.own, amount: 1000 }))
    const both = { ...fund.own, quantity: 10, amount: 15 }
    const { bizEventID } = only(await notice('Redemption', both))
    const part = only(await post('Redemption', { bizEventID, quantity: 9, partial: true }))
    assert.deepEqual(figuresOf(await eventOf(bizEventID)), { amount: null, quantity: 1 })
    only(await rollBack(part.bizTransactionID))
    assert.deepEqual(figuresOf(await eventOf(bizEventID)), { amount: 15, quantity: 10 })

    const fine = only(await notice('Deposit', { ...fund.own, amount: '10.004' })).bizEventID
    const whole = only(await post('Deposit', { bizEventID: fine, amount: 10, partial: true }))
    const done = await eventOf(fine)
    assert.deepEqual(
      [done.bizEventStatusID, done.parentBizTransactionID, done.amount],
      [2, whole.bizTransactionID, 10.004],
    )
  })
})
