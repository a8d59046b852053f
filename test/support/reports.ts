import assert from 'node:assert/strict'
import { readAbsentCaller } from '../../src/access/caller/absent.ts'
import { readConfig } from '../../src/config.ts'
import { startWorker, type WorkerOptions } from '../../src/operations/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Client } from './client.ts'
import { until } from './process.ts'
import { bytesOf, registryOf } from './registry.ts'
import { encryptionKey, type Service } from './service.ts'

/** Starts a worker for one test, in this process; returns how to stop it. */
export async function workFor(
  { connection }: Service,
  env: Record<string, string>,
  more: Pick<WorkerOptions, 'mailPatience'> = {},
) {
  const config = readConfig({
    REGISTRY_DATABASE_CONNECTIONS: '5',
    REGISTRY_ENCRYPTION_KEY: encryptionKey,
    ...env,
  })
  const log = createLog(process.env.REGISTRY_TEST_LOG ?? 'silent')
  const database = connect(config, connection, log)
  const actorOf: WorkerOptions['actorOf'] = (who) => readAbsentCaller(database, who)
  const stop = await startWorker({ config, connection, database, actorOf, log, ...more })
  return async () => {
    await stop()
    await database.close()
  }
}

/** Orders a report and waits for its end. */
export async function order(client: Client, body: object) {
  const ordered = await registryOf(client).post('/Report', body)
  assert.equal(ordered.reportStatusID, 1)
  return ended(client, ordered.reportID)
}

export const ended = (client: Client, reportID: number) =>
  until(`report ${reportID}`, async () => {
    const { data } = await registryOf(client).get('/Report/Status', { ReportID: reportID })
    return data.reportStatusID > 2 ? data : undefined
  })

/** Orders a report that must succeed, and returns its bytes. */
export async function fileOf(client: Client, body: object): Promise<Buffer> {
  const { reportID, reportStatusID, errorMessage } = await order(client, body)
  assert.equal(reportStatusID, 3, errorMessage)
  return bytesOf(client, '/Report/File', { ReportID: reportID })
}

/** The cells of a CSV, by the rules of RFC 4180. */
export function cellsOf(csv: Buffer): string[][] {
  // Without this mark Excel reads the text in another encoding.
  if (csv.subarray(0, 3).toString('hex') !== 'efbbbf') throw new Error('no byte order mark')
  const text = csv.subarray(3).toString()
  const rows: string[][] = [[]]
  for (const match of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (match.index === text.length) break
    rows.at(-1)!.push(match[1]?.replaceAll('""', '"') ?? match[2]!)
    if (match[3] === '\r\n') rows.push([])
  }
  return rows.filter((row) => row.length > 0)
}
