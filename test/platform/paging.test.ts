import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { readDocument, type Served, servedBy } from '../support/openapi.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'
import { newWorld, type World } from '../support/world.ts'

type Page = Reply & { nextCursor?: string; totalCount?: number }

let service: Service
let investmentID: number
let corporateActionID: number
let productID: number
let world: World
let lists: Served[]
before(async () => {
  service = await startService()
  const worlds = [await newWorld(service, 'first'), await newWorld(service, 'second')]
  world = worlds[0]!
  productID = world.productID
  investmentID = worlds[0]!.first.investmentID
  corporateActionID = worlds[0]!.declared.corporateActionID
  await fillShortLists(worlds)
  lists = servedBy(await readDocument(service.anyone)).filter(
    ({ name, operation }) =>
      // The feed of events has a cursor of its own, and no other order.
      name.startsWith('GET ') &&
      name !== 'GET /Event' &&
      operation.parameters.some((one) => one.name === 'PageSize'),
  )
})
after(() => service.stop())

/** Adds records where the worlds have none or one, so that a walk through pages tests something. */
async function fillShortLists(worlds: World[]) {
  await service.userWith({ role: 'ReadOnly' })
  for (const { make } of worlds) {
    await make.distribution()
    await make.distribution()
    await make.paymentRun(0)
  }
  for (const which of ['one', 'two']) await fillAccess(which)
  await wait(worlds[0]!)
  await printStatements()
  const url = 'https://receiver.example/registry'
  for (const description of ['one', 'two']) {
    const reply = await service.admin.post('/Webhook', {
      url,
      description,
      types: ['user.created'],
    })
    assert.equal(reply.status, 200, reply.text)
    const { webhookID } = reply.data[0]
    assert.equal((await service.admin.post('/Webhook/Test', { webhookID })).status, 200)
  }
}

/** Makes an API key, a hold, and a change of the holder. */
async function fillAccess(name: string) {
  const { admin } = service
  const { account, holder } = world
  const hold = { accountID: account.accountID, all: true, reason: name, validTo: '2020-01-01' }
  const replies = [
    await admin.post('/ApiKey', { name, permissions: [] }),
    await admin.post('/Hold', { ...hold, validFrom: '2020-01-01' }),
    await admin.put('/BizEntity', { ...holder, name }),
  ]
  for (const { status, text } of replies) assert.equal(status, 200, text)
}

/** Inserts the deliveries that a worker makes for a zip of statements; no worker runs here. */
const printStatements = () =>
  rowsOf(
    service.connection,
    `insert into report_statement (report_id, account_id, account_number, name, file_name,
       file_offset, file_size, way)
     select $1, n, n, 'Investor', n || '.pdf', n * 100, 100, 'Print' from generate_series(1, 3) n`,
    [world.statements.reportID],
  )

/** Makes two changes that wait for approval by the one active rule of two. */
async function wait({ product }: World) {
  const { admin } = service
  const rules = { productIDs: [productID], operation: 'PUT /Product' }
  await admin.post('/ApprovalRule', { ...rules, isActive: false })
  const { data } = await admin.post('/ApprovalRule', rules)
  let kept = 0
  await until('two changes to wait', async () => {
    const { status } = await admin.put('/Product', { ...product, description: `change ${kept}` })
    if (status === 202) kept++
    return kept === 2 || undefined
  })
  const { approvalRuleID } = data[0]
  await admin.put('/ApprovalRule', { approvalRuleID, isActive: false })
}

const ask = async (path: string, query: Record<string, string>): Promise<Page> => {
  const reply = await service.admin.get(`${path}?${new URLSearchParams(query)}`)
  assert.equal(reply.status, 200, `${path} ${JSON.stringify(query)} ${reply.text}`)
  return reply
}

/** The parameters that a list requires; some need a product. */
async function needsOf(path: string): Promise<Record<string, string>> {
  const { status } = await service.admin.get(path)
  if (status === 200) return {}
  if (path === '/Investment/Price/Affected')
    return { InvestmentID: String(investmentID), PriceDate: '2024-01-01' }
  const { account, holder } = world
  if (path === '/BizEntity/Account/Holdings/Explain')
    return { AccountID: String(account.accountID), InvestmentID: String(investmentID) }
  if (path === '/Report/Delivery') return { ReportID: String(world.statements.reportID) }
  if (path === '/BizEntity/History') return { BizEntityID: String(holder.bizEntityID) }
  const product = { ProductID: String(productID) }
  return path === '/Distribution/Exceptions'
    ? { ...product, CorporateActionID: String(corporateActionID) }
    : product
}

