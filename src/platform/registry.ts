import type { ClientConfig } from 'pg'
import type { Config } from '../config.ts'
import { findEmbedded, startEmbedded } from './embedded/postgres.ts'
import type { Log } from './log.ts'
import { codeOf, readOnly } from './sql/away.ts'
import { type Database, openDatabase } from './sql/handle.ts'
import { admitService, migrate, pendingMigrations, serviceRole } from './sql/migrate.ts'

/**
 * The database server of this process: the one DATABASE_URL names, or an embedded one. `connection`
 * is the owner's, for migrations; `service` is the login that serves all requests.
 */
export type Server = { connection: ClientConfig; service: ClientConfig; stop(): Promise<void> }

const leaveRunning = async () => {}

/**
 * The connections to the database that DATABASE_URL names; the owner's may be configured
 * separately.
 */
export const givenConnections = ({ databaseUrl, migrationDatabaseUrl }: Config) =>
  databaseUrl === undefined
    ? undefined
    : {
        connection: { connectionString: migrationDatabaseUrl ?? databaseUrl },
        service: { connectionString: databaseUrl },
      }

export async function startServer(config: Config, log: Log): Promise<Server> {
  const given = givenConnections(config)
  if (given) return { ...given, stop: leaveRunning }
  return startEmbedded({
    dataDir: config.dataDir,
    onEvent: ({ level, message }) => log[level](message),
  })
}

/** For commands that may run beside the service: its running database, otherwise one they start. */
export async function reachServer(config: Config, log: Log): Promise<Server> {
  const running = config.databaseUrl ? undefined : await findEmbedded(config.dataDir)
  return running ? { ...running, stop: leaveRunning } : startServer(config, log)
}

export function connect(config: Config, connection: ClientConfig, log: Log): Database {
  return openDatabase({
    connection: { ...connection, application_name: 'registry' },
    standbys: config.readDatabaseUrls.map((connectionString) => ({
      connectionString,
      application_name: 'registry',
    })),
    role: serviceRole,
    connections: config.databaseConnections,
    prepareStatements: config.prepareStatements,
    onLostConnection: ({ message }) => log.warn({ message }, 'a database connection was lost'),
  })
}

export async function prepareSchema(server: Omit<Server, 'stop'>, log: Log) {
  const applied = await migrate(server.connection).catch((error) => {
    throw new Error(whyNotMigrated(error), { cause: error })
  })
  if (applied.length > 0) log.info({ applied }, 'migrated')
  await admitService(server)
}

/**
 * Throws if migrations are pending: a command that runs beside the service must not migrate the
 * database under it.
 */
export async function refuseOutdated({ connection }: Pick<Server, 'connection'>) {
  const pending = await pendingMigrations(connection)
  if (pending.length > 0)
    throw new Error(`The database lacks ${pending.join(', ')}. Run the command migrate first.`)
}

/** A right is missing: PostgreSQL names the object, and not what an operator can do about it. */
const notPermitted = '42501'

function whyNotMigrated(error: Error): string {
  if (/^E[A-Z]+$/.test(codeOf(error)))
    return `The database does not answer (${error.message}). See DATABASE_URL.`
  if (codeOf(error) === notPermitted)
    return (
      `The login may not migrate the database (${error.message}). Its owner does: ` +
      'alter database … owner to …, or name its owner in REGISTRY_MIGRATION_DATABASE_URL.'
    )
  if (codeOf(error) === readOnly)
    return (
      `The database is read only (${error.message}): a standby, or set so by ` +
      'default_transaction_read_only. A node starts on one that takes writes. See DATABASE_URL.'
    )
  return error.message
}
