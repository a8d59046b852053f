import { setTimeout as sleep } from 'node:timers/promises'
import { signerOf } from './access/audit/signer.ts'
import { readAbsentCaller } from './access/caller/absent.ts'
import { createFirstUser, type FirstUser, wrongFirstName } from './access/user/first-user.ts'
import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig, unknownWords } from './config.ts'
import { startImports } from './integration/import/worker.ts'
import { startWebhooks } from './integration/webhook/worker.ts'
import { openDemo } from './operations/demo/open.ts'
import { startMaintenance } from './operations/maintenance.ts'
import { secretFields } from './operations/secret-fields.ts'
import { keepWarm, warmUp } from './operations/warm-up.ts'
import { startWorker } from './operations/worker.ts'
import { createLog, type Log } from './platform/log.ts'
import { connect, prepareSchema, startServer } from './platform/registry.ts'
import { adviceOn } from './platform/sql/advice.ts'
import { clockOffNow } from './platform/sql/clock.ts'
import type { Database } from './platform/sql/handle.ts'
import { connectionsOfNode, lackOfRoom, type Room, roomStatement } from './platform/sql/room.ts'
import { version } from './version.ts'

/** How long requests in flight may take to finish after a stop signal, in milliseconds. */
const patience = 8_000
/**
 * How long the node still serves after a stop signal, in milliseconds, while its health check sends
 * callers elsewhere and every answer closes its connection. Closing the port at once would cut off
 * requests that are just arriving.
 */
const farewell = 1_000

async function start() {
  const config = readConfig()
  const log = createLog(config.logLevel, { secrets: secretFields })
  if (config.unknown.length > 0) process.stderr.write(`${unknownWords(config.unknown)}\n`)
  const server = await startServer(config, log)
  const told = new AbortController()
  const stopping: (() => unknown)[] = [() => server.stop()]
  try {
    await prepareSchema(server, log)
    const database = connect(config, server.service, log)
    stopping.unshift(() => database.close())
    await warnOfLittleRoom(config, database, log)
    await warnOfClock(database, log)
    await refuseFirstName(config, database)
    const signer = signerOf(config)
    const app = await buildApp(config, database, log, told.signal)
    const stopWorker = config.worker
      ? await startWorker({
          config,
          connection: server.service,
          database,
          actorOf: (who) => readAbsentCaller(database, who),
          log,
        })
      : () => {}
    const stopImports = config.worker
      ? await startImports({ config, connection: server.service, bell: database.bell, log })
      : () => {}
    const stopWebhooks = config.worker ? startWebhooks(config, database, log) : () => {}
    stopping.unshift(startMaintenance(database, { ...config, signer }, log), () =>
      Promise.all([app.close(), stopWorker(), stopImports(), stopWebhooks()]),
    )
    await warmUp(database)
    stopping.unshift(keepWarm(database))
    const { host, port } = config
    const address = await app.listen({ host, port }).catch(refuseAddress)
    tell(`Registry Platform ${version}`)
    const { adminUsername: username, adminPassword: password } = config
    await createFirstUser(database, { username, password }, tellFirstUser)
    if (config.demo) await fillEmpty(config, database, log)
    // before the addresses are printed: a reader of them may stop us at once
    stopOnSignal(told, stopping)
    tell(
      `  Console    ${address}/console/`,
      `  API        ${address}`,
      `  Reference  ${address}/docs`,
      `  Sign in    POST ${address}/User/Login`,
    )
  } catch (error) {
    told.abort() // requests that wait for something to happen stop waiting
    for (const stop of stopping) await stop()
    throw error
  }
}

function refuseAddress(error: NodeJS.ErrnoException): never {
  const advice = adviceOnAddress[error.code ?? ''] ?? 'see HOST and PORT'
  throw new Error(`${error.message}; ${advice}`, { cause: error })
}

const adviceOnAddress: Record<string, string> = {
  EADDRINUSE: 'set PORT to another',
  EACCES: 'set PORT to 1024 or above, or let the user of the service take lower ones',
  EADDRNOTAVAIL: 'set HOST to an address of this machine',
  ENOTFOUND: 'set HOST to an address of this machine',
}

/** Warns at the start: otherwise refused connections would show only under load. */
async function warnOfLittleRoom(config: Config, { query }: Database, log: Log) {
  const [room] = await query<Room>(roomStatement)
  const message = room && lackOfRoom(room, connectionsOfNode(config))
  if (message) log.warn({ message }, 'the database may run out of connections')
}

/**
 * Warns if the clocks differ: a time limit checked by two clocks ends too early on one node and too
 * late on another.
 */
async function warnOfClock(database: Database, log: Log) {
  const message = await clockOffNow(database)
  if (message) log.warn({ message }, 'the clocks are not in step')
}

/**
 * Refuses an unusable first username, but only in a registry without users, where it would be used.
 */
async function refuseFirstName({ adminUsername }: Config, database: Database) {
  const words = await wrongFirstName(database, adminUsername)
  if (words) throw new ConfigError(`Configuration: REGISTRY_ADMIN_USERNAME ${words}.`)
}

const tell = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`)

function tellFirstUser({ username, password, generated }: FirstUser) {
  if (!generated) return tell(`  First user ${username}, with the password you set`)
  return tell(
    `  First user ${username}, password ${password}`,
    '             (shown this once; change it with PUT /User/Password)',
  )
}

/** Fills an empty registry with a demonstration; a registry with data stays unchanged. */
async function fillEmpty(config: Config, database: Database, log: ReturnType<typeof createLog>) {
  const users = await openDemo(config, database, (line) => log.info({ line }, 'demonstration'))
  if (users)
    tell(
      `  Demo users ${users.usernames.join(', ')}, password ${users.password}`,
      '             (shown this once)',
    )
}

/**
 * Stops the node: sends callers elsewhere, stops accepting, lets requests in flight finish, and
 * exits within ten seconds. Ctrl-C comes from a person at a terminal, so it does not wait for a
 * balancer.
 */
function stopOnSignal(told: AbortController, stopping: (() => unknown)[]) {
  const stop = async (signal: NodeJS.Signals) => {
    if (told.signal.aborted) return
    told.abort()
    setTimeout(() => process.exit(0), patience).unref()
    if (signal === 'SIGTERM') await sleep(farewell)
    for (const step of stopping) await step()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
}

start().catch((error: Error) => {
  const words = `Cannot start: ${adviceOn(error) ?? error.message}`
  process.stderr.write(`${error instanceof ConfigError ? error.message : words}\n`)
  process.exit(1)
})
