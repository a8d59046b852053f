import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { lockSpaces } from '../../src/platform/sql/lock-numbers.ts'
import { rowsOf, skipSpread, waitingForLocks } from '../support/database.ts'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { until } from '../support/process.ts'
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

/** Opens a database session that keeps its locks, as a frozen node would. */
async function holding(statement: string, values: unknown[]) {
  const client = new pg.Client(service.connection)
  await client.connect()
  await client.query('begin')
  await client.query(statement, values)
  return async () => {
    await client.query('rollback')
    await client.end()
  }
}

/** The requests that were started, with a way to see whether any has ended. */
function underway<T>(work: Promise<T>[]) {
  let ended = 0
  for (const one of work) void one.finally(() => ended++)
  return { all: () => Promise.all(work), ended: () => ended }
}

const countedIn = async (text: string, values: unknown[]) =>
  (await rowsOf(service.connection, `select count(*)::int as n from ${text}`, values))[0].n

describe('A posting that has to wait', () => {
  it('for an account does so behind those that do, and beside nobody else', async () => {
    const [held, other] = [await newFund(service), await newFund(service, { accounts: 3 })]
    const own = { accountID: held.accountID, investmentID: held.investmentID, amount: 1 }
    only(await post('Deposit', own))
    const letGo = await holding(
      'select 1 from ledger_account where product_id = $1 and account_id = $2 for update',
      [held.productID, held.accountID],
    )
    const stuck = underway(Array.from({ length: 120 }, () => post('Deposit', own)))
    for (let n = 0; n < 3; n++) {
      const bodies = other.accounts.map(({ accountID }) => ({
        accountID,
        investmentID: other.investmentID,
        amount: 1,
      }))
      all(await post('Deposit', bodies))
      only(await post('Deposit', bodies[n]!))
    }
    assert.equal(stuck.ended(), 0, 'the account is still held')
    await letGo()
    for (const reply of await stuck.all()) only(reply)
    const { accountID } = held
    assert.equal(await countedIn('biz_transaction where account_id = $1', [accountID]), 121)
  })

  it('for an account does so as long as it may, also if the clock is set', async () => {
    const { accountID, investmentID, productID } = await newFund(service)
    const own = { accountID, investmentID, amount: 1 }
    only(await post('Deposit', own))
    const letGo = await holding(
      'select 1 from ledger_account where product_id = $1 and account_id = $2 for update',
      [productID, accountID],
    )
    const stuck = underway([post('Deposit', own)])
    const isTrying = async () => (await waitingForLocks(service.connection)) > 0
    await until('it to try', isTrying)
    const rightly = Date.now
    Date.now = () => rightly() + 3_600_000
    try {
      // Through some attempts more, each of which asks how long it has waited.
      for (let n = 0; n < 3 && stuck.ended() === 0; n++) {
        await until('an attempt to end', async () => !(await isTrying()) || stuck.ended() > 0)
        await until('the next one', async () => (await isTrying()) || stuck.ended() > 0)
      }
    } finally {
      Date.now = rightly
      await letGo()
    }
    for (const reply of await stuck.all()) only(reply)
  })

  it('for its Idempotency-Key does so alone, and then is posted once', async () => {
    const { accountID, investmentID } = await newFund(service)
    const own = { accountID, investmentID, amount: 1 }
    only(await post('Deposit', own))
    const [{ user_id: userID }] = await rowsOf(service.connection, 'select user_id from app_user')
    const letGo = await holding('select pg_advisory_xact_lock(hashtextextended($1, $2))', [
      'held',
      userID,
    ])
    const keyed = () => post('Deposit', own, { 'Idempotency-Key': 'held' })
    const stuck = underway([keyed(), keyed(), keyed()])
    for (let n = 0; n < 5; n++) only(await post('Deposit', own))
    only(await post('Deposit', own, { 'Idempotency-Key': 'another' }))
    assert.equal(stuck.ended(), 0, 'the key is still held')
    await letGo()
    const replies = await stuck.all()
    assert.equal(new Set(replies.map((reply) => only(reply).bizTransactionID)).size, 1)
    assert.equal(await countedIn('biz_transaction where account_id = $1', [accountID]), 8)
  })

  it('for a notice that goes with its entity meanwhile finds none', {
    skip: skipSpread,
  }, async () => {
    const { accounts, accountID, investmentID } = await newFund(service)
    const own = { accountID, investmentID, amount: 1, transactionDate: '2026-01-10' }
    const { bizEventID } = only(await service.admin.post('/BizEvent/NoticeOfDeposit', own))
    only(await service.admin.put('/BizEvent/Cancel', { bizEventID }))
    const letGo = await holding('select 1 from biz_event where biz_event_id = $1 for update', [
      bizEventID,
    ])
    const waiting = () => waitingForLocks(service.connection)
    const going = service.admin.delete(`/BizEntity?BizEntityID=${accounts[0]!.bizEntityID}`)
    await until('the entity to wait', async () => (await waiting()) === 1)
    const posting = post('Deposit', { bizEventID })
    await until('the posting to wait', async () => (await waiting()) === 2)
    await letGo()
    assert.equal((await going).status, 200)
    refused(await posting, 404, 'not_found')
  })

  it('while its account goes finds none', async () => {
    const { accounts, accountID, investmentID, productID } = await newFund(service)
    const { bizEntityID } = accounts[0]!
    const entity = await holding('select 1 from biz_entity where biz_entity_id = $1 for update', [
      bizEntityID,
    ])
    const period = await holding('select pg_advisory_xact_lock($1, $2)', [
      lockSpaces.periods,
      productID,
    ])
    const waiting = () => waitingForLocks(service.connection)
    const going = service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    await until('the entity to wait', async () => (await waiting()) === 1)
    const posting = post('Deposit', { accountID, investmentID, amount: 1 })
    await until('the posting to wait', async () => (await waiting()) === 2)
    await entity()
    assert.equal((await going).status, 200)
    await period()
    refused(await posting, 404, 'not_found')
  })
})

describe('A posting that only appends', () => {
  it('leaves the same rows, audit and event behind as one that does not', async () => {
    const { accountID, investmentID, productID } = await newFund(service)
    const own = { accountID, investmentID, amount: 10, entryFeePercentage: 1 }
    const headers = { 'Idempotency-Key': 'same' }
    const slow = only(await post('Deposit', own)) // the first of its account
    const fast = only(await post('Deposit', own, headers))
    const replayed = await post('Deposit', own, headers)
    assert.deepEqual(only(replayed), fast)
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
    const times = { bizTransactionID: 0, createdDate: '' }
    assert.deepEqual({ ...fast, ...times }, { ...slow, ...times })
    const told = await rowsOf(
      service.connection,
      `select a.operation, a.user_id, a.username, a.product_id, a.changes, e.type, e.resource,
        e.product_id as of_product, e.ids, e.counts, e.user_id as by
      from audit a join happening e on e.ids = array[a.resource_id]
        and e.resource = a.resource
      where a.resource = 'BizTransaction' and a.product_id = $1 order by a.audit_id`,
      [productID],
    )
    assert.equal(told.length, 2)
    assert.deepEqual({ ...told[1], ids: [] }, { ...told[0], ids: [] })
  })
})
