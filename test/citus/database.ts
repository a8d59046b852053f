import type pg from 'pg'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { templateName } from '../support/database.ts'
import { ask, type Citus, type CitusServer } from './cluster.ts'

type Member = Pick<CitusServer, 'connection' | 'port'>
type Members = { coordinator: Member; workers: readonly Member[] }

/** The servers that test/citus/run.ts has started for this test file. */
export function serversOfRun(): Members {
  const [server, ...workers]: CitusServer['connection'][] = [
    JSON.parse(process.env.REGISTRY_TEST_SERVER ?? ''),
    ...JSON.parse(process.env.REGISTRY_TEST_WORKERS ?? '[]'),
  ]
  const member = (connection: CitusServer['connection']) => ({ connection, port: connection.port })
  return { coordinator: member(server!), workers: workers.map(member) }
}

export const serversOf = ({ coordinator, workers }: Citus) => [coordinator, ...workers]

const at = ({ connection }: Member, database: string): pg.ClientConfig => ({
  ...connection,
  database,
})

/** Creates an empty database on a server, which can become part of a cluster. */
export async function createPart(server: Member, name: string) {
  await ask(server.connection, `create database ${name}`)
  await ask(at(server, name), 'create extension citus')
}

/** Creates an empty database on every server, and makes the databases one cluster. */
export async function createDatabase(members: Members, name: string) {
  await ask(members.coordinator.connection, `create database ${name}`)
  await joinWorkers(members, name)
}

/** Adds Citus to a database of the coordinator, with empty databases of its name on the workers. */
export async function joinWorkers({ coordinator, workers }: Members, name: string) {
  for (const server of workers) await createPart(server, name)
  await ask(
    at(coordinator, name),
    'create extension citus',
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
    ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
  )
}

/**
 * Creates the distributed schema that tests clone. Citus keeps its metadata in the database itself,
 * so clones with the same name on every server form a new cluster. Nobody may be connected to a
 * database that is cloned, and that includes Citus' own daemon.
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

/**
 * Drops the databases of tests. Connections are forbidden first: Citus has a daemon in each
 * database, which would reconnect while the database is dropped.
 */
export async function dropTestDatabases(citus: Citus) {
  for (const { connection } of serversOf(citus)) {
    const rows = await ask(connection, `select datname from pg_database where datname ~ '^test_'`)
    for (const { datname } of rows)
      await ask(
        connection,
        `alter database ${datname} with allow_connections false`,
        `drop database ${datname} with (force)`,
      )
  }
}
