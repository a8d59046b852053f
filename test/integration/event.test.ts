import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { sweep } from '../../src/operations/maintenance.ts'
import { openDatabase } from '../../src/platform/sql/handle.ts'
import { isSpread, rowsOf } from '../support/database.ts'
import { eventsAfter, feedEnd, readEvents, recordsIn, type Told } from '../support/events.ts'
import { all, type Fund, newFund, newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

let service: Service
let fund: Fund
before(async () => {
  service = await startService()
  fund = await newFund(service, { accounts: 3 })
})
after(() => service.stop())

const deposit = (i = 0, more: object = {}) => ({
  accountID: fund.accounts[i]!.accountID,
  investmentID: fund.investmentID,
  transactionDate: '2026-01-05',
  amount: 100,
  ...more,
})
const story = (events: Told[]) => events.map(({ type, ids }) => `${type} ${ids}`)

describe('GET /Event', () => {
  it('tells what was written: type, ids, product and who did it', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const { productID } = await newProduct(service)
    await admin.put('/Product', { productID, name: 'Renamed', isActive: true })
    const posted = only(await admin.post('/BizTransaction/Deposit', deposit()))
    const { bizTransactionID } = posted
    await admin.put('/BizTransaction/Rollback', { bizTransactionID })
    await admin.delete(`/Product?ProductID=${productID}`)
    const events = await eventsAfter(admin, start, 5)
    assert.deepEqual(story(events), [
      `product.created ${productID}`,
      `product.updated ${productID}`,
      `biztransaction.posted ${bizTransactionID}`,
      `biztransaction.rolledback ${bizTransactionID}`,
      `product.deleted ${productID}`,
    ])
    assert.deepEqual(
      events.map((event) => event.productID),
      [productID, productID, fund.productID, fund.productID, productID],
    )
    assert.ok(events.every(({ userID }) => userID === events[0]!.userID && userID !== null))
  })

  it('tells of keys and of rules of approval, to those who may look at them', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const [{ apiKeyID }] = all(await admin.post('/ApiKey', { name: 'told', permissions: [] }))
    await admin.delete(`/ApiKey?ApiKeyID=${apiKeyID}`)
    const rule = { operation: 'DELETE /Hold' }
    const { approvalRuleID } = only(await admin.post('/ApprovalRule', rule))
    await admin.put('/ApprovalRule', { approvalRuleID, ...rule, requiredApprovals: 2 })
    await admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
    const ruled = ['created', 'updated', 'deleted'].map((how) => `approvalrule.${how}`)
    const told = [
      ...['apikey.created', 'apikey.deleted'].map((type) => `${type} ${apiKeyID}`),
      ...ruled.map((type) => `${type} ${approvalRuleID}`),
    ]
    assert.deepEqual(story(await eventsAfter(admin, start, 5)), told)
    const permissions = ['Event.Read', 'ApprovalRule.Write']
    const reader = await service.userWith({ permissions })
    assert.deepEqual(story(await eventsAfter(reader, start, 3)), told.slice(2))
  })

  it('tells of an array in one event, and of a notice that a posting settles', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const own = deposit()
    const notice = only(
      await admin.post('/BizEvent/NoticeOfDeposit', {
        ...own,
      }),
    )
    const many = await admin.post('/BizTransaction/Deposit', [
      deposit(0, { bizEventID: notice.bizEventID }),
      deposit(1),
    ])
    const ids = many.data.map((one: { bizTransactionID: number }) => one.bizTransactionID)
    assert.deepEqual(story(await eventsAfter(admin, start, 3)), [
      `bizevent.created ${notice.bizEventID}`,
      `biztransaction.posted ${ids}`,
      `bizevent.completed ${notice.bizEventID}`,
    ])
  })

  it('tells nothing of what was refused, and once of what was sent twice', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const key = { 'Idempotency-Key': 'told once' }
    for (let i = 0; i < 2; i++) await admin.post('/Product', { name: 'Once' }, key)
    refused(await admin.post('/Product', { name: '' }), 400)
    refused(await admin.post('/BizTransaction/Deposit', deposit(0, { amount: -1 })), 400)
    await admin.post('/Product', { name: 'Last' })
    const events = await eventsAfter(admin, start, 2)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['product.created', 'product.created'],
    )
  })

  it('takes the types and the product that are asked for, however rare they are', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const rare = await newProduct(service)
    for (let i = 0; i < 45; i++) await admin.post('/Person', { firstName: `Person ${i}` })
    const last = await newProduct(service)
    const types = { Type: 'product.created,product.deleted', PageSize: 1 }
    const seen = await eventsAfter(admin, start, 2, types)
    assert.deepEqual(
      seen.map(({ ids }) => ids[0]),
      [rare.productID, last.productID],
    )
    const [own] = await eventsAfter(admin, start, 1, { ProductID: last.productID, PageSize: 2 })
    assert.deepEqual(own!.ids, [last.productID])
    refused(await admin.get('/Event?Type=product.exploded'), 400, 'invalid_value')
  })

  it('tells callers of their own products and of what they may read', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const other = await newProduct(service)
    const mine = await newProduct(service)
    const permissions = ['Event.Read', 'Product.Read']
    const clerk = await service.userWith({ permissions, productIDs: [mine.productID] })
    const reader = await service.userWith({ role: 'ReadOnly' })
    await admin.put('/Product', { productID: mine.productID, name: 'Mine', isActive: true })
    await eventsAfter(admin, start, 5)
    const seen = await readEvents(clerk, { After: start })
    assert.deepEqual(story(seen.events), [
      `product.created ${mine.productID}`,
      `product.updated ${mine.productID}`,
    ])
    const none = await readEvents(clerk, { After: start, ProductID: other.productID })
    assert.deepEqual(none.events, [])
    const open = await readEvents(reader, { After: start })
    assert.ok(open.events.length >= 3)
    assert.ok(open.events.every(({ type }) => !type.startsWith('user.')))
  })
})

