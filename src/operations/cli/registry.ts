import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Config, readConfig } from '../../config.ts'
import type { Actor } from '../../platform/actor.ts'
import { clusterFolder } from '../../platform/embedded/cluster.ts'
import { type EventType, resourceOfEvent } from '../../platform/event-types.ts'
import { createLog } from '../../platform/log.ts'
import { permissions, type Resource } from '../../platform/permission.ts'
import { connect, reachServer, refuseOutdated, type Server } from '../../platform/registry.ts'
import type { Database, Tx } from '../../platform/sql/handle.ts'
import { unitOfWork, type Written } from '../../platform/sql/unit-of-work.ts'

/**
 * The actor of commands, with all rights: whoever can start a command holds the database's
 * password.
 */
export const operator: Actor = {
  userID: 0,
  username: 'cli',
  sessionID: 'cli',
  permissions: new Set(permissions),
  productIDs: null,
}

export const say = (line: string) => process.stdout.write(`${line}\n`)

/** Whether the output is still read: `head` in a pipe, for example, leaves when it has enough. */
export const isHeard = () => !isLeft
let isLeft = false
// The command goes on when nobody reads its output: a backup is no worse for it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  isLeft = true
})

// A command reports through its output; nobody needs the log of a short-lived database.
const log = createLog('silent')

/** Whether the embedded database does not exist yet; only the start and `migrate` may create it. */
export const isMissing = ({ databaseUrl, dataDir }: Config) =>
  databaseUrl === undefined && !existsSync(clusterFolder(dataDir))

/** Uses the server of the running service, or one started for this command alone. */
export async function withServer<T>(
  config: Config,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await reachServer(config, log)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** Does a write from the command line in a unit of work, audited like every other write. */
export async function write(
  command: string,
  event: EventType,
  work: (tx: Tx) => Promise<Written>,
): Promise<void> {
  const door = doorOf(command, resourceOfEvent.get(event)!)
  await withDatabase(readConfig(), (database) => unitOfWork(database, { ...door, event }, work))
}

/** The unit of work's particulars for a command, as the audit trail shows them. */
export const doorOf = (command: string, resource: Resource) => ({
  event: null,
  userID: null,
  username: operator.username,
  operation: `cli ${command}`,
  resource,
  requestID: randomUUID(),
})

/** Uses the database under the service's own role, for commands that run beside the service. */
export async function withDatabase<T>(
  config: Config,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  if (isMissing(config))
    throw new Error(`There is no database in ${config.dataDir} yet. Run the command migrate first.`)
  return withServer(config, async (server) => {
    await refuseOutdated(server)
    return onDatabase(config, server, use)
  })
}

export async function onDatabase<T>(
  config: Config,
  { service }: Server,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = connect(config, service, log)
  return use(database).finally(() => database.close())
}
