import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { entityOf } from '../support/investors.ts'
import { all, assertVerified, dayIn, newFund, newProduct, only, poster } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let other: Service
before(async () => {
  service = await startService()
  other = await startService({}, service.connection)
})
after(async () => {
  await assertVerified(service)
  await other.stop()
  await service.stop()
})
const post = poster(() => service.admin)
const hold = async (body: object) => only(await service.admin.post('/Hold', body))

/** An account with 100 units, held since 10 January. */
async function holder(investments: object[] = [{}]) {
  const fund = await newFund(service, { accounts: 2, investments })
  const own = { accountID: fund.accountID, investmentID: fund.investmentID }
  only(await post('Allotment', { ...own, quantity: 100 }))
  const position = async (more = '') =>
    only(await service.admin.get(`/BizEntity/Account/Holdings?AccountID=${fund.accountID}${more}`))
  return { ...fund, own, position }
}
type Holder = Awaited<ReturnType<typeof holder>>

/** The three postings that take units out, each of so many units. */
const waysOut = ({ own, accounts, investmentIDs }: Holder) => ({
  Redemption: (quantity: number) => post('Redemption', { ...own, quantity }),
  Transfer: (quantity: number) =>
    post('Transfer', {
      ...{ investmentID: own.investmentID, quantity },
      ...{ fromAccountID: own.accountID, toAccountID: accounts[1]!.accountID },
    }),
  Conversion: (quantity: number) =>
    post('Conversion', {
      ...{ accountID: own.accountID, quantity, conversionMethod: 'Price' },
      ...{ fromInvestmentID: investmentIDs[0], toInvestmentID: investmentIDs[1] },
    }),
})

