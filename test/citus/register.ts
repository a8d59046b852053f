import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { atEnd, type Started, start, until } from '../failover/processes.ts'
import { ask } from './cluster.ts'

export const [username, password] = ['admin', 'a password for a drill']

export type Register = { url: string; process: Started }

/** The built service in a process of its own, on a database that is migrated. */
export async function startRegister(
  folder: string,
  { port, database }: pg.ClientConfig,
): Promise<Register> {
  const dataDir = join(folder, `service-${port}-${database}`)
  mkdirSync(dataDir, { recursive: true })
  const log = `${dataDir}.log`
  const service = start({
    file: process.execPath,
    args: ['dist/main.js'],
    log,
    env: {
      PORT: '0',
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/${database}`,
      REGISTRY_DATA_DIR: dataDir,
      REGISTRY_LOG_LEVEL: 'warn',
      REGISTRY_JWT_SECRET: 'a secret that nodes share, for a drill',
      REGISTRY_ENCRYPTION_KEY: Buffer.alloc(32, 'k').toString('base64'),
      REGISTRY_ADMIN_USERNAME: username,
      REGISTRY_ADMIN_PASSWORD: password,
    },
  })
  atEnd(() => service.signal('SIGKILL'))
  const url = await until('the service', () => {
    const said = readFileSync(log, { encoding: 'utf8', flag: 'a+' })
    if (!service.isUp()) throw new Error(`The service ended: ${said}`)
    return /API +(http\S+)/.exec(said)?.[1]
  })
  return { url, process: service }
}

/** Every key that was sent must be in the ledger by now, once: it stands in the comment. */
export async function counted(database: pg.ClientConfig, keys: readonly string[]) {
  await ask(database, 'select recover_prepared_transactions()')
  const rows = await ask(database, 'select comment from biz_transaction')
  const times = new Map<unknown, number>()
  for (const { comment } of rows) times.set(comment, (times.get(comment) ?? 0) + 1)
  return {
    lost: keys.filter((key) => !times.has(key)).length,
    doubled: keys.filter((key) => (times.get(key) ?? 0) > 1).length,
  }
}
