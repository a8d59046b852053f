import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sweep } from '../../src/operations/maintenance.ts'
import { createLog } from '../../src/platform/log.ts'
import { openDatabase } from '../../src/platform/sql/handle.ts'
import type { Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Node, startNode } from '../support/node.ts'
import { newKey as newApiKey } from '../support/personas.ts'
import { refused } from '../support/refused.ts'
import { adminPassword as password, type Service, startService } from '../support/service.ts'

let service: Service
let other: Node
before(async () => {
  service = await startService()
  other = await startNode(service.connection)
})
after(async () => {
  await service.stop()
  await other.stop()
})

const rights = { permissions: ['Product.Read', 'Product.Write'] }
let keys = 0
const newKey = () => ({ 'Idempotency-Key': `key number ${++keys}` })
const isReplay = ({ headers }: Reply) => headers.get('idempotency-replayed') === 'true'
const rows = (text: string, values: unknown[] = []) => rowsOf(service.connection, text, values)
const productsNamed = async (name: string) =>
  (await rows('select product_id from product where name = $1', [name])).length

describe('A request sent again under its Idempotency-Key', () => {
  it('gets the first answer, marked, and does nothing', async () => {
    const key = newKey()
    const body = { name: 'Once', externalProductId: 'ONCE' }
    const first = await service.admin.post('/Product', body, key)
    assert.ok(!isReplay(first))
    for (const client of [service.admin, other.admin, service.admin]) {
      const again = await client.post('/Product', body, key)
      assert.ok(isReplay(again))
      assert.equal(again.status, 200)
      assert.equal(again.text, first.text)
    }
    assert.equal(await productsNamed('Once'), 1)
    const trail = `/Audit?Resource=Product&ResourceID=${first.data[0].productID}`
    assert.equal((await service.admin.get(trail)).recordCount, 1)
  })

  it('is the same request whatever the order and the letter case of its fields', async () => {
    const key = newKey()
    const first = await service.admin.post('/Product', '{"name":"Order","currencyID":2}', key)
    const again = await service.admin.post('/product/', '{"CURRENCYID":2.0, "Name":"Order"}', key)
    assert.ok(isReplay(again))
    assert.equal(again.text, first.text)
  })

  it('works for PUT too, with what changed since left as it is', async () => {
    const [{ productID }] = (await service.admin.post('/Product', { name: 'Before' })).data
    const key = newKey()
    const first = await service.admin.put('/Product', { productID, name: 'First' }, key)
    await service.admin.put('/Product', { productID, name: 'Second' })
    const again = await service.admin.put('/Product', { productID, name: 'First' }, key)
    assert.equal(again.text, first.text)
    const now = await service.admin.get(`/Product?ProductID=${productID}`)
    assert.equal(now.data[0].name, 'Second')
  })

  it('is refused with another body or on another path', async () => {
    const key = newKey()
    await service.admin.post('/Product', { name: 'Key' }, key)
    const reused = [
      await service.admin.post('/Product', { name: 'Other' }, key),
      await other.admin.post('/Product', { name: 'Key', isActive: true }, key),
      await service.admin.put('/Product', { name: 'Key', productID: 1 }, key),
      await service.admin.post('/User/Logout', undefined, key),
    ]
    for (const reply of reused) refused(reply, 422, 'idempotency_key_reused')
    assert.equal(await productsNamed('Other'), 0)
    assert.equal((await service.admin.get('/Product')).status, 200, 'still signed in')
  })

  it('is another request when another user sends it', async () => {
    const key = newKey()
    const user = await service.userWith({ role: 'Operator' })
    for (const client of [service.admin, user])
      assert.ok(!isReplay(await client.post('/Product', { name: 'Two users' }, key)))
    assert.equal(await productsNamed('Two users'), 2)
  })

  it('is replayed to no API key of its user but the one that sent it', async () => {
    const key = newKey()
    const [{ productID }] = (await service.admin.post('/Product', { name: 'Elsewhere' })).data
    const user = await service.userWith({ role: 'Operator' })
    const [one, another] = [await newApiKey(user, rights), await newApiKey(user, rights)]
    const narrow = await newApiKey(user, { ...rights, productIDs: [productID] })
    const body = { name: 'Not for all keys' }
    const first = await one.post('/Product', body, key)
    for (const client of [narrow, another, user])
      refused(await client.post('/Product', body, key), 422, 'idempotency_key_reused')
    const again = await one.post('/Product', body, key)
    assert.ok(isReplay(again))
    assert.equal(again.text, first.text)
    assert.equal(await productsNamed(body.name), 1)
  })

  it('is judged before it is replayed: no token, no permission, no replay', async () => {
    const key = newKey()
    await service.admin.post('/Product', { name: 'Judged' }, key)
    refused(await service.anyone.post('/Product', { name: 'Judged' }, key), 401)
    const reader = await service.userWith({ role: 'ReadOnly' })
    refused(await reader.post('/Product', { name: 'Judged' }, key), 403)
  })

  it('runs once when it arrives many times at once on two nodes', async () => {
    for (const round of [1, 2, 3]) {
      const key = newKey()
      const name = `At once ${round}`
      const replies = await Promise.all(
        Array.from({ length: 16 }, (_, i) =>
          (i % 2 ? service : other).admin.post('/Product', { name }, key),
        ),
      )
      assert.equal(await productsNamed(name), 1)
      assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
      assert.equal(replies.filter((reply) => !isReplay(reply)).length, 1)
      assert.ok(replies.every(({ status }) => status === 200))
    }
  })

  it('waits for the first while that is still running', async () => {
    const name = 'Waited for'
    const holder = rows('begin; lock table product in share mode; select pg_sleep(1); commit')
    const key = newKey()
    const replies = await Promise.all([
      service.admin.post('/Product', { name }, key),
      other.admin.post('/Product', { name }, key),
    ])
    await holder
    assert.deepEqual(replies.map(isReplay).sort(), [false, true])
    assert.equal(await productsNamed(name), 1)
  })
})

