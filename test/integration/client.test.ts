import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import {
  createClient,
  isWaiting,
  parseExactly,
  RegistryError,
  verifyWebhook,
  type Waiting,
} from '../../client/src/index.ts'
import { type Fund, newFund } from '../support/ledger.ts'
import { adminPassword, type Service, startService } from '../support/service.ts'

/** The part of the generated types that these tests use. */
type Answer<D> = { responses: { 200: { content: { 'application/json': { data: D } } } } }
type Writes<B, D> = Answer<D> & { requestBody?: { content: { 'application/json': B } } }
type Reads<Q, D> = Answer<D> & { parameters: { query?: Q } }
type Product = { productID: number; name: string }
type Transaction = { bizTransactionID: number; amount: string; quantity: string }
type Page = { PageSize?: number; AccountID?: number; 'Name.beginsWith'?: string }
type Paths = {
  '/Product': {
    get: Reads<Page, Product[]>
    post: Writes<object, Product[]>
    delete: Reads<{ ProductID: number }, null>
  }
  '/BizTransaction': { get: Reads<Page, Transaction[]> }
  '/BizTransaction/Deposit': { post: Writes<object, Transaction[]> }
  '/BizTransaction/Redemption': { post: Writes<object, Transaction[]> }
  '/Document': { post: Writes<object, { documentID: number }> }
}

let service: Service
let fund: Fund
before(async () => {
  service = await startService()
  fund = await newFund(service)
})
after(() => service.stop())

const credentials = { username: 'admin', password: adminPassword }
const decimals = ['amount', 'quantity', 'investmentPrice']
const clientAt = (baseUrl: string, more: object = {}) =>
  createClient<Paths>({ baseUrl, credentials, decimals, ...more })
const deposit = (amount: string) => ({
  accountID: fund.accountID,
  investmentID: fund.investmentID,
  transactionDate: '2026-01-05',
  amount,
})

