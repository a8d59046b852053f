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
/** A mail server where nobody is: what is to be sent waits. */
export const mailNowhere = {
  REGISTRY_SMTP_URL: 'smtp://127.0.0.1:9',
  REGISTRY_SMTP_FROM: 'registry@example.com',
}
/** All nodes of a test share it, as they do the database. */
export const encryptionKey = Buffer.alloc(32, 7).toString('base64')

export type Service = {
  url: string
  connection: pg.ClientConfig
  /** Without a token. */
  anyone: Client
  admin: Client
  /** A new user with these rights, signed in. */
  userWith: (rights: object) => Promise<Client>
  stop: () => Promise<void>
}

/** The service as it is, on a port of its own and a real database of its own. */
export async function startService(
  env: Record<string, string> = {},
  connection?: pg.ClientConfig,
  /** The database as the service sees it. */
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
    await stop() // else the test file would wait for it for ever
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

/** A service for one test alone, which ends with it whatever its outcome. */
export async function withService(
  env: Record<string, string>,
  use: (service: Service) => Promise<void>,
  connection?: pg.ClientConfig,
) {
  const service = await startService(env, connection)
  await use(service).finally(service.stop)
}
