import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Node, startNode } from '../support/node.ts'
import { claimsOf, forgeriesOf } from '../support/personas.ts'
import { until } from '../support/process.ts'
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

let names = 0
/** A new user for one test, so that tests do not affect each other. */
async function newUser(rights: object = { role: 'ReadOnly' }) {
  const username = `Visitor-${++names}`
  const reply = await service.admin.post('/User', { username, password, ...rights })
  assert.equal(reply.status, 200, reply.text)
  return { username, userID: reply.data[0].userID as number }
}

const login = (
  username: string,
  given = password,
  client: { post: Client['post'] } = service.anyone,
) => client.post('/User/Login', { username, password: given })

const refresh = (refreshToken: string, Authorization?: string, client = service.anyone) =>
  client.post('/User/RefreshToken', { refreshToken }, { Authorization })

const statusOf = async (url: string, accessToken: string, path = '/Product') =>
  (await clientOf(url, accessToken).get(path)).status

const count = (replies: Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length

describe('Sign-in', () => {
  it('answers with a pair of tokens, in the data and beside the envelope', async () => {
    const reply = await login('admin')
    const { accessToken, refreshToken, data } = JSON.parse(reply.text)
    assert.deepEqual(data, { accessToken, refreshToken, expiresIn: 1200, tokenType: 'Bearer' })
    assert.equal(reply.recordCount, 1)
    const { exp, iat } = JSON.parse(Buffer.from(accessToken.split('.')[1], 'base64').toString())
    assert.equal(exp - iat, 1200)
  })

  it('gives a token that works on every node, as it is and after Bearer', async () => {
    const { accessToken } = (await login('ADMIN')).data
    for (const url of [service.url, other.url])
      for (const token of [accessToken, `Bearer ${accessToken}`, `bearer ${accessToken}`])
        assert.equal(await statusOf(url, token), 200)
  })

  it('tells the same to an unknown user, a wrong password and one who is not active', async () => {
    const { username, userID } = await newUser()
    const wrong = await login(username, 'a wrong password')
    const unknown = await login('nobody at all', password)
    await service.admin.put('/User', { userID, role: 'ReadOnly', isActive: false })
    const inactive = await login(username)
    refused(wrong, 401, 'sign_in_failed')
    assert.equal(unknown.text, wrong.text)
    assert.equal(inactive.text, wrong.text)
  })

  it('keeps when a user signed in last', async () => {
    const { username } = await newUser()
    const last = async () =>
      (await service.admin.get(`/User?Username=${username}`)).data[0].lastLoginDate
    assert.equal(await last(), null)
    await login(username)
    assert.match(await last(), /Z$/)
  })

  it('needs both fields', async () => {
    refused(await service.anyone.post('/User/Login', {}), 400, 'required')
    refused(await login('admin', null as unknown as string), 400, 'required')
  })
})

// Forged tokens are tried on every operation: see authorization.test.ts.
describe('An access token', () => {
  it('is the only thing that the header may hold', async () => {
    const { refreshToken } = (await login('admin')).data
    const { token } = service.admin
    for (const value of [
      'x',
      'a.b.c',
      'Bearer',
      `Basic ${token}`,
      `${token}, ${token}`,
      refreshToken,
    ])
      refused(await service.anyone.get('/Product', { Authorization: value }), 401)
    refused(await service.anyone.get('/Product'), 401, 'unauthenticated')
  })
})

describe('A refresh', () => {
  it('gives a new pair, with a valid, an expired or no access token in the header', async () => {
    const { username } = await newUser()
    let { accessToken, refreshToken } = (await login(username)).data
    const { expired } = forgeriesOf(claimsOf(accessToken))
    for (const header of [accessToken, `Bearer ${accessToken}`, expired, undefined]) {
      const reply = await refresh(refreshToken, header)
      assert.equal(reply.status, 200, reply.text)
      assert.notEqual(reply.data.refreshToken, refreshToken)
      assert.equal(await statusOf(other.url, reply.data.accessToken), 200)
      ;({ accessToken, refreshToken } = reply.data)
    }
  })

  it('gives no access token twice, not in the same second either', async () => {
    const tokens = new Set<string>()
    let { refreshToken } = (await login('admin')).data
    for (let time = 0; time < 4; time++) {
      const { data } = await refresh(refreshToken)
      tokens.add(data.accessToken)
      refreshToken = data.refreshToken
    }
    assert.equal(tokens.size, 4)
  })

  it('with an access token of another, or of nobody, is 401 and spends nothing', async () => {
    const { refreshToken } = (await login((await newUser()).username)).data
    refused(await refresh(refreshToken, service.admin.token), 401, 'refresh_refused')
    refused(await refresh(refreshToken, 'a.b.c'), 401)
    assert.equal((await refresh(refreshToken)).status, 200)
  })

  it('with a token used before ends the whole family, access tokens included', async () => {
    const { username } = await newUser()
    const stays = (await login(username)).data
    const first = (await login(username)).data
    const second = (await refresh(first.refreshToken)).data
    refused(await refresh(first.refreshToken), 401, 'refresh_refused')
    refused(await refresh(second.refreshToken), 401, 'refresh_refused')
    await sleep(1000)
    for (const url of [service.url, other.url]) {
      assert.equal(await statusOf(url, second.accessToken), 401)
      assert.equal(await statusOf(url, stays.accessToken), 200)
    }
  })

  it('works once, however many arrive at once on two nodes', async () => {
    const { refreshToken } = (await login((await newUser()).username)).data
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        refresh(refreshToken, undefined, i % 2 ? service.anyone : other.anyone),
      ),
    )
    assert.deepEqual([count(replies, 200), count(replies, 401)], [1, 19])
  })

  it('is refused after thirty days, for who is not active, and for what is no token', async () => {
    const { username, userID } = await newUser()
    const { refreshToken } = (await login(username)).data
    const days = `select round(extract(epoch from max(expires_date) - now()) / 86400) as days
      from refresh_token join session using (session_id) where user_id = $1`
    assert.equal((await rowsOf(service.connection, days, [userID]))[0].days, '30')
    await rowsOf(
      service.connection,
      `update refresh_token set expires_date = now() - interval '1 second'
       where session_id in (select session_id from session where user_id = $1)`,
      [userID],
    )
    refused(await refresh(refreshToken), 401, 'refresh_refused')
    const fresh = (await login(username)).data
    await service.admin.put('/User', { userID, role: 'ReadOnly', isActive: false })
    refused(await refresh(fresh.refreshToken), 401, 'refresh_refused')
    refused(await refresh('no token'), 401, 'refresh_refused')
    refused(await refresh(fresh.accessToken), 400, 'too_long')
  })
})

