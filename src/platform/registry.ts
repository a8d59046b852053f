import type { ClientConfig } from 'pg'
import type { Config } from '../config.ts'
import { findEmbedded, startEmbedded } from './embedded/postgres.ts'
import type { Log } from './log.ts'
import { type Database, openDatabase } from './sql/handle.ts'
import { migrate } from './sql/migrate.ts'

/** The database server of this process: the one DATABASE_URL names, or our own. */
export type Server = { connection: ClientConfig; stop(): Promise<void> }

const leaveRunning = async () => {}

export async function startServer(config: Config, log: Log): Promise<Server> {
  if (config.databaseUrl)
    return { connection: { connectionString: config.databaseUrl }, stop: leaveRunning }
  return startEmbedded({
    dataDir: config.dataDir,
    onEvent: ({ level, message }) => log[level](message),
  })
}

/** For commands that work beside a running service: its database, else one of their own. */
export async function reachServer(config: Config, log: Log): Promise<Server> {
  const running = config.databaseUrl ? undefined : await findEmbedded(config.dataDir)
  return running ? { connection: running, stop: leaveRunning } : startServer(config, log)
}

export const serviceRole = 'registry_service'

export function connect(config: Config, connection: ClientConfig, log: Log): Database {
  return openDatabase({
    connection: { ...connection, application_name: 'registry' },
    role: serviceRole,
    connections: config.databaseConnections,
    prepareStatements: config.prepareStatements,
    onLostConnection: ({ message }) => log.warn({ message }, 'a database connection was lost'),
  })
}

export async function prepareSchema(connection: ClientConfig, log: Log) {
  const applied = await migrate(connection).catch((error) => {
    throw /^E[A-Z]+$/.test(error.code ?? '')
      ? new Error(`The database does not answer (${error.message}). See DATABASE_URL.`)
      : error
  })
  if (applied.length > 0) log.info({ applied }, 'migrated')
}