describe('A hold', () => {
  it('keeps units back from redemption, transfer out and conversion, and shows it', async () => {
    const made = await holder([{}, {}])
    const { holdID } = await hold({ ...made.own, quantity: 60, reason: 'Court order' })
    assert.equal((await made.position()).availableQuantity, 40)
    for (const [way, take] of Object.entries(waysOut(made))) {
      refused(await take(41), 409, 'units_on_hold')
      all(await take(10)).forEach(({ quantity }: { quantity: number }) => {
        assert.equal(Math.abs(quantity), 10, way)
      })
    }
    const { quantity, availableQuantity } = await made.position(
      `&InvestmentID=${made.investmentID}`,
    )
    assert.deepEqual([quantity, availableQuantity], [70, 10])
    only(await post('Adjustment', { ...made.own, quantity: -20 })) // a correction is none of these
    assert.equal((await service.admin.delete(`/Hold?HoldID=${holdID}`)).status, 200)
    only(await post('Redemption', { ...made.own, quantity: 50 }))
  })

  it('adds up with others, of one investment, and with all of every investment', async () => {
    const made = await holder()
    await hold({ ...made.own, quantity: 30, reason: 'Charge' })
    await hold({ ...made.own, quantity: 30, reason: 'Margin' })
    assert.equal((await made.position()).availableQuantity, 40)
    refused(await post('Redemption', { ...made.own, quantity: 41 }), 409, 'units_on_hold')
    const whole = await hold({ accountID: made.accountID, all: true, reason: 'Estate' })
    assert.equal((await made.position()).availableQuantity, 0)
    refused(await post('Redemption', { ...made.own, quantity: 1 }), 409, 'units_on_hold')
    only(await post('Deposit', { ...made.own, amount: 5 })) // what comes in is held too
    assert.equal((await made.position()).availableQuantity, 0)
    only(await service.admin.put('/Hold', { holdID: whole.holdID, validTo: dayIn() }))
    assert.equal((await made.position()).availableQuantity, 0)
    await service.admin.delete(`/Hold?HoldID=${whole.holdID}`)
    assert.equal((await made.position()).availableQuantity, 45)
  })

  it('is broken in an array by the items that go wrong, and not by those before them', async () => {
    const { own, accounts, investmentID } = await holder()
    const free = { accountID: accounts[1]!.accountID, investmentID }
    only(await post('Allotment', { ...free, quantity: 100 }))
    await hold({ ...own, quantity: 50, reason: 'Charge' })
    const take = (account: object, quantity: number, transactionDate = '2026-01-10') => ({
      ...{ ...account, quantity, transactionDate },
    })
    const fieldsOf = async (...items: object[]) => {
      const reply = await post('Redemption', items)
      refused(reply, 409, 'units_on_hold')
      return reply.errors.map(({ field }) => field)
    }
    assert.deepEqual(await fieldsOf(take(own, 30), take(free, 30), take(own, 30)), ['[2].quantity'])
    // By the day: the last of the list is the first to go.
    const later = take(own, 30, '2026-01-12')
    assert.deepEqual(await fieldsOf(later, take(free, 30), take(own, 30)), ['[0].quantity'])
    assert.deepEqual(await fieldsOf(take(own, 51), take(own, 1)), ['[0].quantity', '[1].quantity'])
    all(await post('Redemption', [take(own, 30), take(free, 30), take(own, 20)]))
  })

  it('counts on its days, and nothing is dated back past it', async () => {
    const made = await holder()
    const own = { ...made.own, quantity: 100 }
    await hold({ ...own, reason: 'Over', validFrom: '2026-01-11', validTo: '2026-01-20' })
    assert.equal((await made.position('&Date=2026-01-15')).availableQuantity, 0)
    assert.equal((await made.position()).availableQuantity, 100)
    const out = { ...made.own, quantity: 1 }
    const during = { ...out, transactionDate: '2026-01-20' }
    refused(await post('Redemption', during), 409, 'units_on_hold')
    const { bizTransactionID } = only(
      await post('Redemption', { ...out, transactionDate: '2026-01-21' }),
    )
    const { holdID } = await hold({ ...made.own, quantity: 99, reason: 'Now' })
    refused(
      await post('Redemption', { ...out, transactionDate: '2026-01-10' }),
      409,
      'units_on_hold',
    )
    const more = { bizTransactionID, quantity: -2 }
    refused(await service.admin.put('/BizTransaction', more), 409, 'units_on_hold')
    only(await service.admin.put('/BizTransaction', { bizTransactionID, comment: 'Told apart' }))
    only(await service.admin.put('/Hold', { holdID, quantity: 98 }))
    only(await service.admin.put('/BizTransaction', more))
  })

  it('binds notices, too', async () => {
    const made = await holder()
    await hold({ ...made.own, quantity: 60, reason: 'Charge' })
    const notice = (quantity: number) =>
      service.admin.post('/BizEvent/NoticeOfRedemption', {
        ...made.own,
        transactionDate: '2026-01-12',
        quantity,
      })
    only(await notice(30))
    refused(await notice(11), 409, 'units_on_hold')
    only(await notice(10))
  })

  it('is not passed by redemptions that race with it, on two nodes', async () => {
    const made = await holder()
    const redeem = (client = service.admin) =>
      client.post('/BizTransaction/Redemption', {
        ...{ ...made.own, quantity: 10, transactionDate: '2026-01-12' },
      })
    const taken = Promise.all(
      Array.from({ length: 12 }, (_, i) => redeem(i % 2 ? service.admin : other.admin)),
    )
    const { createdDate } = await hold({ ...made.own, quantity: 50, reason: 'Charge' })
    assert.ok(createdDate)
    const replies = await taken
    const left = 100 - 10 * replies.filter(({ status }) => status === 200).length
    assert.equal((await made.position()).quantity, left)
    for (const reply of replies)
      if (reply.status !== 200) assert.match(reply.text, /units_on_hold|insufficient_holding/)
    // Whatever went before the hold: nothing goes after it that would leave less than it.
    if (left <= 50) refused(await redeem(), 409)
  })
})