describe('The order of events', () => {
  /** Begins a database transaction that has written an event and stays open. */
  async function beginElsewhere() {
    const client = new pg.Client(service.connection)
    await client.connect()
    await client.query('begin')
    await client.query(`insert into event (type, resource, product_id, ids)
      values ('product.updated', 'Product', ${fund.productID}, '{0}')`)
    return client
  }

  it('never puts an event before one that was seen, whoever commits first', async () => {
    const { admin } = service
    const start = await feedEnd(admin)
    const slow = await beginElsewhere()
    try {
      const { productID } = await newProduct(service)
      assert.deepEqual((await readEvents(admin, { After: start })).events, [])
      await slow.query('commit')
      const events = await eventsAfter(admin, start, 2)
      assert.deepEqual(story(events), ['product.updated 0', `product.created ${productID}`])
    } finally {
      await slow.end()
    }
  })

  it('is the same for who follows and for who comes later, on two nodes', async () => {
    await withService(
      {},
      async (other) => {
        const nodes = [service, other]
        const start = await feedEnd(service.admin)
        const writers = [...Array(8).keys()].map(async (i) => {
          for (let n = 0; n < 12; n++) {
            const { admin } = nodes[(i + n) % 2]!
            const way = n % 3 === 0 ? deposit(i % 3) : undefined
            const reply = way
              ? await admin.post('/BizTransaction/Deposit', way)
              : await admin.post('/Product', { name: `Product ${i} ${n}` })
            assert.equal(reply.status, 200, reply.text)
            await sleep(Math.random() * 5)
          }
        })
        const followed = Promise.all(
          nodes.map(({ admin }) => eventsAfter(admin, start, 96, { PageSize: 7 }, recordsIn)),
        )
        await Promise.all(writers)
        const [here, there] = await followed
        const later = await readEvents(service.admin, { After: start, PageSize: 1000 })
        assert.deepEqual(here, later.events)
        assert.deepEqual(there, later.events)
        assert.equal(new Set(here!.map(({ eventID }) => eventID)).size, here!.length)
        const records = here!.flatMap(({ resource, ids }) => ids.map((id) => `${resource} ${id}`))
        assert.equal(new Set(records).size, 96)
      },
      service.connection,
    )
  })
})