describe('A refused request', () => {
  it('keeps nothing: it may be tried again, changed or not, under its key', async () => {
    const key = newKey()
    refused(await service.admin.post('/Product', {}, key), 400)
    await service.admin.post('/Product', { name: 'Holder', externalProductId: 'HOLD' })
    const body = { name: 'Retry', externalProductId: 'HOLD' }
    refused(await service.admin.post('/Product', body, key), 409)
    await service.admin.delete('/Product?ExternalProductId=HOLD')
    const reply = await service.admin.post('/Product', body, key)
    assert.equal(reply.status, 200)
    assert.ok(!isReplay(reply))
    assert.equal((await service.admin.post('/Product', body, key)).text, reply.text)
  })

  it('lets those that wait for it have their own try', async () => {
    await service.admin.post('/Product', { name: 'x', externalProductId: 'TAKEN' })
    const key = newKey()
    const body = { name: 'x', externalProductId: 'TAKEN' }
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? service : other).admin.post('/Product', body, key),
      ),
    )
    for (const reply of replies) refused(reply, 409, 'duplicate')
    const [{ count }] = await rows('select count(*)::int from idempotency where key = $1', [
      key['Idempotency-Key'],
    ])
    assert.equal(count, 0)
  })

  it('that is a failed sign-in keeps its count and not its key', async () => {
    const key = newKey()
    const wrong = { username: 'nobody here', password: 'a wrong password' }
    for (let i = 0; i < 10; i++) refused(await service.anyone.post('/User/Login', wrong, key), 401)
    refused(await service.anyone.post('/User/Login', wrong, key), 429)
    const kept = await rows('select from idempotency where key = $1', [key['Idempotency-Key']])
    assert.equal(kept.length, 0)
  })
})

