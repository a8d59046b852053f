import type pg from 'pg'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { templateName } from '../support/database.ts'
import { ask, type Citus, type CitusServer } from './cluster.ts'

export const serversOf = ({ coordinator, workers }: Citus) => [coordinator, ...workers]

const at = ({ connection }: CitusServer, database: string): pg.ClientConfig => ({
  ...connection,
  database,
})

/** An empty database on every server, known to each other. */
export async function createDatabase(citus: Citus, name: string) {
  const { coordinator, workers } = citus
  for (const server of serversOf(citus)) {
    await ask(server.connection, `create database ${name}`)
    await ask(at(server, name), 'create extension citus')
  }
  await ask(
    at(coordinator, name),
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
    ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
  )
}

/**
 * The schema, spread, for tests to clone. What Citus knows of a database stands in the database, so
 * that copies of the same name on every server are a cluster of their own. Nobody may be connected
 * to what is copied, Citus' own daemon included.
 */
export async function createTemplate(citus: Citus) {
  await createDatabase(citus, templateName)
  const connection = at(citus.coordinator, templateName)
  await migrate(connection)
  await distribute(connection)
  for (const { connection: own } of serversOf(citus))
    await ask(
      own,
      `alter database ${templateName} with allow_connections false`,
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = '${templateName}'`,
    )
}

/** Each database of a test has a daemon of Citus' own on every server. */
export async function dropTestDatabases(citus: Citus) {
  for (const { connection } of serversOf(citus)) {
    const rows = await ask(connection, `select datname from pg_database where datname ~ '^test_'`)
    for (const { datname } of rows)
      await ask(connection, `drop database if exists ${datname} with (force)`)
  }
}