/** Follows the cursors from the first page to the last. */
async function walk(path: string, query: Record<string, string>): Promise<unknown[]> {
  const found: unknown[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ask(path, { ...query, ...(cursor && { Cursor: cursor }) })
    found.push(...page.data)
    assert.equal(page.headers.get('next-cursor') ?? undefined, page.nextCursor)
    if (page.nextCursor === undefined) return found
    assert.notEqual(page.nextCursor, cursor)
    cursor = page.nextCursor
  }
}

describe('Every list', () => {
  it('is walked by cursors to the same records as its pages have, in either order', async () => {
    const short: string[] = []
    for (const { path } of lists) {
      const needs = await needsOf(path)
      const { data } = await ask(path, { ...needs, PageSize: '1000' })
      if (data.length < 2) short.push(path)
      for (const PageSize of ['1', '2', '1000']) {
        assert.deepEqual(await walk(path, { ...needs, PageSize }), data, path)
        const newestFirst = await walk(path, { ...needs, PageSize, Order: 'desc' })
        assert.deepEqual(newestFirst, data.toReversed(), path)
      }
    }
    // A list of which the worlds have one only would prove nothing.
    assert.ok(short.length <= 2, short.join())
    assert.ok(lists.length >= 16)
  })

  it('tells how many there are in all, where that is asked for', async () => {
    for (const { path } of lists) {
      const needs = await needsOf(path)
      const { data, totalCount: untold } = await ask(path, { ...needs, PageSize: '1000' })
      assert.equal(untold, undefined)
      const page = await ask(path, { ...needs, PageSize: '1', IncludeTotal: 'true' })
      assert.equal(page.totalCount, data.length, path)
      const beyond = await ask(path, { ...needs, PageNumber: '5000', IncludeTotal: 'true' })
      assert.equal(beyond.totalCount, data.length, path)
    }
  })

  it('takes the pages by number from the newest as well', async () => {
    const { data } = await ask('/Person', { PageSize: '1000' })
    const second = await ask('/Person', { PageSize: '2', PageNumber: '2', Order: 'desc' })
    assert.deepEqual(second.data, data.toReversed().slice(2, 4))
  })

  it('goes on where a page ended, whatever came or went meanwhile', async () => {
    const made = async () => {
      const { data } = await service.admin.post('/Product', { name: 'Between' })
      return data[0].productID as number
    }
    const [first, second] = [await made(), await made()]
    const filter = { PageSize: '1000', Order: 'desc' }
    const newest = await ask('/Product', { ...filter, PageSize: '2' })
    assert.deepEqual(
      newest.data.map((product: { productID: number }) => product.productID),
      [second, first],
    )
    await made()
    await service.admin.delete(`/Product?ProductID=${first}`)
    const next = await ask('/Product', { PageSize: '1000', Cursor: newest.nextCursor! })
    const ids = next.data.map((product: { productID: number }) => product.productID)
    assert.ok(ids.every((id: number) => id < first) && ids.length > 0, ids.join())
  })

  it('refuses a cursor that it has not given', async () => {
    const { nextCursor } = await ask('/Person', { PageSize: '1' })
    const of = (cursor: object) => Buffer.from(JSON.stringify(cursor)).toString('base64url')
    const wrong = [
      'x',
      of({}),
      of({ key: ['personID'], after: ["1'; drop"], order: 'asc' }),
      of({ key: ['personID'], after: [1, 2], order: 'asc' }),
      of({ key: ['personID'], after: [1], order: 'sideways' }),
      of({ key: ['productID'], after: [1], order: 'asc' }),
    ]
    for (const cursor of wrong)
      refused(await service.admin.get(`/Person?Cursor=${cursor}`), 400, 'invalid_cursor')
    const path = `/Person?Cursor=${nextCursor}`
    refused(await service.admin.get(`${path}&PageNumber=2`), 400, 'invalid_value')
    refused(await service.admin.get(`${path}&Order=desc`), 400, 'invalid_value')
    refused(await service.admin.get('/Person?Order=newest'), 400, 'invalid_value')
  })
})
