import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { rowsOf } from './support/database.ts'
import { callFrom, flood, timesDuring } from './support/fairness.ts'
import { entityOf } from './support/investors.ts'
import { type Fund, newFund, newProduct, only } from './support/ledger.ts'
import { until } from './support/process.ts'
import { sendRaw } from './support/raw.ts'
import { refused } from './support/refused.ts'
import { adminPassword, type Service, startService } from './support/service.ts'

/**
 * However much one caller asks for, nobody else may be refused, and all must be served. How long
 * the others wait is measured by `npm run test:fairness` (test/fairness/), on a quiet machine.
 */
const seconds = 2

let service: Service
/** A second node on the same database, which the greedy caller does not use. */
let other: Service
let fund: Fund
let greedy: string
before(async () => {
  service = await startService({ REGISTRY_DATABASE_CONNECTIONS: '10' })
  other = await startService({}, service.connection)
  fund = await newFund(service)
  const { productID } = await newProduct(service)
  await service.admin.post('/User', {
    username: 'greedy',
    password: adminPassword,
    role: 'ReadOnly',
    productIDs: null,
  })
  const { token } = await service.anyone.signIn('greedy', adminPassword)
  greedy = token ?? ''
  const entities = Array.from({ length: 300 }, () => entityOf(productID))
  const made = await service.admin.post('/BizEntity', entities)
  assert.equal(made.status, 200, made.text)
})
after(async () => {
  await other.stop()
  await service.stop()
})

let calls = 0
/** The other user's calls: deposits, at this node and at the other in turns. */
const deposit = () =>
  (calls++ % 2 === 0 ? service : other).admin.post('/BizTransaction/Deposit', {
    accountID: fund.accountID,
    investmentID: fund.investmentID,
    transactionDate: '2026-01-10',
    amount: 1,
  })

/** Asserts that the other user's deposits succeed while the greedy caller attacks. */
async function survives(callers: number, attack: (n: number) => Promise<{ status: number }>) {
  const during = await timesDuring(deposit, () => flood(callers, seconds * 1000, attack))
  assert.equal(during.refused, 0, 'others are refused')
  assert.ok(during.count >= 3)
}

/** How many reads wait for the table of entities. */
async function heldPages(): Promise<number> {
  const rows = await rowsOf(
    service.connection,
    "select from pg_locks where not granted and relation = 'biz_entity'::regclass",
  )
  return rows.length
}

const untilHeld = (count: number) =>
  until(`${count} held pages`, async () => (await heldPages()) >= count)

