import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Client, clientOf } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Node, startNode } from '../support/node.ts'
import { newKey } from '../support/personas.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import {
  adminPassword as password,
  type Service,
  startService,
  withService,
} from '../support/service.ts'

let service: Service
let other: Node
let one: number
let two: number
before(async () => {
  service = await startService()
  other = await startNode(service.connection)
  const create = async (name: string) =>
    (await service.admin.post('/Product', { name })).data[0].productID
  one = await create('One')
  two = await create('Two')
})
after(async () => {
  await service.stop()
  await other.stop()
})

let names = 0
async function newUser(rights: object) {
  const username = `owner-${++names}`
  const [{ userID }] = (await service.admin.post('/User', { username, password, ...rights })).data
  return { userID, username, client: await service.anyone.signIn(username, password) }
}

const productsOf = async (client: Client) =>
  (await client.get('/Product')).data.map(({ productID }: { productID: number }) => productID)

describe('An API key', () => {
  it('works in the header like a token, on every node, and says who it is', async () => {
    const key = await newKey(service.admin, { permissions: ['Product.Read'] })
    for (const url of [service.url, other.url])
      for (const value of [key.token, `Bearer ${key.token}`])
        assert.equal((await clientOf(url, value).get('/Product')).status, 200)
    const { data } = await key.get('/User/Me')
    assert.equal(data.username, 'admin')
    assert.deepEqual(data.permissions, ['Product.Read'])
    assert.ok(data.apiKeyID > 0)
    refused(await key.post('/Product', { name: 'x' }), 403, 'permission_missing')
  })

  it('is shown once and stored hashed; the list shows the rest, and when it was used', async () => {
    const { client } = await newUser({ role: 'ReadOnly' })
    const given = { name: 'Prices', permissions: ['Product.Read'], productIDs: [one] }
    const [made] = (await client.post('/ApiKey', given)).data
    const read = async () => (await client.get('/ApiKey')).data[0]
    const { key, ...rest } = made
    assert.deepEqual(await read(), rest)
    assert.equal(rest.lastUsedDate, null)
    await clientOf(service.url, key).get('/Product')
    await until('the use to be noted', async () => ((await read()).lastUsedDate ? true : undefined))
    const rows = await rowsOf(
      service.connection,
      'select k::text as text from api_key k union all select a::text from audit a',
    )
    assert.ok(!rows.some(({ text }) => text.includes(key)))
  })

  it('is never wider than its user: not when it is made, and not later', async () => {
    const { userID, client } = await newUser({
      permissions: ['Product.Read', 'Product.Write', 'Audit.Read'],
      productIDs: [one, two],
    })
    const ask = (given: object) => client.post('/ApiKey', { name: 'x', ...given })
    refused(await ask({ permissions: ['Person.Read'] }), 403, 'beyond_own_rights')
    refused(await ask({ permissions: [], productIDs: [99_999] }), 404, 'not_found')
    const key = await newKey(client, { permissions: ['Product.Read', 'Product.Write'] })
    const narrow = await newKey(client, { permissions: ['Product.Read'], productIDs: [two] })
    assert.deepEqual(await productsOf(key), [one, two])
    assert.deepEqual(await productsOf(narrow), [two])
    await service.admin.put('/User', { userID, permissions: ['Product.Read'], productIDs: [one] })
    await sleep(1000)
    assert.deepEqual(await productsOf(key), [one])
    assert.deepEqual(await productsOf(narrow), [])
    refused(await key.put('/Product', { productID: one, name: 'x' }), 403, 'permission_missing')
  })

  it('ends with its user, with its date, and when it is ended, within a second', async () => {
    const { userID, client } = await newUser({ role: 'Operator' })
    const permissions = ['Product.Read']
    const [made] = (await client.post('/ApiKey', { name: 'x', permissions })).data
    const ended = clientOf(other.url, made.key)
    const lives = clientOf(other.url, (await newKey(client, { permissions })).token)
    for (const key of [ended, lives]) assert.equal((await key.get('/Product')).status, 200)
    assert.equal((await client.delete(`/ApiKey?ApiKeyID=${made.apiKeyID}`)).status, 200)
    refused(await client.delete(`/ApiKey?ApiKeyID=${made.apiKeyID}`), 403)
    await sleep(1000)
    refused(await ended.get('/Product'), 401, 'key_refused')
    assert.equal((await lives.get('/Product')).status, 200)
    await service.admin.put('/User', { userID, isActive: false })
    await sleep(1000)
    refused(await lives.get('/Product'), 401, 'key_refused')
    await service.admin.put('/User', { userID, isActive: true })
    await sleep(1000)
    refused(await lives.get('/Product'), 401, 'key_refused')
    const past = { name: 'x', permissions, expires: '2020-01-01T00:00:00Z' }
    refused(await service.admin.post('/ApiKey', past), 400, 'invalid_value')
  })

  it('works from its networks only', () =>
    withService({ REGISTRY_BEHIND_PROXY: 'true' }, async ({ admin }) => {
      const permissions = ['Product.Read']
      const allowedNetworks = ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32']
      const key = await newKey(admin, { permissions, allowedNetworks })
      const from = async (address: string) =>
        (await key.get('/Product', { 'X-Forwarded-For': address })).status
      for (const address of ['203.0.113.9', '198.51.100.7', '2001:db8:1::2', '::ffff:203.0.113.1'])
        assert.equal(await from(address), 200, address)
      for (const address of ['203.0.114.9', '198.51.100.8', '2001:db9::1', '127.0.0.1'])
        assert.equal(await from(address), 401, address)
      const zoned = ['fe80::1%eth0', 'fe80::%eth0/64']
      for (const network of [
        '203.0.113.0/33',
        '300.1.1.1',
        '2001:db8::/129',
        ...zoned,
        'office',
        '',
      ])
        refused(
          await admin.post('/ApiKey', { name: 'x', permissions, allowedNetworks: [network] }),
          400,
        )
    }))

  it('that is guessed beyond the rate limit is not looked up; one that was used goes on', () =>
    withService({ REGISTRY_RATE_LIMIT: '5' }, async (service) => {
      const key = await newKey(service.admin, { permissions: ['Product.Read'] })
      assert.equal((await key.get('/Product')).status, 200)
      const guess = () => {
        const Authorization = `rk_${randomBytes(32).toString('base64url')}`
        return service.anyone.get('/Product', { Authorization })
      }
      // The sign-in was the first request of this address.
      for (let i = 0; i < 4; i++) refused(await guess(), 401, 'key_refused')
      refused(await guess(), 429, 'rate_limit')
      const locker = new pg.Client(service.connection)
      await locker.connect()
      try {
        await locker.query('begin; lock table api_key in access exclusive mode')
        const reply = await guess() // would wait for the lock if it were looked up
        refused(reply, 429, 'rate_limit')
        assert.ok(Number(reply.headers.get('retry-after')) > 0)
      } finally {
        await locker.end()
      }
      await sleep(600) // what is kept of the key for a moment is gone
      assert.equal((await key.get('/Product')).status, 200)
      assert.equal((await service.admin.get('/Product')).status, 200)
    }))

  it('of others is seen with User.Read and ended with User.Write, and no further', async () => {
    const { userID, client } = await newUser({ role: 'Operator' })
    const [made] = (await client.post('/ApiKey', { name: 'mine', permissions: [] })).data
    const stranger = await service.userWith({ role: 'ReadOnly' })
    assert.deepEqual((await stranger.get(`/ApiKey?UserID=${userID}`)).data, [])
    refused(await stranger.delete(`/ApiKey?ApiKeyID=${made.apiKeyID}`), 403, 'permission_missing')
    const manager = await service.userWith({ permissions: ['User.Read', 'User.Write'] })
    assert.equal((await manager.get(`/ApiKey?UserID=${userID}`)).data.length, 1)
    refused(await manager.delete(`/ApiKey?ApiKeyID=${made.apiKeyID}`), 403, 'beyond_own_rights')
    assert.equal((await service.admin.delete(`/ApiKey?ApiKeyID=${made.apiKeyID}`)).status, 200)
  })
})

