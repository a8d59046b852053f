import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import type { Config } from '../../config.ts'
import { errorForLog, type Log } from '../../platform/log.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { type Resolve, resolveHost } from './address.ts'
import { drop, settle, type Taken, takeDue } from './attempt.ts'
import { makeDeliveries } from './deliver.ts'
import { type Sent, send } from './send.ts'
import { webhookVault } from './vault.ts'

/** Deliveries that one process has under way to one webhook. */
const atOnce = 4

export type DeliveryOptions = {
  database: Database
  unseal: (text: string) => string
  allowLocal: boolean
  log: Log
  resolve?: Resolve
  /** Milliseconds for a call; ten seconds where left out. */
  patience?: number
}

/** Serves all webhooks of a registry, for the users who have set them up. */
export const startWebhooks = (config: Config, database: Database, log: Log) =>
  startDeliveries({
    database,
    unseal: webhookVault(config).unseal,
    allowLocal: config.webhookAllowLocal,
    log,
  })

/**
 * Sends events to webhooks until it is stopped. Each webhook has a line of its own: a slow one
 * delays no other. Any number of processes may do this at once.
 */
export function startDeliveries(options: DeliveryOptions): () => Promise<void> {
  const { database, log } = options
  const lines = new Map<number, Promise<void>>()
  let stopped = false
  const isStopped = () => stopped
  const trouble = (error: unknown) => {
    if (!stopped) log.warn({ err: errorForLog(error) }, 'webhooks could not be served')
  }

  async function look() {
    const hooks = await database.query<{ id: number }>(sql`
      select webhook_id as id from webhook where is_active order by webhook_id`)
    for (const { id } of hooks) {
      if (lines.has(id)) continue
      const line = serve(options, id, isStopped)
        .catch(trouble)
        .finally(() => lines.delete(id))
      lines.set(id, line)
    }
    return hooks.length > 0
  }

  const work = (async () => {
    let isAwaited = true
    while (!stopped) {
      // Nobody to tell of postings: a webhook that is new rings as work does.
      const rung = database.bell.rung(isAwaited ? 'postings' : 'work')
      isAwaited = await look().catch((error) => {
        trouble(error)
        return true
      })
      await rung
    }
  })()
  return async () => {
    stopped = true
    await Promise.race([
      Promise.all([work, ...lines.values()]),
      sleep(4_000, undefined, { ref: false }),
    ])
  }
}

/** Makes what is due for one webhook and sends it, until there is nothing left to do. */
async function serve(options: DeliveryOptions, webhookID: number, isStopped: () => boolean) {
  const { database } = options
  for (let more = true; more && !isStopped(); ) {
    more = await database.transaction((tx) => makeDeliveries(tx, webhookID))
    const taken = await database.transaction((tx) => takeDue(tx, webhookID, atOnce))
    await Promise.all(taken.map((one) => attempt(options, one)))
    more ||= taken.length > 0
  }
}

async function attempt(options: DeliveryOptions, taken: Taken) {
  const { database } = options
  if (!taken.isOwn) return database.transaction((tx) => drop(tx, taken))
  const outcome = await deliver(options, taken).catch((error: Error) => error)
  await database.transaction((tx) => settle(tx, taken, outcome))
}

async function deliver(options: DeliveryOptions, taken: Taken): Promise<Sent> {
  const { unseal, allowLocal, resolve = resolveHost, patience } = options
  const { secret, previousSecret, url, body, id, eventID, time } = taken
  const secrets = [unseal(secret), ...(previousSecret ? ifOpened(unseal, previousSecret) : [])]
  // The same event has the same id, however often it is sent.
  const name = eventID === null ? `test_${id}` : `evt_${eventID}`
  return send(
    { id: name, url, body, secrets, time },
    { allowLocal, resolve, ...(patience && { patience }) },
  )
}

/** One that was replaced because it does not open any more need not sign, too. */
function ifOpened(unseal: DeliveryOptions['unseal'], secret: string): string[] {
  try {
    return [unseal(secret)]
  } catch {
    return []
  }
}