describe('While one caller does their worst, another is served', () => {
  it('with large pages, or with filters that nothing helps', async () => {
    const paths = [
      '/BizEntity?PageSize=1000',
      '/BizEntity?PageNumber=3&PageSize=100&IncludeTotal=true',
      '/BizEntity?Name.contains=e&PageSize=1000',
    ]
    await survives(40, (n) =>
      callFrom(service.url, { method: 'GET', path: paths[n % paths.length]!, token: greedy }),
    )
  })

  it('with long pages, which keep half of the processors busy at most', async () => {
    const holder = new pg.Client(service.connection)
    await holder.connect()
    await holder.query('begin; lock table biz_entity in access exclusive mode')
    const path = '/BizEntity?PageSize=1000'
    const get = (path: string) => callFrom(service.url, { method: 'GET', path, token: greedy })
    const share = Math.min(5, Math.ceil(availableParallelism() / 2))
    const pages = Array.from({ length: 2 * share + 4 }, () => get(path))
    await untilHeld(share)
    const own = service.admin.get(path)
    await untilHeld(share + 1)
    assert.equal((await get('/Common/Lookup')).status, 200)
    assert.equal(await heldPages(), share + 1)
    await holder.query('rollback')
    await holder.end()
    for (const { status } of [await own, ...(await Promise.all(pages))]) assert.equal(status, 200)
  })

  it('with filters in ever new combinations', async () => {
    const operators = ['equal', 'notEqual', 'greaterThan', 'lessThan', 'in', 'notIn']
    await survives(20, (n) => {
      const pick = (i: number) => operators[Math.floor(n / 6 ** i) % 6]
      const query = ['BizEntityID', 'BizEntityTypeID', 'BizEntityStatusID', 'AccountID']
        .map((name, i) => `${name}.${pick(i)}=1`)
        .join('&')
      return callFrom(service.url, { method: 'GET', path: `/BizEntity?${query}`, token: greedy })
    })
  })

  it('with long bodies of very little', async () => {
    const items = Array.from({ length: 1000 }, () => `[${'{},'.repeat(900)}{}]`)
    const body = `{"includeAccounts":[${items.join()}]}`
    assert.ok(body.length > 2_000_000)
    await survives(8, () =>
      callFrom(service.url, {
        method: 'POST',
        path: '/Distribution/Preview',
        body,
        token: greedy,
      }),
    )
  })

  it('with sign-ins from one address, while people sign in from another', async () => {
    const login = (from: string, password: string, username: string) =>
      callFrom(service.url, {
        method: 'POST',
        path: '/User/Login',
        body: JSON.stringify({ username, password }),
        from,
      })
    const during = await timesDuring(
      () => login('127.0.0.1', adminPassword, 'admin'),
      () =>
        flood(60, seconds * 1000, (n) => login('127.77.0.2', 'a wrong password', `nobody-${n}`)),
    )
    assert.equal(during.refused, 0)
    assert.ok(during.count >= 2)
  })
})

describe('What is refused', () => {
  it('is a body longer than the operation can use, or a list at its 1,001st item', async () => {
    const long = { currentPassword: 'x'.repeat(70_000), newPassword: 'y' }
    refused(await service.admin.put('/User/Password', long), 413, 'body_too_large')
    const many = await service.admin.post('/Person', `[${'{},'.repeat(1000)}{ this is not JSON`)
    refused(many, 400, 'too_many')
    const nested = `{"firstName":"A","addresses":[${'{},'.repeat(1000)}{}]}`
    const reply = await service.admin.post('/Person', nested)
    refused(reply, 400, 'too_many')
    assert.equal(reply.errors[0]!.field, 'addresses')
  })

  it('is a second Authorization header, in whatever order', async () => {
    const tokens = [service.admin.token, 'another']
    for (const [first, second] of [tokens, tokens.toReversed()]) {
      const reply = await sendRaw(
        service.url,
        `GET /Product HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\nConnection: close\r\n` +
          `Authorization: ${first}\r\nAuthorization: ${second}\r\n\r\n`,
      )
      refused(reply, 400, 'given_twice')
    }
  })

  it('is a form without names or with too long a boundary, as the caller’s fault', async () => {
    const form = async (boundary: string, disposition: string) => {
      const part = `Content-Disposition: ${disposition}\r\n\r\nx`
      const body = `--${boundary}\r\n${part}\r\n--${boundary}--\r\n`
      const type = `multipart/form-data; boundary=${boundary}`
      return service.admin.post('/Document/File', body, { 'Content-Type': type })
    }
    refused(await form('b'.repeat(253), 'form-data; name="file"; filename="a"'), 400)
    refused(await form('b', 'form-data'), 400)
    refused(await form('b', 'form-data; filename="a.txt"'), 400)
  })

  it('leaves nothing behind where a file comes for no document', async () => {
    const content = Buffer.from('nobody has this').toString('base64')
    const body = { documentID: 987_654, fileName: 'a.txt', content }
    refused(await service.admin.post('/Document/File', body), 404)
    const [row] = await rowsOf(service.connection, 'select count(*)::int as count from stored_file')
    assert.equal(row?.count, 0)
  })
})

describe('Afterwards', () => {
  it('everything is as it was', async () => {
    assert.equal((await deposit()).status, 200)
    only(await service.admin.post('/Product', { name: 'After' }))
  })
})
