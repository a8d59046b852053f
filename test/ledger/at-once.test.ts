import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import {
  all,
  assertVerified,
  type Fund,
  newFund,
  newPrice,
  only,
  poster,
} from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

/**
 * Postings are written by the single SQL statement of at-once.ts or by `post`
 * (docs/decisions/0090). The same postings must give the same results either way.
 */
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())
afterEach(() => assertVerified(service))
const post = poster(() => service.admin)

type Row = Record<string, unknown>
const figures = ({ amount, quantity, investmentPrice, entryFeeAmount, ...row }: Row) => ({
  ...{ amount, quantity, investmentPrice, entryFeeAmount },
  typeName: row.typeName,
  day: row.transactionDate,
  closing: [row.transactionClosingQuantity, row.transactionClosingAmount],
  account: [row.accountClosingQuantity, row.accountClosingAmount],
})

/** Everything that answers show of an account, without its names and ids. */
async function historyOf({ productID }: Fund, accountID: number) {
  // In the order of the ledger: by day, then by number.
  const inOrder = (rows: Row[]) =>
    rows.toSorted((a, b) => String(a.transactionDate).localeCompare(String(b.transactionDate)))
  const own = `ProductID=${productID}&AccountID=${accountID}`
  const rows: Row[] = all(await service.admin.get(`/BizTransaction?${own}&ShowClosing=true`))
  const held = await rowsOf(
    service.connection,
    `select trim_scale(quantity) as quantity, cost_amount, realised_gain from holding
     where product_id = $1 and account_id = $2 order by investment_id`,
    [productID, accountID],
  )
  return { rows: inOrder(rows).map(figures), held: held.map((row) => Object.values<string>(row)) }
}

/** A fund with two accounts that hold the same, bought at odd prices. */
async function twins(...days: string[]) {
  const fund = await newFund(service, { accounts: 2, investments: [{ unitDecimals: 4 }] })
  const { investmentID } = fund
  await newPrice(service, investmentID, '2026-01-02', '1.0137', { redemptionPrice: '1.0071' })
  await newPrice(service, investmentID, '2026-01-04', '0.9853', { redemptionPrice: '0.9799' })
  const [one, other] = fund.accounts.map(({ accountID }) => accountID) as [number, number]
  for (const [i, transactionDate] of days.entries())
    for (const accountID of [one, other])
      only(
        await post('Deposit', { accountID, investmentID, amount: 100 + 7.77 * i, transactionDate }),
      )
  return { fund, investmentID, one, other }
}

describe('Redemptions in one statement', () => {
  it('come to what they do in an array that counts one after another, to the cent', async () => {
    const { fund, investmentID, one, other } = await twins('2026-01-01', '2026-01-02', '2026-01-03')
    const redemptions = [
      { quantity: '33.3333' },
      { amount: 20.01 },
      { quantity: 100, amount: 90.9 },
      { quantity: '0.0001' },
      { amount: 13.37, investmentPrice: '1.2345' },
    ].map((body) => ({ ...body, investmentID, transactionDate: '2026-01-05' }))
    for (const body of redemptions) only(await post('Redemption', { ...body, accountID: one }))
    all(
      await post(
        'Redemption',
        redemptions.map((body) => ({ ...body, accountID: other })),
      ),
    )
    const expected = await historyOf(fund, other)
    assert.equal(expected.rows.length, 8)
    assert.deepEqual(await historyOf(fund, one), expected)
    // The whole of it, and the cost goes with the last unit.
    const left = expected.held[0]![0]!
    for (const accountID of [one, other]) {
      const body = { accountID, investmentID, quantity: left, transactionDate: '2026-01-06' }
      only(await post('Redemption', body))
    }
    const [held] = (await historyOf(fund, one)).held
    assert.deepEqual(held?.slice(0, 2), ['0', '0.00'])
    assert.deepEqual(await historyOf(fund, one), await historyOf(fund, other))
  })

  it('go out of what takes no new money any more', async () => {
    const { fund, investmentID, one } = await twins('2026-01-01')
    const closed = { investmentID, name: 'Class', isActive: false }
    all(await service.admin.put('/Investment', closed))
    const body = { accountID: one, investmentID, transactionDate: '2026-01-05' }
    assert.equal((await post('Deposit', { ...body, amount: 1 })).status, 409)
    only(await post('Redemption', { ...body, quantity: 1 }))
    const { productID } = fund
    all(await service.admin.put('/Product', { productID, name: 'Fund', isActive: false }))
    only(await post('Redemption', { ...body, quantity: 1 }))
  })
})

