import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { auditFailures } from '../../src/operations/maintenance.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Client, Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Node, startNode } from '../support/node.ts'
import { refused } from '../support/refused.ts'
import {
  adminPassword as password,
  type Service,
  startService,
  withService,
} from '../support/service.ts'

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

const count = (replies: Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length

describe('Failed sign-ins', () => {
  it('are ten, in whatever letter case, and then the right password waits too', async () => {
    const { username } = await newUser()
    for (let i = 0; i < 10; i++) {
      const name = i % 2 ? username.toUpperCase() : username.replace('i', 'İ')
      refused(await login(name, 'a wrong password'), 401)
    }
    const reply = await login(username)
    refused(reply, 429, 'too_many_failures')
    const wait = Number(reply.headers.get('retry-after'))
    assert.ok(wait > 800 && wait <= 900, `${wait}`)
    assert.equal((await login('admin')).status, 200)
  })

  it('are exactly ten when thirty arrive at once on two nodes, known user or not', async () => {
    const { username } = await newUser()
    for (const name of [username, `no ${username}`]) {
      const tries = Array.from({ length: 30 }, (_, i) =>
        login(name, 'a wrong password', i % 2 ? service.anyone : other.anyone),
      )
      const replies = await Promise.all(tries)
      assert.deepEqual([count(replies, 401), count(replies, 429)], [10, 20])
    }
  })

  it('are forgotten after fifteen minutes, and after a sign-in that works', async () => {
    const { username } = await newUser()
    const failNine = async () => {
      for (let i = 0; i < 9; i++) refused(await login(username, 'a wrong password'), 401)
    }
    await failNine()
    assert.equal((await login(username)).status, 200)
    await failNine()
    refused(await login(username, 'a wrong password'), 401)
    refused(await login(username), 429)
    await rowsOf(
      service.connection,
      `update login_failure set failed_date = failed_date - interval '15 minutes'`,
    )
    assert.equal((await login(username)).status, 200)
  })

  it('are forgotten with a new password, which works at once', async () => {
    const { username, userID } = await newUser()
    const lockOut = async () => {
      for (let i = 0; i < 10; i++) refused(await login(username, 'a wrong password'), 401)
      refused(await login(username), 429)
    }
    await lockOut()
    const reset = await service.admin.put('/User/Password', { userID, newPassword: password })
    assert.equal(reset.status, 200, reset.text)
    assert.equal((await login(username)).status, 200)
    await lockOut()
    await service.admin.put('/User', { userID, role: 'ReadOnly', isActive: true, password })
    assert.equal((await login(username)).status, 200)
  })

  it('from one network lock nobody out who is elsewhere, whatever the address is written as', () =>
    withService({ REGISTRY_BEHIND_PROXY: 'true' }, async ({ anyone }) => {
      const from = (address: string, given: string) =>
        anyone.post(
          '/User/Login',
          { username: 'admin', password: given },
          { 'X-Forwarded-For': address },
        )
      const strangers = ['203.0.113.5', '203.0.113.77', '::ffff:203.0.113.9', '::ffff:cb00:7101']
      for (let i = 0; i < 10; i++) refused(await from(strangers[i % 4]!, 'a wrong password'), 401)
      refused(await from('203.0.113.200', password), 429, 'too_many_failures')
      assert.equal((await from('203.0.114.5', password)).status, 200)
      const sixes = ['2001:db8:0:1::1', '2001:db8::1:ffff:0:0:2', '2001:0db8:0000:0001::3']
      for (let i = 0; i < 10; i++) refused(await from(sixes[i % 3]!, 'a wrong password'), 401)
      refused(await from('2001:db8:0:1:5::', password), 429)
      assert.equal((await from('2001:db8:0:2::1', password)).status, 200)
    }))

  it('beyond a hundred of one name wait longer, and the right password works', async () => {
    const { username } = await newUser()
    const fail = () => login(username, 'a wrong password')
    refused(await fail(), 401)
    await rowsOf(
      service.connection,
      `insert into login_failure (username_hash, pair_hash)
       select f.username_hash, sha256(f.username_hash || n::text::bytea)
       from (select username_hash from login_failure order by failed_date desc limit 1) f,
         generate_series(1, 100) n`,
    )
    const begin = performance.now()
    assert.equal((await login(username)).status, 200)
    assert.ok(performance.now() - begin >= 1000)
  })

  it('are in the trail: the first at once, the others as one record', async () => {
    const trail = async (username: string) =>
      (await service.admin.get(`/Audit?Resource=User&Username=${username}`)).data.map(
        ({ changes }: { changes: object }) => changes,
      )
    const fail = async (username: string, times: number) => {
      for (let i = 0; i < times; i++) refused(await login(username, 'a wrong password'), 401)
    }
    const [ten, four] = [await newUser(), await newUser()]
    const first = { signIn: 'failed' }
    await fail(ten.username, 9)
    assert.deepEqual(await trail(ten.username), [first])
    await fail(ten.username, 1)
    assert.deepEqual(await trail(ten.username), [first, { signIn: 'failed', times: 9 }])
    await fail(four.username, 4)
    const database = connect(readConfig({}), service.connection, createLog('silent'))
    try {
      await auditFailures(database)
      assert.deepEqual(await trail(four.username), [first])
      await rowsOf(
        service.connection,
        `update login_failure set failed_date = failed_date - interval '15 minutes'`,
      )
      await Promise.all([auditFailures(database), auditFailures(database)])
    } finally {
      await database.close()
    }
    assert.deepEqual(await trail(four.username), [first, { signIn: 'failed', times: 3 }])
  })

  it('count when an own password is changed, too', async () => {
    const { username } = await newUser()
    const client = await service.anyone.signIn(username, password)
    const change = { currentPassword: 'a wrong password', newPassword: 'a longer password' }
    for (let i = 0; i < 10; i++) refused(await client.put('/User/Password', change), 401)
    refused(await login(username), 429)
  })
})
