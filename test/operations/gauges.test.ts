import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Registry } from 'prom-client'
import { readConfig } from '../../src/config.ts'
import { gaugesOf } from '../../src/operations/gauges.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import { rowsOf, urlOf } from '../support/database.ts'
import { newProduct, only } from '../support/ledger.ts'
import { runCli, temporaryFolder } from '../support/process.ts'
import { encryptionKey, type Service, startService } from '../support/service.ts'

let service: Service
const dataDir = temporaryFolder()
before(async () => {
  service = await startService({ REGISTRY_DATA_DIR: dataDir })
})
after(() => service.stop())

const cli = (...args: string[]) =>
  runCli(args, {
    DATABASE_URL: urlOf(service.connection),
    REGISTRY_DATA_DIR: dataDir,
    REGISTRY_ENCRYPTION_KEY: encryptionKey,
  })

/** The value of a metric by its name and labels, as Prometheus reads it. */
async function metric(name: string): Promise<number | undefined> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

describe('The metrics', () => {
  it('tell how long the queue is, and how old its oldest job', async () => {
    assert.equal(await metric('registry_database_up'), 1)
    const { productID } = await newProduct(service)
    for (const name of ['one', 'two']) {
      const report = { reportTypeID: 2, name, format: 'json', productID }
      assert.equal((await service.admin.post('/Report', report)).status, 200)
    }
    const [{ task }] = await rowsOf(
      service.connection,
      'select distinct task_identifier as task from graphile_worker.jobs',
    )
    assert.equal(await metric(`registry_jobs{task="${task}",state="ready"}`), 2)
    await rowsOf(
      service.connection,
      `update graphile_worker._private_jobs set run_at = run_at - interval '1 hour'`,
    )
    const age = await metric(`registry_oldest_job_age_seconds{task="${task}"}`)
    assert.ok(age! >= 3600 && age! < 7200, String(age))
  })

  it('tell what waits of imports and webhooks, and for how long', async () => {
    const { admin, connection } = service
    const oldest = (task: string) => metric(`registry_oldest_job_age_seconds{task="${task}"}`)
    assert.equal(await oldest('import'), undefined)
    const file = { type: 'Prices', mode: 'continue', fileName: 'prices.csv' }
    for (const text of ['a', 'b']) {
      const content = Buffer.from(text).toString('base64')
      const ordered = await admin.post('/Import', { ...file, content })
      assert.equal(ordered.status, 202, ordered.text)
    }
    const hooks = await Promise.all(
      ['https://one.example', 'https://two.example'].map((url) => admin.post('/Webhook', { url })),
    )
    const ids = hooks.map((made) => only(made).webhookID)
    for (const webhookID of ids)
      assert.equal((await admin.post('/Webhook/Test', { webhookID })).status, 200)
    await rowsOf(connection, `update import set queued_date = queued_date - interval '1 hour'`)
    await rowsOf(
      connection,
      `update webhook_delivery set next_date = next_date - interval '1 hour'`,
    )
    assert.equal(await metric('registry_jobs{task="import",state="ready"}'), 2)
    assert.equal(await metric('registry_jobs{task="webhook",state="ready"}'), 2)
    for (const task of ['import', 'webhook']) {
      const age = await oldest(task)
      assert.ok(age! >= 3600 && age! < 7200, `${task} ${age}`)
    }
    // One is being worked at, one to be tried again; what nobody takes any more does not wait.
    await rowsOf(
      connection,
      `update import set status = 'Running', lease = gen_random_uuid(), lease_date = now()
       where import_id = (select min(import_id) from import)`,
    )
    await rowsOf(
      connection,
      `update webhook_delivery set next_date = now() + interval '1 hour' where webhook_id = $1`,
      [ids[0]],
    )
    await rowsOf(connection, 'update webhook set is_active = false where webhook_id = $1', [ids[1]])
    assert.equal(await metric('registry_jobs{task="import",state="running"}'), 1)
    assert.equal(await metric('registry_jobs{task="import",state="ready"}'), 1)
    assert.equal(await metric('registry_jobs{task="webhook",state="later"}'), 1)
    assert.equal(await metric('registry_jobs{task="webhook",state="ready"}'), undefined)
  })

  it('tell when the last backup and the last verify were, and what verify found', async () => {
    assert.equal(await metric('registry_upkeep_age_seconds{task="backup"}'), undefined)
    const backup = await cli('backup', join(dataDir, 'backup'))
    assert.equal(backup.code, 0, backup.errors)
    const verified = await cli('verify')
    assert.equal(verified.code, 0, verified.output)
    for (const task of ['backup', 'verify']) {
      const age = await metric(`registry_upkeep_age_seconds{task="${task}"}`)
      assert.ok(age! >= 0 && age! < 3600, `${task} ${age}`)
    }
    assert.equal(await metric('registry_upkeep_found_rows{task="verify"}'), 0)
  })

  it('are answered without the database, and say that it does not answer', async () => {
    const config = readConfig({ REGISTRY_DATABASE_CONNECTIONS: '1' })
    const database = connect(config, service.connection, createLog('silent'))
    const register = new Registry()
    const refresh = gaugesOf(register, database)
    await refresh()
    assert.match(await register.metrics(), /^registry_database_up 1$/m)
    await database.close()
    await refresh()
    const text = await register.metrics()
    assert.match(text, /^registry_database_up 0$/m)
    assert.doesNotMatch(text, /^registry_jobs\{/m)
  })
})