describe('Units that come in before others of their account, in one statement', () => {
  const day = (n: number) => `2026-01-${String(n).padStart(2, '0')}`
  /** Days in an order in which none is followed by its neighbour. */
  const shuffled = [7, 2, 11, 4, 9, 1, 12, 3, 8, 5, 10, 6]
  const inOrder = shuffled.toSorted((a, b) => a - b)

  async function inOrderAndNot(bodyOf: (n: number) => object, kindOf = (_: number) => 'Deposit') {
    const fund = await newFund(service, { accounts: 2, investments: [{}, {}] })
    for (const investmentID of fund.investmentIDs) {
      await newPrice(service, investmentID, day(1), '1.0137')
      await newPrice(service, investmentID, day(6), '0.9853')
    }
    const [one, other] = fund.accounts.map(({ accountID }) => accountID) as [number, number]
    const send = (accountID: number, n: number) => {
      const investmentID = fund.investmentIDs[n % 2]
      const body = { accountID, investmentID, transactionDate: day(n), ...bodyOf(n) }
      return post(kindOf(n) as 'Deposit', body)
    }
    for (const n of inOrder) only(await send(one, n))
    for (const n of shuffled) only(await send(other, n))
    const expected = await historyOf(fund, one)
    assert.deepEqual(await historyOf(fund, other), expected)
    assert.equal(expected.rows.length, shuffled.length)
  }

  it('close as those that came in their order', async () => {
    await inOrderAndNot((n) => ({ amount: 100 + 7.77 * n }))
  })

  it('close so also among those that take units out, and their cost along', async () => {
    const kindOf = (n: number) => (n > 4 && n % 3 === 0 ? 'Redemption' : 'Deposit')
    await inOrderAndNot(
      (n) => ({ amount: kindOf(n) === 'Redemption' ? 3.33 : 50 + n / 100 }),
      kindOf,
    )
    const adjust = (n: number) => (n > 4 && n % 4 < 2 ? 'Adjustment' : 'Allotment')
    await inOrderAndNot((n) => ({ quantity: adjust(n) === 'Adjustment' ? -2.5 : 10 + n }), adjust)
  })

  it('are posted in an array beside those that are behind all others', async () => {
    const fund = await newFund(service, { accounts: 4 })
    const { investmentID } = fund
    const bodies = fund.accounts.map(({ accountID }, n) => ({
      ...{ accountID, investmentID, amount: 10 + n },
      transactionDate: day(10 + n),
    }))
    all(await post('Deposit', bodies))
    const mixed = bodies.map((body) => ({ ...body, amount: 5, transactionDate: day(12) }))
    all(await post('Deposit', mixed))
    for (const [n, { accountID }] of fund.accounts.entries()) {
      const { rows, held } = await historyOf(fund, accountID)
      assert.equal(held[0]?.[0], `${15 + n}`)
      const closings = n < 3 ? [10 + n, 15 + n] : [5, 18]
      assert.deepEqual(
        rows.map(({ closing }) => closing[0]),
        closings,
      )
    }
  })

  it('leave the last day of their account where it is, also many at once', async () => {
    const fund = await newFund(service, { accounts: 1 })
    const { accountID, investmentID } = fund
    const body = { accountID, investmentID, amount: 1 }
    only(await post('Deposit', { ...body, transactionDate: day(20) }))
    const days = Array.from({ length: 40 }, (_, n) => day(1 + (n % 25)))
    const replies = await Promise.all(
      days.map((transactionDate) => post('Deposit', { ...body, transactionDate })),
    )
    for (const reply of replies) only(reply)
    const { rows, held } = await historyOf(fund, accountID)
    assert.equal(held[0]?.[0], '41')
    assert.deepEqual(rows.at(-1)?.closing, [41, 41])
  })
})

describe('A posting under a key', () => {
  it('is replayed to the letter from what is kept of it, in either form', async () => {
    const { fund, investmentID, one } = await twins('2026-01-02')
    const comment = 'a "quoted" comment,\nwith\ttabs, \u0001 and Ünïcode'
    const body = {
      accountID: one,
      investmentID,
      amount: 12.5,
      transactionDate: '2026-01-05',
      comment,
    }
    const key = { 'Idempotency-Key': `kept-${fund.productID}` }
    const send = () => service.admin.post('/BizTransaction/Deposit', body, key)
    const first = await send()
    const { comment: told, amount } = only(first) as Row
    assert.deepEqual([told, amount], [comment, 12.5])
    const kept = () =>
      rowsOf(service.connection, 'select response from idempotency where key = $1', [
        key['Idempotency-Key'],
      ])
    const [{ response }] = await kept()
    assert.ok(response.length < first.text.length / 2, response)
    const again = await send()
    assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], [first.text, 'true'])
    // As answers were kept before there were values alone.
    const before = `1:${/"data":(.*)\}$/s.exec(first.text)?.[1]}`
    await rowsOf(
      service.connection,
      `update idempotency set response = $2, fingerprint = fingerprint || decode('00', 'hex')
       where key = $1`,
      [key['Idempotency-Key'], before],
    )
    assert.equal((await send()).text, first.text)
  })

  it('has the fields that the letter before its values stands for', async () => {
    const { investmentID, one } = await twins('2026-01-02')
    const body = { accountID: one, investmentID, amount: 1, transactionDate: '2026-01-05' }
    // Others than these need a letter of their own: `forms` in ledger/biz-transaction/sql.ts.
    const ofLetterA = [
      'bizTransactionID externalBizTransactionId bizTransactionTypeID typeName movementReasonCode',
      'parentBizTransactionID transactionDate productID externalProductId accountID',
      'externalAccountId accountNumber bizEntityName investmentID externalInvestmentId',
      'securityCode investmentName investmentPrice comment corporateActionID',
      'externalCorporateActionId corporateActionName amount quantity entryFeeAmount',
      'transactionClosingAmount transactionClosingQuantity accountClosingAmount',
      'accountClosingQuantity createdDate updatedDate bizTransactionStatusID statusName',
    ]
    const { text } = await post('Deposit', { ...body })
    const fields = [...text.matchAll(/"(\w+)":/g)].map(([, name]) => name)
    const own = fields.slice(fields.indexOf('bizTransactionID'))
    assert.equal(own.join(' '), ofLetterA.join(' '))
  })
})
