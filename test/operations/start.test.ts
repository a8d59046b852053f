import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { type Client, clientOf } from '../support/client.ts'
import { emptyDatabase, freshDatabase, rowsOf, urlOf } from '../support/database.ts'
import { patient } from '../support/patience.ts'
import {
  databasePid,
  npmStart,
  type Program,
  startProgram,
  startRegistry,
  temporaryFolder,
  until,
} from '../support/process.ts'

const secret = 'a secret that all nodes of a test share'

const printedPassword = ({ output }: Program) =>
  /First user admin, password (\S+)/.exec(output())?.[1]

/** A start that must fail: its exit code and its last words. */
async function refusedStart(env: Record<string, string>) {
  const program = startProgram(env)
  const code = await program.exited
  return { code, words: program.errors(), output: program.output() }
}

async function stop(program: Program) {
  program.kill('SIGTERM')
  return program.exited
}

describe('the service on a data folder of its own', { concurrency: false }, () => {
  const dataDir = temporaryFolder()
  const env = { REGISTRY_DATA_DIR: dataDir, REGISTRY_LOG_LEVEL: 'warn' }
  let registry: Awaited<ReturnType<typeof startRegistry>>
  let password = ''
  let client: Client
  const acknowledged: string[] = []

  it('says at its first start where everything is, and the first password', async () => {
    registry = await startRegistry(env)
    const { url } = registry
    assert.match(registry.output(), new RegExp(`Reference +${url}/docs$`, 'm'))
    assert.match(registry.output(), new RegExp(`Sign in +POST ${url}/User/Login$`, 'm'))
    password = printedPassword(registry) ?? ''
    assert.ok(password.length >= 12)
    client = await clientOf(url).signIn('admin', password)
    assert.equal((await client.get('/Product')).status, 200)
    assert.equal((await fetch(`${url}/docs`)).status, 200)
  })

  it('keeps its keys where only its own user can read them', () => {
    const keys = join(dataDir, 'keys')
    assert.equal(statSync(keys).mode & 0o077, 0)
    assert.equal(statSync(join(keys, 'jwt-secret')).mode & 0o077, 0)
    assert.equal(statSync(join(keys, 'database-password')).mode & 0o077, 0)
  })

  it('refuses a second instance on the same folder, and says why', async () => {
    const second = await refusedStart(env)
    assert.equal(second.code, 1)
    assert.match(second.words, /in use by another registry \(process \d+\)/)
    assert.match(second.words, /REGISTRY_DATA_DIR/)
    assert.equal((await client.get('/Common/HealthCheck')).status, 200)
  })

  it('has every acknowledged write after kill -9 of the server', async (t) => {
    const load = startLoad(t, client, acknowledged)
    await load.reaches(50)
    registry.kill('SIGKILL')
    await registry.exited
    await load.stop()
    await startAgain()
    await assertComplete()
  })

  it('goes on by itself after kill -9 of its database, and nothing is lost', async (t) => {
    const load = startLoad(t, client, acknowledged)
    await load.reaches(50)
    process.kill(databasePid(dataDir), 'SIGKILL')
    await load.reaches(50)
    await load.stop()
    await assertComplete()
    assert.equal(await stop(registry), 0)
    await startAgain()
    await assertComplete()
  })

  it('has every acknowledged write after kill -9 of server and database together', async (t) => {
    const load = startLoad(t, client, acknowledged)
    await load.reaches(50)
    process.kill(databasePid(dataDir), 'SIGKILL')
    registry.kill('SIGKILL')
    await registry.exited
    await load.stop()
    await startAgain()
    await assertComplete()
  })

  it('exits 0 when it is stopped under load, its database too, and nothing is lost', async (t) => {
    const pid = databasePid(dataDir)
    const load = startLoad(t, client, acknowledged)
    await load.reaches(50)
    assert.equal(await stop(registry), 0)
    assert.throws(() => process.kill(pid, 0))
    assert.doesNotMatch(registry.output(), /connection was lost/)
    await load.stop()
    await startAgain()
    await assertComplete()
    assert.equal(await stop(registry), 0)
  })

  /** Another start knows the first user, and the tokens already out. */
  async function startAgain() {
    registry = await startRegistry(env)
    assert.equal(printedPassword(registry), undefined)
    client = clientOf(registry.url, client.token)
  }

  /** What was acknowledged is there, and what is there has its audit record. */
  async function assertComplete() {
    const products = await readAll(client, '/Product')
    const stored = new Set(products.map(({ externalProductId }) => externalProductId))
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    )
    const audits = await readAll(client, '/Audit?Resource=Product')
    assert.deepEqual(
      audits.map(({ resourceIDs }) => resourceIDs[0]).sort(),
      products.map(({ productID }) => productID).sort(),
    )
  }
})

