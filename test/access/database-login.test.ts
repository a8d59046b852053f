import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type pg from 'pg'
import { findEmbedded } from '../../src/platform/embedded/postgres.ts'
import { emptyDatabase, rowsOf, urlOf } from '../support/database.ts'
import { startNode } from '../support/node.ts'
import { runCli, temporaryFolder } from '../support/process.ts'
import { order } from '../support/reports.ts'

/** SQL statements that try to change the audit trail, or to gain the rights to do so. */
const attempts = [
  'update audit set username = null',
  'delete from audit',
  'truncate audit',
  'drop table audit',
  'alter table audit owner to current_user',
  'create rule quiet as on insert to audit do instead nothing',
  'set role postgres',
  'set session authorization postgres',
  'alter role current_user superuser',
  'create role helper superuser',
  'grant postgres to current_user',
  `copy (select 1) to program 'true'`,
  `select pg_read_file('PG_VERSION')`,
]

async function refusesAll(login: pg.ClientConfig) {
  for (const attempt of attempts)
    await assert.rejects(
      rowsOf(login, attempt),
      (error: { code: string }) => ['42501', '42809', '0A000'].includes(error.code),
      attempt,
    )
}

describe('The login of the service', () => {
  it('in the embedded database changes no audit record, nor becomes somebody who can', async () => {
    const env = { REGISTRY_DATA_DIR: temporaryFolder() }
    const registry = await startNode(undefined, env)
    try {
      const [product] = (await registry.admin.post('/Product', { name: 'Kept' })).data
      const register = { reportTypeID: 1, format: 'csv', productID: product.productID }
      assert.equal((await order(registry.admin, register)).reportStatusID, 3)
      const { connection, service } = (await findEmbedded(env.REGISTRY_DATA_DIR))!
      assert.ok((await rowsOf(service, 'select from audit')).length > 0)
      await refusesAll(service)
      const logins = `select distinct usename::text as name from pg_stat_activity
        where application_name in ('registry', 'registry-queue')`
      assert.deepEqual(await rowsOf(connection, logins), [{ name: 'registry_app' }])
      const { output } = await runCli(['check'], env)
      assert.match(output, /^ok +audit +append only$/m)
    } finally {
      await registry.stop()
    }
  })

  it('is made for a data folder that knew none, and works as before', async () => {
    const env = { REGISTRY_DATA_DIR: temporaryFolder() }
    const first = await startNode(undefined, env)
    try {
      const { connection } = (await findEmbedded(env.REGISTRY_DATA_DIR))!
      await rowsOf(
        connection,
        `drop policy workers on graphile_worker._private_jobs;
         revoke all on all tables in schema graphile_worker from registry_service;
         revoke all on schema graphile_worker from registry_service;
         alter role registry_app nologin password null; revoke registry_service from registry_app`,
      )
    } finally {
      await first.stop()
    }
    rmSync(join(env.REGISTRY_DATA_DIR, 'keys', 'service-password'))
    const second = await startNode(undefined, env)
    try {
      assert.equal((await second.admin.post('/Product', { name: 'After' })).status, 200)
      const { service } = (await findEmbedded(env.REGISTRY_DATA_DIR))!
      await refusesAll(service)
      assert.ok(Array.isArray(await rowsOf(service, 'select from graphile_worker._private_jobs')))
    } finally {
      await second.stop()
    }
  })

  it('is apart from the owner where that one is named, and check says so', async () => {
    const owner = await emptyDatabase()
    const login = `service_${owner.database}`
    await rowsOf(owner, `create role ${login} login password 'of the service'`)
    const service = { ...owner, user: login, password: 'of the service' }
    const env = {
      DATABASE_URL: urlOf(service),
      REGISTRY_MIGRATION_DATABASE_URL: urlOf(owner),
      REGISTRY_DATA_DIR: temporaryFolder(),
    }
    const node = await startNode(service, env)
    try {
      assert.equal((await node.admin.post('/Product', { name: 'Apart' })).status, 200)
      await refusesAll(service)
      const apart = await runCli(['check'], env)
      assert.match(apart.output, /^ok +audit +append only$/m)
    } finally {
      await node.stop()
    }
    const together = await runCli(['check'], { DATABASE_URL: urlOf(owner) })
    assert.match(
      together.output,
      /^note +audit +append only for registry_service, but not .*superuser/m,
    )
    await rowsOf(owner, `alter table audit owner to ${login}`)
    const owning = await runCli(['check'], env)
    assert.match(owning.output, new RegExp(`^note +audit .*${login} owns it`, 'm'))
  })
})
