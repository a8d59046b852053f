import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { findEmbedded } from '../../src/platform/embedded/postgres.ts'
import { type Client, clientOf } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import {
  databasePid,
  startProgram,
  startRegistry,
  startWorker,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { printedPassword, refusedStart, stop } from '../support/starts.ts'

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
    assert.doesNotMatch(registry.errors(), /Warning/)
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

  it('has no worker of another version beside it', async () => {
    const { connection } = (await findEmbedded(dataDir))!
    const [newest] = await rowsOf(
      connection,
      `delete from migration where name = (select max(name) from migration) returning *`,
    )
    const older = startWorker(env)
    assert.equal(await older.exited, 1)
    assert.match(older.errors(), new RegExp(`^Cannot start: The database lacks ${newest.name}`))
    await rowsOf(
      connection,
      'insert into migration select * from json_populate_record(null::migration, $1)',
      [JSON.stringify(newest)],
    )
    const worker = startWorker(env)
    await until('it to work', () => worker.output().includes('making reports'))
    worker.kill('SIGTERM')
    assert.equal(await worker.exited, 0)
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

  /** Starts again: no first user is created, and the client goes on with its old token. */
  async function startAgain() {
    registry = await startRegistry(env)
    assert.equal(printedPassword(registry), undefined)
    client = clientOf(registry.url, client.token)
  }

  /** Asserts that acknowledged products are there, and that every product has an audit record. */
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

/** Starts callers who create products until they are stopped, and note what was acknowledged. */
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
    assert.match(words, /address already in use.*; set PORT to another/)
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

describe('a configuration that is not right', { concurrency: false }, () => {
  const dataDir = temporaryFolder()

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
    const below = await refusedStart({ REGISTRY_DATA_DIR: 'package.json/data' })
    assert.match(below.words, /package\.json cannot be made .* REGISTRY_DATA_DIR/)
  })

  it('says which setting names an address that cannot be listened on', async () => {
    const { words } = await refusedStart({
      REGISTRY_DATA_DIR: dataDir,
      HOST: '192.0.2.1',
      REGISTRY_BEHIND_PROXY: 'true',
    })
    assert.match(words, /^Cannot start: .*192\.0\.2\.1.*; set HOST to an address of this machine$/m)
  })

  it('says what to do about a key of the audit trail that cannot be read', async () => {
    writeFileSync(join(dataDir, 'keys', 'audit-signing-key'), 'no key')
    const { code, words } = await refusedStart({ REGISTRY_DATA_DIR: dataDir })
    assert.equal(code, 1)
    assert.match(words, /^Cannot start: keys\/audit-signing-key .* bring it back .*, or remove it/m)
  })

  it('names a variable that nothing reads, and the one that was meant', async () => {
    const registry = await startRegistry({
      REGISTRY_DATA_DIR: temporaryFolder(),
      REGISTRY_MAX_PAGESIZE: '10',
    })
    assert.match(
      registry.errors(),
      /REGISTRY_MAX_PAGESIZE is not a setting .* ignored\. Did you mean REGISTRY_MAX_PAGE_SIZE\?/,
    )
    assert.equal(await stop(registry), 0)
  })

  it('does not serve plain HTTP beyond this machine', async () => {
    const words = await refused({ HOST: '0.0.0.0' })
    assert.match(words, /HOST 0\.0\.0\.0 .* REGISTRY_TLS_CERT and REGISTRY_TLS_KEY/)
  })
})