let loads = 0

/** Callers who create products for as long as they are let, and note what was acknowledged. */
function startLoad(t: TestContext, client: Client, acknowledged: string[]) {
  const load = ++loads
  let stopped = false
  const call = async (caller: number) => {
    for (let n = 0; !stopped; n++) {
      const externalProductId = `${load}-${caller}-${n}`
      const body = { name: 'Under load', externalProductId }
      const reply = await client.post('/Product', body).catch(() => undefined)
      if (reply?.status === 200) acknowledged.push(externalProductId)
      else await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const callers = [1, 2, 3, 4].map(call)
  const stop = async () => {
    stopped = true
    await Promise.all(callers)
  }
  t.after(stop)
  return {
    stop,
    reaches: (more: number) => {
      const goal = acknowledged.length + more
      return until('acknowledged writes', () => acknowledged.length >= goal)
    },
  }
}

async function readAll(client: Client, path: string) {
  const all = []
  for (let pageNumber = 1; ; pageNumber++) {
    const paging = `${path.includes('?') ? '&' : '?'}PageSize=1000&PageNumber=${pageNumber}`
    const { status, text, data, recordCount } = await client.get(path + paging)
    assert.equal(status, 200, text)
    all.push(...data)
    if (recordCount < 1000) return all
  }
}

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

/** Makes every write of a product wait until the lock is released. */
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

describe('a first start that ends early', { concurrency: false }, () => {
  const dataDir = temporaryFolder()
  const env = { REGISTRY_DATA_DIR: dataDir }

  it('shows no password when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { code, words, output } = await refusedStart({ ...env, PORT: String(port) })
    taken.close()
    assert.equal(code, 1)
    assert.match(words, /address already in use/)
    assert.doesNotMatch(output, /password/)
  })

  it('by Ctrl-C in the middle leaves no user whose password nobody has seen', async () => {
    const program = startProgram({ ...env, REGISTRY_LOG_LEVEL: 'info' })
    await until('its database', () => /PostgreSQL runs/.test(program.output()))
    program.kill('SIGINT')
    await program.exited
    assert.equal(printedPassword(program), undefined)
  })

  it('lets the next start show a password that works', async () => {
    const registry = await startRegistry(env)
    await clientOf(registry.url).signIn('admin', printedPassword(registry)!)
    assert.equal(await stop(registry), 0)
  })
})

describe('a configuration that is not right', () => {
  const refused = async (env: Record<string, string>) => {
    const { code, words } = await refusedStart({ REGISTRY_DATA_DIR: '/nonexistent/x', ...env })
    assert.equal(code, 1)
    return words
  }

  it('stops the start and names every bad value at once', async () => {
    const words = await refused({ PORT: 'abc', REGISTRY_LOG_LEVEL: 'loud', DATABASE_URL: 'mysql:' })
    for (const name of ['PORT', 'REGISTRY_LOG_LEVEL', 'DATABASE_URL'])
      assert.match(words, new RegExp(`${name} must`))
  })

  it('says at once that a data folder cannot be made, and which variable names it', async () => {
    const { code, words } = await refusedStart({ REGISTRY_DATA_DIR: '/proc/data' })
    assert.equal(code, 1)
    assert.match(words, /\/proc\/data cannot be made .* REGISTRY_DATA_DIR/)
  })

  it('names a variable that nothing reads, and the one that was meant', async () => {
    const registry = await startRegistry({
      REGISTRY_DATA_DIR: temporaryFolder(),
      REGISTRY_MAX_PAGESIZE: '10',
    })
    assert.match(
      registry.errors(),
      /REGISTRY_MAX_PAGESIZE is no setting .* ignored; REGISTRY_MAX_PAGE_SIZE is one\./,
    )
    assert.equal(await stop(registry), 0)
  })

  it('does not serve plain HTTP beyond this machine', async () => {
    const words = await refused({ HOST: '0.0.0.0' })
    assert.match(words, /HOST 0\.0\.0\.0 .* REGISTRY_TLS_CERT and REGISTRY_TLS_KEY/)
  })
})
