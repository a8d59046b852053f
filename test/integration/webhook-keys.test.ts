import assert from 'node:assert/strict'
import { it } from 'node:test'
import type pg from 'pg'
import { verifyWebhook } from '../../client/src/index.ts'
import { readConfig } from '../../src/config.ts'
import { startWebhooks } from '../../src/integration/webhook/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import { freshDatabase, urlOf } from '../support/database.ts'
import { only } from '../support/ledger.ts'
import { runCli, startWorker, temporaryFolder, until } from '../support/process.ts'
import { type Got, withReceiver } from '../support/receiver.ts'
import { type Service, withService } from '../support/service.ts'

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64')

/** Runs a node with these keys that also sends webhooks. */
async function withNode(
  connection: pg.ClientConfig,
  [current, ...previous]: [number, ...number[]],
  use: (service: Service) => Promise<void>,
) {
  const env = { ...keysOf(current, ...previous), REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true' }
  const [config, log] = [readConfig(env), createLog('silent')]
  const database = connect(config, connection, log)
  const stop = startWebhooks(config, database, log)
  await withService(env, use, connection).finally(async () => {
    await stop()
    await database.close()
  })
}

const keysOf = (current: number, ...previous: number[]) => ({
  REGISTRY_ENCRYPTION_KEY: key(current),
  REGISTRY_PREVIOUS_ENCRYPTION_KEYS: previous.map(key).join(','),
})

const isSigned = ({ headers, body }: Pick<Got, 'headers' | 'body'>, secret: string) =>
  verifyWebhook(body, new Headers(headers as Record<string, string>), secret)

it('Webhooks are served on after a change of the encryption key, without the old one', async () => {
  const connection = await freshDatabase()
  const place = { DATABASE_URL: urlOf(connection), REGISTRY_DATA_DIR: temporaryFolder() }
  await withReceiver(async ({ url, got }) => {
    let [before, after] = ['', '']
    await withNode(connection, [1], async ({ admin }) => {
      const hook = only(await admin.post('/Webhook', { url, types: ['product.created'] }))
      const { webhookID } = hook
      before = hook.secret
      after = only(await admin.post('/Webhook/RotateSecret', { webhookID })).secret
    })
    const rotated = await runCli(['rotate-encryption-key'], { ...place, ...keysOf(2, 1) })
    assert.match(rotated.output, /^Sealed 2 secrets of webhooks/m, rotated.errors)
    const again = await runCli(['rotate-encryption-key'], { ...place, ...keysOf(2, 1) })
    assert.doesNotMatch(again.output, /webhooks/, again.errors)
    await withNode(connection, [2], async ({ admin }) => {
      await admin.post('/Product', { name: 'Growth' })
      const first = await until('the event', () => got[0])
      for (const secret of [before, after]) assert.ok(await isSigned(first, secret))
    })
  })
})

it('A webhook whose secret does not open says so, and a new secret mends it at once', async () => {
  const connection = await freshDatabase()
  const place = { DATABASE_URL: urlOf(connection), REGISTRY_DATA_DIR: temporaryFolder() }
  await withReceiver(async ({ url, got }) => {
    let webhookID = 0
    await withNode(connection, [1], async ({ admin }) => {
      webhookID = only(await admin.post('/Webhook', { url })).webhookID
    })
    const rotated = await runCli(['rotate-encryption-key'], { ...place, ...keysOf(2) })
    assert.equal(rotated.code, 1)
    assert.match(rotated.errors, /webhooks 1 could not be decrypted\. .*_PREVIOUS_.*RotateSecret/)
    const worker = startWorker({ ...place, ...keysOf(2), REGISTRY_LOG_LEVEL: 'warn' })
    await until('a warning', () => /\[1\].*sealed with an encryption key/.test(worker.output()))
    worker.kill('SIGTERM')
    await worker.exited
    await withNode(connection, [2], async ({ admin }) => {
      const deliveries = async () =>
        (await admin.get(`/Webhook/Delivery?WebhookID=${webhookID}`)).data
      await admin.post('/Webhook/Test', { webhookID })
      const { errorMessage } = await until('the attempt', async () =>
        (await deliveries()).find((one: { errorMessage: unknown }) => one.errorMessage),
      )
      assert.match(errorMessage, /sealed with an encryption key.*RotateSecret/)
      const { failureCount } = only(await admin.get(`/Webhook?WebhookID=${webhookID}`))
      assert.equal(failureCount, 0, 'the receiver has not failed')
      const { secret } = only(await admin.post('/Webhook/RotateSecret', { webhookID }))
      await admin.post('/Webhook/Test', { webhookID })
      const first = await until('the event', () => got[0])
      assert.ok(await isSigned(first, secret))
    })
  })
})