describe('A key', () => {
  it('has 1 to 255 characters', async () => {
    const post = (value: string) =>
      service.admin.post('/Product', { name: 'Long key' }, { 'Idempotency-Key': value })
    for (const bad of ['', 'x'.repeat(256), 'ä']) refused(await post(bad), 400, 'invalid_value')
    assert.equal((await post('x'.repeat(255))).status, 200)
    assert.equal((await post('x')).status, 200)
  })

  it('is forgotten after 24 hours, and swept away then', async () => {
    const key = newKey()
    await service.admin.post('/Product', { name: 'Day' }, key)
    const age = (hours: number) =>
      rows(`update idempotency set created_date = now() - $2 * interval '1 hour' where key = $1`, [
        key['Idempotency-Key'],
        hours,
      ])
    await age(23.9)
    assert.ok(isReplay(await service.admin.post('/Product', { name: 'Day' }, key)))
    await age(24.1)
    const next = await service.admin.post('/Product', { name: 'Another day' }, key)
    assert.deepEqual([next.status, isReplay(next)], [200, false])
    assert.ok(isReplay(await service.admin.post('/Product', { name: 'Another day' }, key)))
    await age(24.1)
    const database = openDatabase({
      connection: service.connection,
      role: 'registry_service',
      connections: 1,
      prepareStatements: false,
      onLostConnection: ({ message }) => createLog('warn').warn(message),
    })
    await sweep(database, { eventDays: 90 })
    await database.close()
    const left = await rows('select from idempotency where key = $1', [key['Idempotency-Key']])
    assert.equal(left.length, 0)
  })

  it('works for DELETE too, and means nothing on GET', async () => {
    const key = newKey()
    const [{ productID }] = (await service.admin.post('/Product', { name: 'Gone' })).data
    const path = `/Product?ProductID=${productID}`
    assert.equal((await service.admin.get(path, key)).recordCount, 1)
    const first = await service.admin.delete(path, key)
    assert.deepEqual([first.status, isReplay(first)], [200, false])
    assert.equal((await service.admin.get(path, key)).recordCount, 0)
    const again = await other.admin.delete(path, key)
    assert.deepEqual([again.status, isReplay(again), again.text], [200, true, first.text])
    refused(await service.admin.delete(path, newKey()), 404)
    const another = `/Product?ProductID=${productID + 1}`
    refused(await service.admin.delete(another, key), 422, 'idempotency_key_reused')
    const trail = `/Audit?Resource=Product&ResourceID=${productID}`
    assert.equal((await service.admin.get(trail)).recordCount, 2)
  })

  it('of a DELETE that was refused is tried anew', async () => {
    const key = newKey()
    const [{ productID }] = (await service.admin.post('/Product', { name: 'In use' })).data
    const [{ investmentID }] = (
      await service.admin.post('/Investment', { productID, securityCode: 'USE', name: 'In use' })
    ).data
    const path = `/Product?ProductID=${productID}`
    refused(await service.admin.delete(path, key), 409)
    await service.admin.delete(`/Investment?InvestmentID=${investmentID}`)
    const done = await service.admin.delete(path, key)
    assert.deepEqual([done.status, isReplay(done)], [200, false])
  })

  it('of a refresh is that of its token, and replays the tokens, kept sealed', async () => {
    const key = newKey()
    const signedIn = () => service.anyone.post('/User/Login', { username: 'admin', password })
    const [body, others] = [await signedIn(), await signedIn()].map(({ data }) => ({
      refreshToken: data.refreshToken,
    }))
    const first = await service.anyone.post('/User/RefreshToken', body, key)
    const again = await other.anyone.post('/User/RefreshToken', body, key)
    assert.ok(isReplay(again))
    assert.equal(again.text, first.text, 'a lost answer to a refresh does not end the session')
    assert.equal(JSON.parse(again.text).refreshToken, first.data.refreshToken)
    const another = await service.anyone.post('/User/RefreshToken', others, key)
    assert.deepEqual([another.status, isReplay(another)], [200, false])
    const kept = await rows('select response from idempotency where user_id = 0')
    assert.equal(kept.length, 2)
    for (const { response } of kept) {
      assert.match(response, /^[A-Za-z0-9+/]+=*$/)
      assert.doesNotMatch(Buffer.from(response, 'base64').toString('latin1'), /token/i)
    }
  })

  it('means nothing at a sign-in: each is judged, and nothing of it is kept', async () => {
    const key = newKey()
    const logins = [1, 2].map((i) => ({ username: `keyed ${i}`, password: `of keyed user ${i}` }))
    for (const login of logins) await service.admin.post('/User', { ...login, role: 'Operator' })
    const [one, two] = logins
    const signIn = (login?: object) => service.anyone.post('/User/Login', login, key)
    const first = await signIn(one)
    assert.equal((await signIn(two)).status, 200)
    const second = await signIn(one)
    assert.deepEqual([second.status, isReplay(second)], [200, false])
    assert.notEqual(second.data.refreshToken, first.data.refreshToken)
    const change = { currentPassword: one!.password, newPassword: 'another one of theirs' }
    const own = { ...key, Authorization: second.data.accessToken }
    assert.equal((await service.anyone.put('/User/Password', change, own)).status, 200)
    refused(await signIn(one), 401, 'sign_in_failed')
    const kept = await rows('select from idempotency where key = $1', [key['Idempotency-Key']])
    assert.equal(kept.length, 1, 'that of the change of the password alone')
  })
})
