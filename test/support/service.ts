import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { createFirstUser } from '../../src/access/user/first-user.ts'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Database } from '../../src/platform/sql/handle.ts'
import { type Client, clientOf } from './client.ts'
import { freshDatabase } from './database.ts'
import { unique } from './investors.ts'

export const adminPassword = 'a password for tests'
/** Settings with a mail server that does not exist, so that letters wait to be sent. */
export const mailNowhere = {
  REGISTRY_SMTP_URL: 'smtp://127.0.0.1:9',
  REGISTRY_SMTP_FROM: 'registry@example.com',
}
/** All nodes of a test share this key, as they share the database. */
export const encryptionKey = Buffer.alloc(32, 7).toString('base64')

export type Service = {
  url: string
  connection: pg.ClientConfig
  /** A client without a token. */
  anyone: Client
  admin: Client
  /** Creates a user with these rights, and returns a client signed in as this user. */
  userWith: (rights: object) => Promise<Client>
  stop: () => Promise<void>
}

/** Starts the service in this process, on its own port and, if none is given, its own database. */
export async function startService(
  env: Record<string, string> = {},
  connection?: pg.ClientConfig,
  /** Wraps the database handle that the service gets. */
  seen: (database: Database) => Database = (database) => database,
): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'registry-test-'))
  const own = connection ?? (await freshDatabase())
  const config = readConfig({
    PORT: '0',
    REGISTRY_DATA_DIR: dataDir,
    REGISTRY_LOG_LEVEL: 'silent',
    REGISTRY_JWT_SECRET: 'a secret that all nodes of a test share',
    REGISTRY_ENCRYPTION_KEY: encryptionKey,
    REGISTRY_ADMIN_USERNAME: 'admin',
    REGISTRY_ADMIN_PASSWORD: adminPassword,
    REGISTRY_DATABASE_CONNECTIONS: '5',
    ...env,
  })
  const log = createLog(config.logLevel)
  const database = connect(config, own, log)
  await createFirstUser(database, { username: config.adminUsername, password: adminPassword })
  const app = await buildApp(config, seen(database), log)
  const url = await app.listen({ host: config.host, port: 0 })
  const anyone = clientOf(url)
  const stop = async () => {
    await app.close()
    await database.close()
    rmSync(dataDir, { recursive: true })
  }
  const admin = await anyone.signIn('admin', adminPassword).catch(async (error) => {
    await stop() // otherwise the open server would keep the test file from ending
    throw error
  })

  return {
    url,
    connection: own,
    anyone,
    admin,
    userWith: async (rights) => {
      const username = unique('user')
      const created = await admin.post('/User', { username, password: adminPassword, ...rights })
      if (created.status !== 200) throw new Error(created.text)
      return anyone.signIn(username, adminPassword)
    },
    stop,
  }
}

/** Runs a service for one test, and stops it whatever the outcome. */
export async function withService(
  env: Record<string, string>,
  use: (service: Service) => Promise<void>,
  connection?: pg.ClientConfig,
) {
  const service = await startService(env, connection)
  await use(service).finally(service.stop)
}
