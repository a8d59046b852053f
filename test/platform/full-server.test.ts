import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type pg from 'pg'
import { freshDatabase, rowsOf, urlOf } from '../support/database.ts'
import { runCli, temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { encryptionKey, withService } from '../support/service.ts'
import { refusedStart } from '../support/starts.ts'

/** These tests use a login with a limited number of connections. */
describe('A server that has no connection left', () => {
  let owner: pg.ClientConfig
  let own: pg.ClientConfig
  before(async () => {
    owner = await freshDatabase()
    own = { ...owner, user: `login_${owner.database}`, password: 'a word' }
    await rowsOf(owner, `create role ${own.user} login password 'a word'`)
    await rowsOf(owner, `grant registry_service to ${own.user}`)
  })
  const allow = (connections: number) =>
    rowsOf(owner, `alter role ${own.user} connection limit ${connections}`)
  const endAll = () =>
    rowsOf(owner, 'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [
      own.user,
    ])

  it('slows callers down where a node has some, and refuses nobody', () =>
    withService(
      { REGISTRY_DATABASE_CONNECTIONS: '10' },
      async ({ admin, anyone }) => {
        assert.equal((await admin.post('/Product', { name: 'First' })).status, 200)
        await allow(1) // those that are there stay
        const many = Array.from({ length: 30 }, (_, i) => i)
        const replies = await Promise.all([
          ...many.map((i) => admin.post('/Product', { name: `Product ${i}` })),
          ...many.map((i) => admin.get(`/Product?PageSize=${i + 1}`)),
          anyone.get('/Common/HealthCheck'),
        ])
        await allow(-1)
        assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
      },
      own,
    ))

  it('is told where a node has none, and taken up again by itself', () =>
    withService(
      {},
      async ({ admin, anyone }) => {
        await allow(0)
        await endAll()
        // Who is the first to use a connection that was ended is told of that one.
        const replies = await until('all to be told that there is none left', async () => {
          const asked = [
            await admin.post('/Product', { name: 'No' }),
            await anyone.get('/Common/Lookup'),
            await anyone.get('/Common/HealthCheck'),
          ]
          const isTold = asked.every(({ errors }) => errors?.[0]?.code === 'no_room')
          return isTold ? asked : undefined
        }).finally(() => allow(-1))
        for (const reply of replies) {
          refused(reply, 503, 'no_room')
          assert.ok(Number(reply.headers.get('retry-after')) >= 1)
        }
        await until('it to serve again', async () => {
          const { status } = await admin.post('/Product', { name: 'Yes' })
          return status === 200
        })
      },
      own,
    ))

  it('is named by a start and by a command, with what to do', async () => {
    const env = {
      DATABASE_URL: urlOf(own),
      REGISTRY_MIGRATION_DATABASE_URL: urlOf(owner),
      REGISTRY_DATA_DIR: temporaryFolder(),
      REGISTRY_ENCRYPTION_KEY: encryptionKey,
    }
    const words = /no connection left .*too many connections.*raise max_connections, lower REG/
    await allow(0)
    try {
      const start = await refusedStart(env)
      assert.equal(start.code, 1)
      assert.match(start.words, words)
      const [check, verify] = [await runCli(['check'], env), await runCli(['verify'], env)]
      assert.match(check.output, words)
      assert.match(verify.errors, words)
    } finally {
      await allow(-1)
    }
  })
})
