import { readAbsentCaller } from './access/caller/absent.ts'
import { ConfigError, readConfig, unknownWords } from './config.ts'
import { startImports } from './integration/import/worker.ts'
import { startWebhooks } from './integration/webhook/worker.ts'
import { secretFields } from './operations/secret-fields.ts'
import { startWorker, type WorkerOptions } from './operations/worker.ts'
import { findEmbedded } from './platform/embedded/postgres.ts'
import { createLog } from './platform/log.ts'
import { connect, givenConnections, prepareSchema, refuseOutdated } from './platform/registry.ts'
import { adviceOn } from './platform/sql/advice.ts'
import { workersName } from './platform/sql/running.ts'

/**
 * A process for background work: reports, investor statements by e-mail, stages of distributions,
 * imports, webhooks. Start it with `npm run worker`, any number of times, on any machine.
 */
async function start() {
  const config = readConfig()
  const log = createLog(config.logLevel, { secrets: secretFields })
  if (config.unknown.length > 0) process.stderr.write(`${unknownWords(config.unknown)}\n`)
  const server = givenConnections(config) ?? (await findEmbedded(config.dataDir))
  if (!server) throw new Error('there is no DATABASE_URL, and no service runs on this data folder.')
  // An embedded database is migrated only by the service that owns its data folder.
  await (config.databaseUrl ? prepareSchema(server, log) : refuseOutdated(server))
  const { service: connection } = server
  const database = connect(config, connection, log)
  // held before any work begins, so that no starting node migrates the schema under this worker
  await database.bell.hold(workersName)
  const actorOf: WorkerOptions['actorOf'] = (who) => readAbsentCaller(database, who)
  const stopWorker = await startWorker({ config, connection, database, actorOf, log })
  const stopImports = await startImports({ config, connection, bell: database.bell, log })
  const stopWebhooks = startWebhooks(config, database, log)
  stopOnSignal(async () => {
    await Promise.all([stopWorker(), stopImports(), stopWebhooks()])
    await database.close()
  })
  process.stdout.write('Registry Platform: making reports, working at imports and webhooks\n')
}

/** In milliseconds: long enough to finish a report or to return its job to the queue. */
const patience = 8_000

function stopOnSignal(stop: () => Promise<void>) {
  let begun = false
  const leave = async () => {
    if (begun) return
    begun = true
    setTimeout(() => process.exit(0), patience).unref()
    await stop()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, leave)
}

start().catch((error: Error) => {
  const words = `Cannot start: ${adviceOn(error) ?? error.message}`
  process.stderr.write(`${error instanceof ConfigError ? error.message : words}\n`)
  process.exit(1)
})