describe('Within a second, on the other node too', () => {
  /** A new user who has signed in at one node and called the other: both know the session. */
  async function known(rights: object) {
    const user = await newUser(rights)
    const { accessToken, refreshToken } = (await login(user.username)).data
    const client = clientOf(other.url, accessToken)
    assert.equal((await client.get('/Product')).status, 200)
    return { ...user, client, accessToken, refreshToken }
  }

  it('a sign-out ends the session and no other', async () => {
    const { client, username, refreshToken } = await known({ role: 'ReadOnly' })
    const elsewhere = await other.anyone.signIn(username, password)
    assert.equal((await client.post('/User/Logout')).status, 200)
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
    refused(await refresh(refreshToken), 401, 'refresh_refused')
    assert.equal((await elsewhere.get('/Product')).status, 200)
  })

  it('a user made inactive is out, and old tokens do not come back with them', async () => {
    const { client, userID, refreshToken } = await known({ role: 'ReadOnly' })
    await service.admin.put('/User', { userID, role: 'ReadOnly', isActive: false })
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
    await service.admin.put('/User', { userID, role: 'ReadOnly', isActive: true })
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
    refused(await refresh(refreshToken), 401)
  })

  it('a permission taken away is gone, and a role given is there', async () => {
    const { client, userID } = await known({ permissions: ['Product.Read', 'Audit.Read'] })
    await service.admin.put('/User', { userID, permissions: ['Audit.Read'], isActive: true })
    await sleep(1000)
    refused(await client.get('/Product'), 403, 'permission_missing')
    await service.admin.put('/User', { userID, role: 'Operator', isActive: true })
    await sleep(1000)
    assert.equal((await client.post('/Product', { name: 'By an operator' })).status, 200)
  })

  it('a product scope is narrowed', async () => {
    const { client, userID } = await known({ role: 'ReadOnly' })
    const [product] = (await service.admin.post('/Product', { name: 'Seen' })).data
    const path = `/Product?ProductID=${product.productID}`
    assert.equal((await client.get(path)).recordCount, 1)
    await service.admin.put('/User', { userID, role: 'ReadOnly', productIDs: [], isActive: true })
    await sleep(1000)
    assert.equal((await client.get(path)).recordCount, 0)
  })

  it('a changed password ends every session', async () => {
    const { client, username, refreshToken } = await known({ role: 'ReadOnly' })
    const newPassword = 'another password'
    const change = { currentPassword: password, newPassword }
    assert.equal((await client.put('/User/Password', change)).status, 200)
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
    refused(await refresh(refreshToken), 401)
    refused(await login(username), 401)
    assert.equal((await login(username, newPassword)).status, 200)
  })
})

