import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { findEmbedded } from '../../src/platform/embedded/postgres.ts'
import { type Client, clientOf } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import {
  databasePid,
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