/** A server that passes requests on to the service, unless the test handles them itself. */
async function inBetween(
  spoil: (count: number, path: string) => number | 'lose' | 'cut' | undefined,
  retryAfter = '0',
) {
  let count = 0
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const what = spoil(++count, request.url ?? '')
    const type = { 'Content-Type': 'application/json' }
    if (typeof what === 'number')
      return response.writeHead(what, { ...type, 'Retry-After': retryAfter }).end('{}')
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
    ) as [string, string][]
    const answer = await fetch(service.url + request.url, {
      method: request.method!,
      headers,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const text = await answer.text()
    if (what === 'lose') return request.socket.destroy()
    if (what !== 'cut') return response.writeHead(answer.status, type).end(text)
    response.writeHead(answer.status, { ...type, 'Content-Length': Buffer.byteLength(text) })
    response.write(text.slice(0, -1), () => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

describe('The client', () => {
  it('signs in by itself and keeps every digit of a decimal', async () => {
    const registry = clientAt(service.url)
    const amount = '123456789012.34'
    const [posted] = await registry.post('/BizTransaction/Deposit', deposit(amount))
    assert.equal(posted!.amount, amount)
    assert.equal(posted!.quantity, amount)
    assert.equal(typeof posted!.bizTransactionID, 'number')
  })

  it('walks through all pages', async () => {
    const registry = clientAt(service.url)
    for (let i = 0; i < 7; i++) await registry.post('/Product', { name: `Paged ${i}` })
    const names: string[] = []
    for await (const { name } of registry.list('/Product', { PageSize: 2 })) names.push(name)
    assert.deepEqual(
      names.filter((name) => name.startsWith('Paged')),
      [0, 1, 2, 3, 4, 5, 6].map((i) => `Paged ${i}`),
    )
  })

  it('does a write once, though its answer was lost or cut and the registry was away', async () => {
    const trouble = [undefined, undefined, 'lose', 503, 'cut'] as const
    const way = await inBetween((count) => trouble[count])
    try {
      const [product] = await clientAt(way.url).post('/Product', { name: 'Only once' })
      const found = await service.admin.get('/Product?PageSize=1000')
      const same = found.data.filter(({ name }: Product) => name === 'Only once')
      assert.deepEqual(
        same.map(({ productID }: Product) => productID),
        [product!.productID],
      )
    } finally {
      way.close()
    }
  })

  it('deletes once, though the answer was lost', async () => {
    const way = await inBetween((count) => (count === 3 ? 'lose' : undefined))
    try {
      const registry = clientAt(way.url)
      const [{ productID }] = (await registry.post('/Product', { name: 'Gone once' })) as [Product]
      await registry.delete('/Product', { ProductID: productID })
      const found = await service.admin.get(`/Product?ProductID=${productID}`)
      assert.equal(found.recordCount, 0)
    } finally {
      way.close()
    }
  })

  it('renews its token when the registry does not take it any more', async () => {
    let refused = 0
    const way = await inBetween((_, path) => {
      if (!path.startsWith('/Product')) return undefined
      refused++
      return refused === 1 ? 401 : undefined
    })
    try {
      const { data } = await clientAt(way.url).get('/Product', { PageSize: 1 })
      assert.equal(data.length, 1)
      assert.equal(refused, 2)
    } finally {
      way.close()
    }
  })

  it('keeps its session where the answer with its new token was lost', async () => {
    const entered: string[] = []
    let refused = 0
    const way = await inBetween((_, path) => {
      if (path.startsWith('/Product')) return refused++ === 0 ? 401 : undefined
      entered.push(path)
      return entered.length === 2 ? 'lose' : undefined
    })
    try {
      await clientAt(way.url).get('/Product', { PageSize: 1 })
      const renewed = '/User/RefreshToken'
      assert.deepEqual(entered, ['/User/Login', renewed, renewed], 'it need not sign in anew')
    } finally {
      way.close()
    }
  })

  it('waits no longer than a minute for its turn, nor than its caller wants', async () => {
    const waiting = async (retryAfter: string, more: { signal?: AbortSignal }) => {
      const way = await inBetween((_, path) => (path === '/Product' ? 429 : undefined), retryAfter)
      await clientAt(way.url).get('/Product', {}, more).finally(way.close)
    }
    await assert.rejects(waiting('900', {}), { status: 429 })
    const impatient = { signal: AbortSignal.timeout(500) }
    await assert.rejects(waiting('50', impatient), { name: 'TimeoutError' })
  })

  it('sends a password that is refused once, since each time counts', async () => {
    let sent = 0
    const way = await inBetween((_, path) => {
      if (path.startsWith('/User/Password')) sent++
      return undefined
    })
    try {
      const change = { currentPassword: 'not the password', newPassword: 'a long new pass phrase' }
      await assert.rejects(
        clientAt(way.url).send('PUT', '/User/Password', { body: change }),
        (error) => (error as RegistryError).has('sign_in_failed'),
      )
      assert.equal(sent, 1)
    } finally {
      way.close()
    }
  })

  it('tells what was refused by its codes', async () => {
    const registry = clientAt(service.url)
    const { accountID, investmentID } = fund
    const body = { accountID, investmentID, transactionDate: '2026-01-05', quantity: '1e15' }
    await assert.rejects(registry.post('/BizTransaction/Redemption', body), (error) => {
      assert.ok(error instanceof RegistryError)
      assert.equal(error.status, 409)
      return error.has('insufficient_holding')
    })
    const wrong = createClient<Paths>({
      baseUrl: service.url,
      credentials: { username: 'admin', password: 'not the password' },
    })
    await assert.rejects(wrong.get('/Product'), (error) => (error as RegistryError).status === 401)
  })

  it('tells what waits for approval from what is done, of every kind of write', async () => {
    const registry = clientAt(service.url)
    const waiting: number[] = []
    const onWaiting = ({ approvalID }: Waiting) => waiting.push(approvalID)
    const done = await registry.post('/Product', { name: 'At once' }, { onWaiting })
    assert.equal(isWaiting(done), false)
    const [{ productID }] = done as [Product]
    const rules = ['POST /Product', 'DELETE /Product'].map((operation) =>
      service.admin.post('/ApprovalRule', { operation }),
    )
    await Promise.all(rules)
    const kept = await registry.post('/Product', { name: 'Later' }, { onWaiting })
    assert.ok(isWaiting(kept))
    await registry.delete('/Product', { ProductID: productID }, { onWaiting })
    const body = { name: 'Later still' }
    const { status, envelope } = await registry.send('POST', '/Product', { body, onWaiting })
    assert.equal(status, 202)
    const { approvalID } = envelope.data as Waiting
    assert.deepEqual([waiting.length, waiting[0], waiting[2]], [3, kept.approvalID, approvalID])
    assert.equal((await registry.send('GET', '/Product')).status, 200)
    for (const rule of await Promise.all(rules))
      await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.data[0].approvalRuleID}`)
  })

  it('goes by a session kept elsewhere, and gives tags that a write heeds', async () => {
    const login = await fetch(`${service.url}/User/Login`, {
      method: 'POST',
      headers: { Version: '2.0', 'Content-Type': 'application/json' },
      body: JSON.stringify(credentials),
    })
    const { accessToken } = (await login.json()).data
    let token = 'not one'
    const own = {
      authorization: () => token,
      renew: async () => {
        token = accessToken
        return true
      },
    }
    const client = clientAt(service.url, { credentials: own })
    const query = { ProductID: fund.productID }
    const { envelope, headers } = await client.send('GET', '/Product', { query })
    const [product] = envelope.data
    const body = { ...product, name: 'Once' }
    const tagged = { body, headers: { 'If-Match': headers.get('ETag') ?? '' } }
    assert.equal((await client.send('PUT', '/Product', tagged)).envelope.data[0].name, 'Once')
    const stale = client.send('PUT', '/Product', { ...tagged, body: { ...body, name: 'Twice' } })
    await assert.rejects(stale, (error) => error instanceof RegistryError && error.status === 412)
  })

  it('follows events as they happen', async () => {
    const registry = clientAt(service.url)
    const seen: number[] = []
    const marks = [1, 2, 3]
    const { cursor } = JSON.parse((await service.admin.get('/Event?After=now')).text)
    const made: number[] = []
    for (const i of marks)
      made.push((await registry.post('/Product', { name: `Told ${i}` }))[0]!.productID)
    for await (const event of registry.events({ After: cursor, Type: ['product.created'] })) {
      if (made.includes(event.ids[0]!)) seen.push(event.ids[0]!)
      if (seen.length === marks.length) break
    }
    assert.deepEqual(seen, made)
  })

  it('sends and fetches files as they are', async () => {
    const registry = clientAt(service.url)
    const { productID } = fund
    const { documentID } = await registry.post('/Document', {
      documentTypeID: 6,
      name: 'File',
      productID,
    })
    const text = 'Hello, register.\n'
    const fields = { documentID, contentType: 'text/plain', fileName: 'hello.txt' }
    await registry.upload('/Document/File', fields, new Blob([text]), 'hello.txt')
    const { body } = await registry.download('/Document/File', { DocumentID: documentID })
    assert.equal(await new Response(body).text(), text)
  })

  it('sends lists as JSON beside a file, and nothing for what has no value', async () => {
    const registry = clientAt(service.url)
    const mapping = [{ column: 'Betrag', field: 'amount' }]
    const fields = { type: 'Transactions', mode: 'validate', mapping, encoding: undefined }
    const file = new Blob(['operation,Betrag\nDeposit,1\n'])
    const order = await registry.upload('/Import', { ...fields, productID: null }, file, 'f.csv')
    assert.deepEqual([order.status, order.productIDs], ['Queued', []])
  })
})

describe('JSON that keeps decimals', () => {
  const isLossy = (one: unknown) =>
    typeof one === 'number' && /^-?\d+$/.test(String(one)) && !Number.isSafeInteger(one)

  it('is JSON.parse but for the decimals', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        const sent = JSON.parse(text, (_, one) => (isLossy(one) ? String(one) : one))
        assert.deepEqual(parseExactly(text, new Set()), sent)
      }),
    )
    const exact = '{"amount": 12345678901234567890.10, "items": [{"amount": 1.50}], "id": 7}'
    assert.deepEqual(parseExactly(exact, new Set(['amount'])), {
      amount: '12345678901234567890.10',
      items: [{ amount: '1.50' }],
      id: 7,
    })
    const long = '\\"'.repeat(10_000_000)
    assert.equal(parseExactly(JSON.stringify([long]), new Set())?.toString(), long)
    for (const broken of ['', '{', '[1,]', '{"a":1,}', '1 2', 'nul', '"', '{"a"}'])
      assert.throws(() => parseExactly(broken, new Set()))
  })
})

describe('verifyWebhook', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const sign = (id: string, time: number, body: string) =>
    createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${time}.${body}`)
      .digest('base64')
  const headersOf = (id: string, time: number, signature: string) =>
    new Headers({
      'webhook-id': id,
      'webhook-timestamp': String(time),
      'webhook-signature': signature,
    })

  it('takes what the registry signed, and nothing else', async () => {
    const time = Math.floor(Date.now() / 1000)
    const signature = `v1,AAAA v1,${sign('msg_1', time, '{"a":1}')}`
    const right = headersOf('msg_1', time, signature)
    assert.equal(await verifyWebhook('{"a":1}', right, secret), true)
    assert.equal(await verifyWebhook('{"a":2}', right, secret), false)
    assert.equal(await verifyWebhook('{"a":1}', headersOf('msg_2', time, signature), secret), false)
    const other = `whsec_${randomBytes(32).toString('base64')}`
    assert.equal(await verifyWebhook('{"a":1}', right, other), false)
    assert.equal(await verifyWebhook('{"a":1}', right, [other, secret]), true)
    const late = (time + 301) * 1000
    assert.equal(await verifyWebhook('{"a":1}', right, secret, late), false)
    assert.equal(await verifyWebhook('{"a":1}', new Headers(), secret), false)
  })
})
