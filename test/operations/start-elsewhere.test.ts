import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { clientOf } from '../support/client.ts'
import { emptyDatabase, freshDatabase, rowsOf, urlOf } from '../support/database.ts'
import { patient } from '../support/patience.ts'
import { npmStart, startRegistry, temporaryFolder, until } from '../support/process.ts'
import { printedPassword, refusedStart, stop } from '../support/starts.ts'

const secret = 'a secret that all nodes of a test share'

describe('the service on the server that DATABASE_URL names', () => {
  const dataDir = temporaryFolder()
  const onDatabase = (connection: pg.ClientConfig) => ({
    REGISTRY_DATA_DIR: dataDir,
    DATABASE_URL: urlOf(connection),
    REGISTRY_JWT_SECRET: secret,
  })

  it('starts no database, and gives the first user the name and password set', async () => {
    const password = 'the password that was set'
    const registry = await startRegistry({
      ...onDatabase(await emptyDatabase()),
      REGISTRY_ADMIN_USERNAME: 'Olive',
      REGISTRY_ADMIN_PASSWORD: password,
    })
    await clientOf(registry.url).signIn('olive', password)
    assert.match(registry.output(), /First user Olive, with the password you set/)
    assert.ok(!registry.output().includes(password))
    assert.equal(existsSync(join(dataDir, 'postgres')), false)
    assert.equal(await stop(registry), 0)
  })

  it('gives the first user no name taken for another, and starts where there is one', async () => {
    const [named, connection] = ['REGISTRY_ADMIN_USERNAME', await emptyDatabase()]
    for (const [name, words] of [
      ['CLI', 'is what the audit trail calls the command line; choose another'],
      ['ad\u200bmin', 'has a character that cannot be seen; write it without'],
    ] as const) {
      const refused = await refusedStart({ ...onDatabase(connection), [named]: name })
      assert.deepEqual([refused.code, refused.words], [1, `Configuration: ${named} ${words}.\n`])
      assert.deepEqual(await rowsOf(connection, 'select from app_user'), [])
    }
    for (const name of ['Olive', 'cli'])
      assert.equal(await stop(await startRegistry({ ...onDatabase(connection), [named]: name })), 0)
    const users = await rowsOf(connection, 'select username from app_user')
    assert.deepEqual(users, [{ username: 'Olive' }])
  })

  it('does not start where the database is read only, and says so', async () => {
    const connection = await freshDatabase()
    const change = 'set default_transaction_read_only = on'
    await rowsOf(connection, `alter database ${connection.database} ${change}`)
    const { code, words } = await refusedStart(onDatabase(connection))
    assert.equal(code, 1)
    assert.match(words, /^Cannot start: The database is read only .* DATABASE_URL\.$/m)
  })

  it('says which setting to see where the login or its database is not right', async () => {
    const connection = await emptyDatabase()
    const login = `login_${connection.database}`
    await rowsOf(connection, `create role ${login} login password 'hidden-word'`)
    const own = { ...connection, user: login, password: 'hidden-word' }
    for (const [given, said] of [
      [
        { ...own, user: `no_${login}`, password: 'hidden-word' },
        /no_login_.*\. See the login .* DATABASE_URL/,
      ],
      [
        { ...own, database: 'no_such_database' },
        /no_such_database.*\. Create the database, or see DATABASE_URL/,
      ],
      [own, /may not migrate the database .* REGISTRY_MIGRATION_DATABASE_URL\.$/],
    ] as const) {
      const { code, words } = await refusedStart(onDatabase(given))
      assert.equal(code, 1)
      assert.match(words.trim(), said)
      assert.ok(!words.includes('hidden-word'))
    }
  })

  it('is stopped by a signal to npm as well', async () => {
    const registry = await npmStart(onDatabase(await freshDatabase()))
    assert.equal(await stop(registry), 0)
    await assert.rejects(fetch(registry.url))
  })

  it('comes up for a login that owns its database and was granted the role', async () => {
    const connection = await emptyDatabase()
    const login = `login_${connection.database}`
    await rowsOf(connection, `create role ${login} login password 'a word'`)
    await rowsOf(connection, `grant registry_service to ${login}`)
    await rowsOf(connection, `alter database ${connection.database} owner to ${login}`)
    const own = { ...connection, user: login, password: 'a word' }
    const registry = await startRegistry(onDatabase(own))
    await clientOf(registry.url).signIn('admin', printedPassword(registry)!)
    assert.equal(await stop(registry), 0)
  })

  it('comes up on two nodes that start at once, with one first user', async () => {
    const connection = await emptyDatabase()
    const env = onDatabase(connection)
    const nodes = await Promise.all([startRegistry(env), startRegistry(env)])
    const printed = nodes.map(printedPassword).filter(Boolean)
    assert.equal(printed.length, 1)
    assert.equal((await rowsOf(connection, 'select from app_user')).length, 1)
    for (const { url } of nodes) {
      const client = await clientOf(url).signIn('admin', printed[0]!)
      assert.equal((await client.get('/User')).recordCount, 1)
    }
    assert.deepEqual(await Promise.all(nodes.map(stop)), [0, 0])
  })

  it('answers what is in flight when it is stopped, takes nothing new, exits 0', async (t) => {
    const connection = await freshDatabase()
    const registry = await startRegistry(onDatabase(connection))
    const client = await clientOf(registry.url).signIn('admin', printedPassword(registry)!)
    const lock = await lockProducts(t, connection)
    const inFlight = ['a', 'b', 'c', 'd'].map((name) => client.post('/Product', { name }))
    await lock.isAwaited(inFlight.length)
    registry.kill('SIGTERM')
    await until('the door to close', () =>
      fetch(registry.url).then(
        () => false,
        () => true,
      ),
    )
    await lock.release()
    for (const reply of await Promise.all(inFlight)) assert.equal(reply.status, 200, reply.text)
    assert.equal(await registry.exited, 0)
  })

  it('exits 0 within ten seconds even when a request in flight does not finish', async (t) => {
    const connection = await freshDatabase()
    const registry = await startRegistry(onDatabase(connection))
    const client = await clientOf(registry.url).signIn('admin', printedPassword(registry)!)
    const lock = await lockProducts(t, connection)
    const endless = client.post('/Product', { name: 'waits' }).catch(() => undefined)
    await lock.isAwaited(1)
    const told = Date.now()
    assert.equal(await stop(registry), 0)
    assert.ok(Date.now() - told < patient(15_000))
    await endless
    await lock.release()
  })

  it('says so when the database cannot be reached, without showing its password', async () => {
    const { code, words, output } = await refusedStart({
      REGISTRY_DATA_DIR: dataDir,
      DATABASE_URL: 'postgres://someone:hidden-word@127.0.0.1:1/registry',
    })
    assert.equal(code, 1)
    assert.match(words, /^Cannot start: .*127\.0\.0\.1:1/)
    assert.ok(!(words + output).includes('hidden-word'))
  })

  it('says so when its port is taken', async () => {
    const registry = await startRegistry(onDatabase(await freshDatabase()))
    const second = await refusedStart({
      ...onDatabase(await freshDatabase()),
      PORT: new URL(registry.url).port,
    })
    assert.equal(second.code, 1)
    assert.match(second.words, /address already in use/)
    assert.equal(await stop(registry), 0)
  })
})

/** Locks the products, so that every write of one waits until the lock is released. */
async function lockProducts(t: TestContext, connection: pg.ClientConfig) {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query('begin')
  await client.query('lock table product in exclusive mode')
  const release = () => client.end()
  t.after(release)
  return {
    release,
    isAwaited: (times: number) =>
      until('requests at the lock', async () => {
        const { rows } = await client.query(
          `select count(*)::int as waiting from pg_locks
           where relation = 'product'::regclass and not granted`,
        )
        return rows[0].waiting >= times
      }),
  }
}
