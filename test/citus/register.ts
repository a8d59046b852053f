import { join } from 'node:path'
import type pg from 'pg'
import { atEnd, type Node, startNode } from '../failover/processes.ts'
import { ask } from './cluster.ts'

export const [username, password] = ['admin', 'a password for a drill']

/** Starts the service on a database of the cluster; it ends with this process. */
export async function startRegister(
  folder: string,
  { port, database }: pg.ClientConfig,
): Promise<Node> {
  const databaseUrl = `postgres://postgres@127.0.0.1:${port}/${database}`
  const dataDir = join(folder, `service-${port}-${database}`)
  const node = await startNode({ dataDir, databaseUrl, username, password })
  atEnd(() => node.process.signal('SIGKILL'))
  return node
}

/** Counts the keys that are the comment of no transaction, and those of more than one. */
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