describe('The holds of an account', () => {
  it('are read, changed and removed; what is left out stays', async () => {
    const made = await holder()
    const first = await hold({ ...made.own, quantity: 5, reason: 'Charge' })
    assert.deepEqual(
      [first.quantity, first.all, first.validFrom, first.validTo, first.documentID],
      [5, false, dayIn(), null, null],
    )
    const put = (more: object) => service.admin.put('/Hold', { holdID: first.holdID, ...more })
    const whole = only(await put({ all: true }))
    assert.deepEqual([whole.quantity, whole.all, whole.reason], [null, true, 'Charge'])
    assert.equal(only(await put({ quantity: 7 })).all, false)
    refused(await put({ quantity: 7, all: true }), 400, 'combination')
    refused(await put({ validTo: '2020-01-01' }), 400, 'invalid_value')
    const list = all(await service.admin.get(`/Hold?AccountID=${made.accountID}`))
    assert.equal(list.length, 1)
    assert.equal((await service.admin.delete(`/Hold?HoldID=${first.holdID}`)).status, 200)
    refused(await put({ quantity: 7 }), 404, 'not_found')
  })

  it('stay on their account and investment, and are told by them when sent back', async () => {
    const made = await holder()
    const other = await holder()
    const first = await hold({ ...made.own, quantity: 5, reason: 'Charge' })
    const put = (more: object) => service.admin.put('/Hold', { holdID: first.holdID, ...more })
    for (const more of [
      { accountID: other.accountID },
      { investmentID: other.own.investmentID },
      { productID: other.productID },
      { securityCode: 'NONE' },
    ])
      refused(await put(more), 400, 'immutable')
    assert.equal(only(await put({ ...first, quantity: 6 })).quantity, 6)
    const wide = await hold({ accountID: made.accountID, all: true, reason: 'x' })
    const { investmentID } = made.own
    const narrower = { ...wide, investmentID }
    refused(await service.admin.put('/Hold', narrower), 400, 'immutable')
    refused(await service.admin.put('/Hold', { ...wide, all: false }), 400, 'required')
    only(await service.admin.put('/Hold', wide))
  })

  it('are refused when they are unclear, or rest on what is not there', async () => {
    const made = await holder()
    const ask = (more: object) => service.admin.post('/Hold', { ...made.own, reason: 'x', ...more })
    refused(await ask({}), 400, 'required')
    refused(await ask({ quantity: 1, all: true }), 400, 'combination')
    refused(await ask({ quantity: 0 }), 400)
    refused(await ask({ quantity: 1, investmentID: null }), 400, 'required')
    refused(await ask({ all: true, documentID: 99_999_999 }), 404, 'not_found')
    refused(await ask({ all: true, validFrom: '2026-02-01', validTo: '2026-01-01' }), 400)
    const wide = await hold({ accountID: made.accountID, all: true, reason: 'x' })
    const narrowed = { holdID: wide.holdID, quantity: 1 }
    refused(await service.admin.put('/Hold', narrowed), 400, 'required')
  })

  it('keep the document that they rest on', async () => {
    const made = await holder()
    const about = { documentTypeID: 1, productID: made.productID, name: 'Order' }
    const { documentID } = all(await service.admin.post('/Document', about))
    await hold({ ...made.own, all: true, reason: 'Court order', documentID })
    const remove = await service.admin.delete(`/Document?DocumentID=${documentID}`)
    refused(remove, 409, 'in_use')
  })

  it('are changed by who does not see the document they rest on, and sends it back', async () => {
    const made = await holder()
    const elsewhere = await newProduct(service)
    const about = { documentTypeID: 1, productID: elsewhere.productID, name: 'Order' }
    const [{ documentID }, other] = [
      all(await service.admin.post('/Document', about)),
      all(await service.admin.post('/Document', about)),
    ]
    const { holdID } = await hold({ ...made.own, all: true, reason: 'Court order', documentID })
    const scoped = await service.userWith({ role: 'Operator', productIDs: [made.productID] })
    const read = only(await scoped.get(`/Hold?HoldID=${holdID}`))
    const changed = only(await scoped.put('/Hold', { ...read, reason: 'Extended' }))
    assert.deepEqual([changed.reason, changed.documentID], ['Extended', documentID])
    const foreign = { ...read, documentID: other.documentID }
    refused(await scoped.put('/Hold', foreign), 404, 'not_found')
  })

  it('keep it from going with the entity whose own it is', async () => {
    const made = await holder()
    const owner = await service.admin.post('/BizEntity', entityOf(made.productID))
    const { bizEntityID } = only(owner)
    const about = { documentTypeID: 1, bizEntityID, name: 'Order' }
    const { documentID } = all(await service.admin.post('/Document', about))
    const { holdID } = await hold({ ...made.own, all: true, reason: 'Court order', documentID })
    const remove = () => service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    refused(await remove(), 409, 'in_use')
    assert.equal((await service.admin.get(`/Document?DocumentID=${documentID}`)).status, 200)
    await service.admin.delete(`/Hold?HoldID=${holdID}`)
    assert.equal((await remove()).status, 200)
  })
})
