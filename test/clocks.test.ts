import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import { codeAt, stepAt } from '../src/access/second-factor/totp.ts'
import { readConfig } from '../src/config.ts'
import { noticeClock } from '../src/operations/maintenance.ts'
import { createLog } from '../src/platform/log.ts'
import { connect } from '../src/platform/registry.ts'
import { freshDatabase, rowsOf, urlOf } from './support/database.ts'
import { only } from './support/ledger.ts'
import { type Node, startNode } from './support/node.ts'
import { runCli, until } from './support/process.ts'
import { withReceiver } from './support/receiver.ts'
import { adminPassword as password } from './support/service.ts'

/** Seconds by which the clock of one node is ahead of everybody else's. */
const ahead = 300
const shifted = {
  NODE_OPTIONS: `--import=data:text/javascript,Date.now=(n=>()=>n()+${ahead}e3)(Date.now)`,
}

let connection: pg.ClientConfig
let right: Node
let wrong: Node
before(async () => {
  connection = await freshDatabase()
  right = await startNode(connection, { REGISTRY_WORKER: 'false', REGISTRY_LOG_LEVEL: 'warn' })
  const local = { REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true', REGISTRY_LOG_LEVEL: 'warn' }
  wrong = await startNode(connection, { ...shifted, ...local })
})
after(() => Promise.all([right.stop(), wrong.stop()]))

const session = (node: Node, method: string, { body, cookie = '' }: Record<string, string>) =>
  fetch(`${node.url}/console/session`, {
    method,
    headers: {
      Version: '2.0',
      Cookie: cookie,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body }),
  })
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''

describe('A node whose clock is ahead of the others by minutes', () => {
  it('says so when it starts, and so does check', async () => {
    assert.match(wrong.output(), /the clock of this machine is \d+ s ahead of the database's/)
    assert.doesNotMatch(right.output(), /clock/)
    const env = { DATABASE_URL: urlOf(connection) }
    const [off, fine] = [
      await runCli(['check'], { ...env, ...shifted }),
      await runCli(['check'], env),
    ]
    assert.match(off.output, /^WRONG {2}clock .* s ahead of/m)
    assert.match(fine.output, /^ok {5}clock /m)
  })

  it('is told of by one that runs, too: clocks are set at any time', async () => {
    const database = connect(readConfig({}), connection, createLog('silent'))
    const rightly = Date.now
    try {
      await noticeClock(database)
      Date.now = () => rightly() - 1000 * ahead
      await assert.rejects(noticeClock(database), / \d+ s behind the database's/)
    } finally {
      Date.now = rightly
      await database.close()
    }
  })

  it('signs in for all nodes', async () => {
    const { token: there } = await wrong.anyone.signIn('admin', password)
    for (const [node, token] of [[right, there] as const, [wrong, right.admin.token] as const])
      assert.equal((await node.anyone.get('/Product', { Authorization: token })).status, 200)
  })

  it('takes the codes that an authenticator shows', async () => {
    await right.admin.post('/User', { username: 'careful', password, role: 'ReadOnly' })
    const own = await right.anyone.signIn('careful', password)
    const { secret } = (await own.post('/User/SecondFactor')).data
    const code = () => codeAt(secret, stepAt(Date.now()))
    const confirmed = await own.post('/User/SecondFactor/Confirm', { code: code() })
    assert.equal(confirmed.status, 200, confirmed.text)
    await rowsOf(connection, 'update second_factor set last_step = 0') // as if a minute had passed
    const signIn = { username: 'careful', password, code: code() }
    const reply = await wrong.anyone.post('/User/Login', signIn)
    assert.equal(reply.status, 200, reply.text)
  })

  it('tells a page that asks again on another node the same, for half a minute', async () => {
    const body = JSON.stringify({ username: 'admin', password })
    const cookie = cookieOf(await session(right, 'POST', { body }))
    const first = await session(right, 'PUT', { cookie })
    const again = await session(wrong, 'PUT', { cookie })
    assert.ok(cookieOf(first).length > 30)
    assert.equal(cookieOf(again), cookieOf(first))
    const longAgo = `update refresh_token set used_date = now() - interval '31 s'`
    await rowsOf(connection, `${longAgo} where used_date is not null`)
    for (const late of [cookie, cookieOf(first)])
      assert.equal((await (await session(right, 'PUT', { cookie: late })).json()).data, null)
  })

  it('signs what webhooks are sent with the time it is', () =>
    withReceiver(async ({ url, got }) => {
      only(await wrong.admin.post('/Webhook', { url, types: ['product.created'] }))
      await right.admin.post('/Product', { name: 'Told' })
      const { headers } = await until('it to be told', () => got[0])
      const time = Number(headers['webhook-timestamp'])
      assert.ok(Math.abs(time - Date.now() / 1000) < ahead / 2, `${time}`)
    }))
})