describe('Wait', () => {
  it('holds the answer until something comes, also from another node', async () => {
    await withService(
      {},
      async (other) => {
        const start = await feedEnd(service.admin)
        let isAnswered = false
        const waiting = readEvents(service.admin, { After: start, Wait: 60 }).finally(() => {
          isAnswered = true
        })
        await sleep(50)
        assert.equal(isAnswered, false)
        const { productID } = await newProduct(other)
        assert.deepEqual(story((await waiting).events), [`product.created ${productID}`])
      },
      service.connection,
    )
  })

  it('holds no connection of the database while it waits', async () => {
    const start = await feedEnd(service.admin)
    const many = [...Array(40)].map(() => readEvents(service.admin, { After: start, Wait: 60 }))
    await sleep(100)
    for (let i = 0; i < 5; i++)
      assert.equal((await service.admin.get('/Product?PageSize=1')).status, 200)
    const { productID } = await newProduct(service)
    for (const { events } of await Promise.all(many))
      assert.deepEqual(story(events), [`product.created ${productID}`])
  })

  it('ends when it is over, with a cursor to go on from', async () => {
    const { events, cursor } = await readEvents(service.admin, { After: 'now', Wait: 1 })
    assert.deepEqual(events, [])
    const { productID } = await newProduct(service)
    assert.deepEqual(story(await eventsAfter(service.admin, cursor, 1)), [
      `product.created ${productID}`,
    ])
  })
})

describe('A cursor', () => {
  it('that is none is 400', async () => {
    const [epoch, xid] = (await feedEnd(service.admin)).split('.')
    const beyond = `${epoch}.${Number(xid) - 1}.${'9'.repeat(19)}`
    for (const After of ['x', '1.2', `${'0'.repeat(12)}.1`, 'then', beyond])
      refused(await service.admin.get(`/Event?After=${After}`), 400, 'invalid_value')
  })

  it('of a registry before it was restored, or of a time to come, is 410', async () => {
    const end = await feedEnd(service.admin)
    const [epoch, xid] = end.split('.') as [string, string]
    const foreign = `${'0'.repeat(12)}.${xid}.0`
    const future = `${epoch}.${BigInt(xid) + 10_000_000n}.0`
    for (const After of [foreign, future])
      refused(await service.admin.get(`/Event?After=${After}`), 410, 'cursor_expired')
  })

  it('is 410 when what came after it is not kept any more; the others go on', async () => {
    const { admin, connection } = service
    const start = await feedEnd(admin)
    await newProduct(service)
    const [old] = await eventsAfter(admin, start, 1)
    const kept = await newProduct(service)
    await eventsAfter(admin, old!.cursor, 1)
    await rowsOf(
      connection,
      `update event set occurred_date = now() - interval '91 days' where event_id <= $1`,
      [old!.eventID],
    )
    await swept(connection)
    refused(await admin.get(`/Event?After=${start}`), 410, 'cursor_expired')
    const rest = await readEvents(admin, { After: old!.cursor })
    assert.deepEqual(story(rest.events), [`product.created ${kept.productID}`])
    assert.deepEqual((await readEvents(admin, {})).events, rest.events)
  })
})

