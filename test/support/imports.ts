import assert from 'node:assert/strict'
import { readConfig } from '../../src/config.ts'
import { startImports } from '../../src/integration/import/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Client } from './client.ts'
import { sendForm } from './files.ts'
import { until } from './process.ts'
import { bytesOf, registryOf } from './registry.ts'
import { encryptionKey, type Service } from './service.ts'

/** Starts an import worker for one test, in this process; returns how to stop it. */
export async function importFor({ connection }: Service, env: Record<string, string>) {
  const config = readConfig({ REGISTRY_ENCRYPTION_KEY: encryptionKey, ...env })
  const log = createLog(process.env.REGISTRY_TEST_LOG ?? 'silent')
  const database = connect(config, connection, log)
  const stop = await startImports({ config, connection, bell: database.bell, log })
  return async () => {
    await stop()
    await database.close()
  }
}

export type Terms = { type: string; mode: string; [more: string]: string | number | boolean }

/** Sends a file to import, as a browser does. */
export const sendFile = (client: Client, terms: Terms, content: string | Buffer, name = 'f.csv') =>
  sendForm(
    client,
    '/Import',
    Object.fromEntries(Object.entries(terms).map(([field, value]) => [field, String(value)])),
    { bytes: Buffer.from(content), name, type: 'application/octet-stream' },
  )

/** Waits for the end of an import, and returns it. */
export const endOf = (client: Client, importID: number) =>
  until(`import ${importID}`, async () => {
    const { data } = await registryOf(client).get('/Import', { ImportID: importID })
    return ['Queued', 'Running'].includes(data[0].status) ? undefined : data[0]
  })

/** Sends a file, waits for the end of its import, and returns it. */
export async function imported(
  client: Client,
  terms: Terms,
  content: string | Buffer,
  name = 'f.csv',
) {
  const file = new Blob([new Uint8Array(Buffer.from(content))])
  const { importID } = await registryOf(client).upload('/Import', terms, file, name)
  return endOf(client, importID)
}

export const errorsOf = (client: Client, { importID }: { importID: number }) =>
  bytesOf(client, '/Import/File', { ImportID: importID, Result: 'errors' })

export const lines = (...rows: (string | number)[][]) =>
  `${rows.map((cells) => cells.join(',')).join('\n')}\n`

export const transactionHead = [
  ...['operation', 'accountID', 'investmentID', 'transactionDate', 'quantity', 'amount'],
]
let sent = 0
/** A file of transactions that differs from all others, since the same file is not taken twice. */
export const transactionFile = (...rows: (string | number)[][]) =>
  `# file ${process.pid} ${++sent}\n${lines(transactionHead, ...rows)}`
export const depositRow = (
  { investmentID }: { investmentID: number },
  accountID: number,
  amount: string | number,
  day = '2026-01-10',
) => ['Deposit', accountID, investmentID, day, '', amount]

/** A file of investors named by their external ids, some with a parent. */
export const investorFile = (productID: number, rows: { id: string; parent?: string }[]) =>
  lines(
    [
      'externalBizEntityId,bizEntityTypeID,bizEntityStatusID,name,accounts.productID',
      'bizEntityParties.person.firstName,communications.communicationTypeID,communications.name',
      'bizEntityParents.parentExternalBizEntityId,bizEntityParents.activeFrom',
    ],
    ...rows.map(({ id, parent }) => [
      ...[id, 1, 1, `Investor ${id}`, productID, 'Ann', 'Email', `${id}@import.example`],
      ...[parent ?? '', parent ? '2026-01-01' : ''],
    ]),
  )

export const unitsIn = async (client: Client, accountID: number): Promise<number> => {
  const reply = await client.get(`/BizEntity/Account/Holdings?AccountID=${accountID}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.data[0]?.quantity ?? 0
}