describe('Sessions', () => {
  it('are listed with from where, and end one or all within a second on every node', async () => {
    const { username, userID, client } = await newUser({ role: 'Operator' })
    const second = await other.anyone.signIn(username, password)
    const { data } = await client.get('/User/Session')
    assert.equal(data.length, 2)
    const [current] = data.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent)
    const [away] = data.filter(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)
    assert.deepEqual([current.username, current.userID], [username, userID])
    assert.match(away.address, /127\.0\.0\.1/)
    assert.ok(away.userAgent)
    assert.equal((await second.get('/Product')).status, 200)
    assert.equal((await client.delete(`/User/Session?SessionID=${away.sessionID}`)).status, 200)
    await sleep(1000)
    refused(await second.get('/Product'), 401, 'session_ended')
    assert.equal((await client.get('/User/Session')).data.length, 1)
    refused(await client.delete(`/User/Session?SessionID=${away.sessionID}`), 403)
    refused(await client.delete('/User/Session'), 400, 'required')
    refused(await client.delete('/User/Session?SessionID=nonsense'), 400, 'wrong_type')
    assert.equal((await client.delete('/User/Session?All=true')).status, 200)
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
  })

  it('of others are for who manages users', async () => {
    const { userID, client } = await newUser({ role: 'Operator' })
    const stranger = await service.userWith({ role: 'ReadOnly' })
    assert.deepEqual((await stranger.get(`/User/Session?UserID=${userID}`)).data, [])
    refused(await stranger.delete(`/User/Session?UserID=${userID}`), 403, 'permission_missing')
    const [session] = (await service.admin.get(`/User/Session?UserID=${userID}`)).data
    refused(await stranger.delete(`/User/Session?SessionID=${session.sessionID}`), 403)
    assert.equal((await service.admin.delete(`/User/Session?UserID=${userID}`)).status, 200)
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
  })
})
