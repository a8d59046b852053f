import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { sendFile } from '../support/imports.ts'
import { entityOf } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

describe('A body', () => {
  it('with a field that nobody knows is taken, and the answer names it', async () => {
    const reply = await service.admin.post('/Product', { name: 'Spelt', descripton: 'x', Foo: {} })
    assert.equal(reply.message, 'Ignored: descripton, Foo.')
    const persons = await service.admin.post('/Person', [
      { firstName: 'A', addresses: [{ subrub: 'x' }] },
      { firstName: 'B', addresses: [{ subrub: 'y' }], amuont: 1 },
    ])
    assert.equal(persons.message, 'Ignored: addresses.subrub, amuont.')
  })

  it('of a form names such fields as well, and none that the caller did not give', async () => {
    const file = (amount: number) => `operation,amount\nDeposit,${amount}\n`
    const terms = { type: 'Transactions', mode: 'validate' }
    assert.equal((await sendFile(service.admin, terms, file(1))).message, null)
    const misspelt = { ...terms, dateFromat: 'DD/MM/YYYY', ENCODING: 'UTF-8' }
    const { status, message } = await sendFile(service.admin, misspelt, file(2))
    assert.deepEqual([status, message], [202, 'Ignored: dateFromat.'])
  })

  it('that was read may be sent back, read-only fields and all, without a word', async () => {
    const product = only(await service.admin.post('/Product', { name: 'Echo' }))
    const back = await service.admin.put('/Product', product)
    assert.deepEqual([back.status, back.message], [200, null])
    const entity = only(await service.admin.post('/BizEntity', entityOf(productID)))
    const again = await service.admin.put('/BizEntity', entity)
    assert.deepEqual([again.status, again.message], [200, null], again.text)
  })
})

describe('A list whose item breaks a constraint of the database', () => {
  it('is refused with the index of that item', async () => {
    const email = { communicationTypeID: 1, name: 'taken@example.org' }
    only(await service.admin.post('/Person', { firstName: 'First', communications: [email] }))
    const list = ['a', 'b', 'c', 'd'].map((name) => ({
      firstName: name,
      communications: [{ communicationTypeID: 1, name: `${name}@example.org` }],
    }))
    list[2]!.communications.push({ ...email, name: 'Taken@Example.org' })
    const reply = await service.admin.post('/Person', list)
    refused(reply, 409, 'duplicate_email')
    assert.equal(reply.errors[0]!.field, '[2].communications[1].name')
    const prices = ['2024-01-01', '2024-01-02', '2024-01-01'].map((priceDate) => ({ priceDate }))
    const investment = only(await service.admin.post('/Investment', { productID, name: 'C' }))
    const { investmentID } = investment
    const twice = prices.map((price) => ({ ...price, investmentID, price: 1 }))
    const again = await service.admin.post('/Investment/Price', twice)
    refused(again, 409)
    assert.match(again.errors[0]!.field ?? '', /^\[2\]/)
  })
})

/** Sends a whole request before it reads anything of the answer, as some clients do. */
async function sendThenRead(head: string, bytes: number): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  let failure: Error | undefined
  socket.on('error', (error) => {
    failure = error
  })
  socket.pause()
  await once(socket, 'connect')
  socket.write(head)
  const piece = Buffer.alloc(65_536, ' ')
  for (let sent = 0; sent < bytes && !failure; sent += piece.length)
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  socket.on('data', (data) => {
    answer += data
    if (answer.includes('"errors"')) socket.destroy()
  })
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
  assert.equal(failure, undefined)
  return answer
}

describe('A request that is refused while its body arrives', () => {
  const bytes = 20 * 2 ** 20
  const head = (more: string) =>
    `POST /Product HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\n` +
    `Content-Length: ${bytes}\r\n${more}\r\n\r\n`

  it('is answered to a client that reads only when it has sent everything', async () => {
    const json = 'Content-Type: application/json'
    const token = `Authorization: ${service.admin.token}`
    assert.match(await sendThenRead(head(`${json}\r\n${token}`), bytes), / 413 /)
    assert.match(await sendThenRead(head(json), bytes), / 401 /)
    assert.match(await sendThenRead(head(`Content-Type: text/plain\r\n${token}`), bytes), / 415 /)
  })
})

describe('A filter', () => {
  it('on a date takes a date-time, and cuts it', async () => {
    const { investmentID } = only(await service.admin.post('/Investment', { productID, name: 'D' }))
    for (const priceDate of ['2024-03-01', '2024-03-02'])
      only(await service.admin.post('/Investment/Price', { investmentID, priceDate, price: 2 }))
    const path = `/Investment/Price?InvestmentID=${investmentID}`
    const at = async (query: string) => (await service.admin.get(path + query)).recordCount
    assert.equal(await at('&PriceDate=2024-03-01T23:59:59Z'), 1)
    assert.equal(await at('&PriceDate.in=2024-03-01T00:00:00Z,2024-03-02'), 2)
    assert.equal(await at('&PriceDate.greaterThan=2024-03-01T10:00:00Z'), 1)
    refused(await service.admin.get(`${path}&PriceDate=2024-02-30T00:00:00Z`), 400, 'invalid_date')
  })

  it('on a number goes to the last of 64 bits', async () => {
    const path = '/BizTransaction?BizTransactionID'
    const { status, data } = await service.admin.get(`${path}.lessThan=9223372036854775807`)
    assert.deepEqual([status, data], [200, []])
    assert.equal((await service.admin.get(`${path}=-9223372036854775808`)).status, 200)
    refused(await service.admin.get(`${path}=9223372036854775808`), 400, 'wrong_type')
    refused(await service.admin.get(`${path}.in=1,x`), 400, 'wrong_type')
  })
})

describe('A file', () => {
  it('comes as its bytes for an Accept that names no JSON', async () => {
    const made = await service.admin.post('/Document', { productID, name: 'D', documentTypeID: 1 })
    assert.equal(made.status, 200, made.text)
    const { documentID } = made.data
    const content = Buffer.from('hello, file').toString('base64')
    const sent = { documentID, fileName: 'a.txt', contentType: 'text/plain', content }
    assert.equal((await service.admin.post('/Document/File', sent)).status, 200)
    const get = (Accept: string) =>
      service.admin.get(`/Document/File?DocumentID=${documentID}`, { Accept })
    for (const accept of ['application/pdf', 'text/csv', 'application/octet-stream, */*'])
      assert.equal((await get(accept)).text, 'hello, file', accept)
    for (const accept of ['application/json', '*/*', 'text/html,application/json;q=0.5'])
      assert.equal((await get(accept)).data?.content, content, accept)
  })
})

describe('The root', () => {
  it('leads a browser to the console, and answers a program in the envelope', async () => {
    const page = await service.anyone.get('/', { Accept: 'text/html,*/*;q=0.8' })
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(page.text, /<title>Registry/)
    const answer = await service.anyone.get('/', { Accept: 'application/json', Version: undefined })
    assert.equal(answer.data.name, 'Registry Platform')
    refused(await service.anyone.post('/', {}), 405, 'wrong_method')
  })
})
