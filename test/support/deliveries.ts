import type pg from 'pg'
import { startDeliveries } from '../../src/integration/webhook/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import { unseal } from '../../src/platform/secrets.ts'
import { openAsService } from './explain.ts'
import { encryptionKey } from './service.ts'

/** Delivers to webhooks on this machine, as a worker does, while other work is done. */
export async function whileDelivering(connection: pg.ClientConfig, work: () => Promise<unknown>) {
  const database = openAsService(connection)
  const stop = startDeliveries({
    database,
    unseal: (text) => unseal(Buffer.from(encryptionKey, 'base64'), text),
    allowLocal: true,
    log: createLog('silent'),
  })
  await work().finally(stop).finally(database.close)
}