describe('What is under way while a user is changed', () => {
  /** Sends a request that waits for the row of the user, and changes the row before it goes on. */
  async function whileChanging(userID: number, change: string, send: () => Promise<Reply>) {
    const holder = new pg.Client(service.connection)
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(`update app_user set ${change} where user_id = $1`, [userID])
      const sent = send()
      await until('it to wait', async () => (await rowsOf(service.connection, waiting)).length > 0)
      await holder.query('update session set revoked_date = now() where user_id = $1', [userID])
      await holder.query('commit')
      return await sent
    } finally {
      await holder.end()
    }
  }
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ~ 'app_user'`

  it('a password that is replaced while it is checked lets nobody in any more', async () => {
    const { username, userID } = await newUser()
    const inactive = await newUser()
    const { accessToken } = (await login(username)).data
    const change = { currentPassword: password, newPassword: 'one that somebody else knows' }
    const own = clientOf(service.url, accessToken)
    refused(
      await whileChanging(userID, `password_hash = password_hash || ' '`, () =>
        own.put('/User/Password', change),
      ),
      401,
      'sign_in_failed',
    )
    const again = await newUser()
    refused(
      await whileChanging(again.userID, `password_hash = password_hash || ' '`, () =>
        login(again.username),
      ),
      401,
      'sign_in_failed',
    )
    refused(
      await whileChanging(inactive.userID, 'is_active = false', () => login(inactive.username)),
      401,
      'sign_in_failed',
    )
    const living = await rowsOf(
      service.connection,
      `select 1 from session where revoked_date is null and user_id = any($1)`,
      [[userID, again.userID, inactive.userID]],
    )
    assert.equal(living.length, 0)
  })

  it('a key that somebody makes while they are made inactive is none', async () => {
    const { username, userID } = await newUser()
    const own = clientOf(service.url, (await login(username)).data.accessToken)
    const key = { name: 'Too late', permissions: ['Product.Read'] }
    const reply = await whileChanging(userID, 'is_active = false', () => own.post('/ApiKey', key))
    refused(reply, 401, 'session_ended')
    const made = await rowsOf(service.connection, 'select 1 from api_key where user_id = $1', [
      userID,
    ])
    assert.equal(made.length, 0)
  })
})

describe('A clock that is set back', () => {
  it('does not keep an ended session alive', async (context) => {
    const { username } = await newUser()
    const client = await service.anyone.signIn(username, password)
    assert.equal((await client.get('/Product')).status, 200)
    const now = Date.now
    context.mock.method(Date, 'now', () => now() - 600_000)
    assert.equal(
      (await other.anyone.post('/User/Logout', undefined, { Authorization: client.token })).status,
      200,
    )
    await sleep(1000)
    refused(await client.get('/Product'), 401, 'session_ended')
  })
})

describe('The database', () => {
  it('holds no password and no token that would open anything', async () => {
    const { username } = await newUser()
    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const signedIn = await service.anyone.post('/User/Login', { username, password }, key)
    const again = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { refreshToken: signedIn.data.refreshToken }
    const refreshed = await service.anyone.post('/User/RefreshToken', body, again)
    await login(username, 'a secret typed wrongly')
    await login('a password typed as a name', 'whatever it is')
    const [{ dump }] = await rowsOf(
      service.connection,
      `select string_agg(query_to_xml(format('select * from %s', oid::regclass), true, true, '')
         ::text, '') as dump
       from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    const { accessToken, refreshToken } = refreshed.data
    const secrets = [password, accessToken, refreshToken, signedIn.data.refreshToken]
    for (const secret of [...secrets, 'a secret typed wrongly', 'a password typed as a name'])
      assert.ok(!dump.includes(secret), secret)
    assert.ok(dump.includes(username), 'this does look into the tables')
    assert.match(dump, /\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })
})
