import type pg from 'pg'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { templateName } from '../support/database.ts'
import { ask, type Citus, type CitusServer } from './cluster.ts'

type Member = Pick<CitusServer, 'connection' | 'port'>
type Members = { coordinator: Member; workers: readonly Member[] }

/** The servers that test/citus/run.ts has started for the file that asks. */
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

/** An empty database on a server, which others may add to theirs. */
export async function createPart(server: Member, name: string) {
  await ask(server.connection, `create database ${name}`)
  await ask(at(server, name), 'create extension citus')
}

/** An empty database on every server, known to each other. */
export async function createDatabase(members: Members, name: string) {
  await ask(members.coordinator.connection, `create database ${name}`)
  await joinWorkers(members, name)
}

/** A database of the coordinator gets Citus, and empty ones of its name on the workers. */
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

/** Each has a daemon of Citus' own on every server, which would come back while it is dropped. */
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
