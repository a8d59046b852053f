import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type EmbeddedPostgres, startEmbedded } from '../../src/platform/embedded/postgres.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { rowsOf, urlOf } from '../support/database.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { type Standby, startStandby } from '../support/standby.ts'

let primary: EmbeddedPostgres
let standby: Standby
let here: Service
let there: Service
const folder = mkdtempSync(join(tmpdir(), 'registry-readers-'))

before(async () => {
  primary = await startEmbedded({
    dataDir: folder,
    settings: { fsync: 'off', shared_buffers: '64MB' },
    onEvent: () => {},
  })
  await migrate(primary.connection)
  standby = await startStandby(primary.connection)
  const env = { REGISTRY_READ_DATABASE_URL: urlOf(standby.connection) }
  here = await startService(env, primary.connection)
  there = await startService(env, primary.connection)
})
after(async () => {
  await Promise.all([here?.stop(), there?.stop()])
  await standby?.kill()
  await primary?.stop()
  rmSync(folder, { recursive: true, force: true })
})

let made = 0
const create = async (service: Service) => {
  const externalProductId = `P${++made}`
  const product = { name: externalProductId, externalProductId, currencyCode: 'AUD' }
  const reply = await service.admin.post('/Product', product)
  assert.equal(reply.status, 200, reply.text)
  return { externalProductId, position: reply.headers.get('registry-position') ?? '' }
}
const sees = async (service: Service, externalProductId: string, headers = {}) => {
  const path = `/Product?ExternalProductId=${externalProductId}`
  const reply = await service.admin.get(path, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.recordCount === 1
}
/** Whether the standby has run a read of products for the service. */
const served = async () => {
  const [row] = await rowsOf(
    standby.connection,
    `select count(*)::int as n from pg_stat_activity
    where application_name = 'registry' and query ~ 'from product'`,
  )
  return row.n > 0
}

describe('Reads with a standby', () => {
  it('are served by it once it has what the user has written', async () => {
    const { externalProductId } = await create(here)
    await until('the standby to serve reads', async () => {
      assert.ok(await sees(here, externalProductId))
      return served()
    })
  })

  it('show a user what they have written, however far it is behind', async () => {
    const { externalProductId: known } = await create(here)
    await until('the standby to have it', () => sees(here, known))
    await standby.pause()
    for (let i = 0; i < 10; i++) {
      const { externalProductId, position } = await create(here)
      assert.match(position, /^[0-9A-F]+\/[0-9A-F]+$/)
      assert.ok(await sees(here, externalProductId), 'not on the node that wrote')
      const brought = { 'registry-position': position }
      assert.ok(await sees(there, externalProductId, brought), 'not on another, told how far')
    }
    const held = await rowsOf(
      standby.connection,
      `select 1 from product where external_product_id = 'P${made}'`,
    )
    assert.deepEqual(held, [], 'the standby was not held back, so this has shown nothing')
  })

  it('leave a standby that stays behind, so that others hear of it too', async () => {
    const { externalProductId } = await create(here)
    await until('the other node to see it', () => sees(there, externalProductId))
    await standby.resume()
  })

  it('are answered by the primary when it is gone', async () => {
    await standby.kill()
    const { externalProductId } = await create(here)
    for (const service of [here, there])
      await until('the record', () => sees(service, externalProductId))
  })
})