describe('Postings that only append', () => {
  const post = async (i: number, of = fund) =>
    only(
      await service.admin.post('/BizTransaction/Deposit', {
        ...deposit(),
        accountID: of.accounts[i]!.accountID,
        investmentID: of.investmentID,
      }),
    ).bizTransactionID as number
  const eventRows = async () => {
    const [row] = await rowsOf(service.connection, 'select count(*)::int as n from event')
    return row!.n as number
  }

  it('are told by their audit records, to readers of their product and of all', async () => {
    const { admin } = service
    const quiet = await newFund(service, { accounts: 1 })
    for (const i of [0, 1, 2]) await post(i) // the first of an account is not of this kind
    await post(0, quiet)
    const start = await feedEnd(admin)
    const before = await eventRows()
    const loud: number[] = []
    for (let n = 0; n < 45; n++) loud.push(await post(n % 3))
    const rare = await post(0, quiet)
    // Where products live apart, postings go another way: each has an event of its own.
    if (!isSpread) assert.equal(await eventRows(), before)
    const all = await eventsAfter(admin, start, 46)
    assert.deepEqual(
      all.map(({ ids }) => ids[0]),
      [...loud, rare],
    )
    assert.equal(new Set(all.map(({ eventID }) => eventID)).size, 46)
    const [own] = await eventsAfter(admin, start, 1, { ProductID: quiet.productID, PageSize: 2 })
    assert.deepEqual(own, all.at(-1))
    for (let n = 0; n < 45; n++) await admin.post('/Person', { firstName: `Person ${n}` })
    const next = await post(1)
    const types = { Type: 'biztransaction.posted', PageSize: 1 }
    const [after] = await eventsAfter(admin, own!.cursor, 1, types)
    assert.deepEqual(after!.ids, [next])
  })

  it('are past when they are as old as events are kept', async () => {
    const { admin, connection } = service
    const start = await feedEnd(admin)
    const [old, kept] = [await post(0), await post(0)]
    const [first] = await eventsAfter(admin, start, 2)
    await rowsOf(
      connection,
      `update audit set occurred_date = now() - interval '91 days' where audit_id <= $1`,
      [first!.eventID],
    )
    await rowsOf(
      connection,
      `update event set occurred_date = now() - interval '91 days' where event_id <= $1`,
      [first!.eventID],
    )
    await swept(connection)
    refused(await admin.get(`/Event?After=${start}`), 410, 'cursor_expired')
    assert.deepEqual(story([first!]), [`biztransaction.posted ${old}`])
    assert.deepEqual(story((await readEvents(admin, {})).events), [`biztransaction.posted ${kept}`])
  })
})

describe('Old events', () => {
  const rows = (text: string) => rowsOf(service.connection, text)
  const isOld = `occurred_date < now() - interval '90 days'`
  const age = () => rows(`update event set occurred_date = now() - interval '91 days'`)
  const old = async () =>
    (await rows(`select count(*)::int as n from event where ${isOld}`))[0]!.n as number

  it('go, however many there are, and what is new stays', async () => {
    await age()
    await rows(`
      insert into event (type, occurred_date, resource, ids)
      select 'product.created', now() - interval '91 days', 'Product', array[n]
      from generate_series(1, 5001) n`)
    const start = await feedEnd(service.admin)
    const { productID } = await newProduct(service)
    const [kept] = await eventsAfter(service.admin, start, 1, { ProductID: productID })
    await swept(service.connection)
    assert.equal(await old(), 0)
    assert.deepEqual(kept!.ids, [productID])
    assert.deepEqual((await readEvents(service.admin, {})).events.at(-1), kept)
  })

  it('are left to the node that is at it already', async () => {
    await age()
    const before = await old()
    const other = new pg.Client(service.connection)
    await other.connect()
    await other.query('begin')
    await other.query('select 1 from event_feed for update')
    await swept(service.connection)
    assert.equal(await old(), before)
    await other.query('rollback')
    await other.end()
    await swept(service.connection)
    assert.equal(await old(), 0)
  })
})

async function swept(connection: Service['connection']) {
  const database = openDatabase({
    connection,
    role: 'registry_service',
    connections: 1,
    prepareStatements: true,
    onLostConnection: () => {},
  })
  await sweep(database, { eventDays: 90 }).finally(database.close)
}
