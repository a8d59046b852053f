import { findEmbedded } from '../../src/platform/embedded/postgres.ts'
import { type Client, clientOf } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Program, startRegistry, temporaryFolder, until } from '../support/process.ts'
import { adminPassword } from '../support/service.ts'

/** The service as `npm start` runs it: with one data folder and a durable embedded database. */
export type Registry = {
  dataDir: string
  program: () => Program
  client: () => Client
  connection: () => ReturnType<typeof connectionOf>
  start: () => Promise<void>
  stop: () => Promise<void>
  restart: () => Promise<void>
  /** Waits until the service and its database answer; starts the service if it was killed. */
  recover: () => Promise<void>
}

const connectionOf = async (dataDir: string) => {
  const connection = (await findEmbedded(dataDir))?.connection
  if (!connection) throw new Error(`There is no database on ${dataDir}.`)
  return connection
}

export function registryOn(dataDir = temporaryFolder()): Registry {
  let program: Awaited<ReturnType<typeof startRegistry>>
  let client: Client
  const start = async () => {
    program = await startRegistry({
      REGISTRY_DATA_DIR: dataDir,
      REGISTRY_ADMIN_USERNAME: 'admin',
      REGISTRY_ADMIN_PASSWORD: adminPassword,
    })
    await signIn()
  }
  const stop = async () => {
    program.kill('SIGINT')
    await program.exited
  }
  const signIn = async () => {
    client = await clientOf(program.url).signIn('admin', adminPassword)
  }
  return {
    dataDir,
    program: () => program,
    client: () => client,
    connection: () => connectionOf(dataDir),
    start,
    stop,
    restart: () => stop().then(start),
    recover: async () => {
      if (!program.isUp()) return start()
      // A new token each time, so that a run may take longer than one lasts.
      await until('the service to be well again', async () => {
        if (!program.isUp()) throw new Error(`The service ended: ${program.errors()}`)
        const { status } = await client.get('/Common/HealthCheck').catch(() => ({ status: 0 }))
        return (
          status === 200 &&
          signIn().then(
            () => true,
            () => false,
          )
        )
      })
    },
  }
}

/** Delays commits, so that more faults strike between the call of a commit and its end. */
export async function stretchCommits(registry: Registry) {
  const connection = await registry.connection()
  await rowsOf(connection, 'alter database registry set commit_siblings = 0')
  await rowsOf(connection, 'alter database registry set commit_delay = 30000') // microseconds
  await registry.restart()
}

/**
 * For the control run: commits are confirmed before they are on disk, and the process that writes
 * them there sleeps. Settings of the server cannot override the durable ones that we start it with,
 * so synchronous_commit is set on the database.
 */
export async function weakenCommits(registry: Registry) {
  const connection = await registry.connection()
  const run = (text: string) => rowsOf(connection, text)
  await run('alter database registry set synchronous_commit = off')
  await run(`alter system set wal_writer_delay = '10s'`)
  await run(`alter system set wal_writer_flush_after = '1GB'`)
  await registry.restart()
}
