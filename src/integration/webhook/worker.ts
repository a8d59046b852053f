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

/** The most deliveries that one process has under way to one webhook. */
const atOnce = 4

export type DeliveryOptions = {
  database: Database
  unseal: (text: string) => string
  allowLocal: boolean
  log: Log
  resolve?: Resolve
  /** Milliseconds for a call; 10 000 where left out. */
  patience?: number
}

/** Serves all webhooks of a registry, for the users who have set them up. */
export function startWebhooks(config: Config, database: Database, log: Log) {
  const { unseal } = webhookVault(config)
  const options = { database, unseal, allowLocal: config.webhookAllowLocal, log }
  warnOfOtherKeys(options).catch(troubleOf(log))
  return startDeliveries(options)
}

const troubleOf = (log: Log) => (error: unknown) =>
  log.warn({ err: errorForLog(error) }, 'webhooks could not be served')

/** Warns of secrets that do not open here. Unlike a tax number, a secret can be replaced. */
async function warnOfOtherKeys({ database, unseal, log }: DeliveryOptions) {
  const hooks = await database.query<{ id: number; secret: string }>(sql`
    select webhook_id as id, secret from webhook where is_active order by webhook_id`)
  const webhookIDs = hooks
    .filter(({ secret }) => ifOpened(unseal, secret).length === 0)
    .map(({ id }) => id)
  if (webhookIDs.length > 0)
    log.warn(
      { webhookIDs },
      'the secrets of these webhooks are sealed with an encryption key that is not here, and ' +
        'nothing is delivered to them: give the old key in REGISTRY_PREVIOUS_ENCRYPTION_KEYS and ' +
        'run rotate-encryption-key, or replace each secret (POST /Webhook/RotateSecret)',
    )
}

/**
 * Sends events to webhooks until it is stopped. Each webhook has its own queue (`lines`), so a slow
 * receiver delays no other. Any number of processes may do this at once.
 */
export function startDeliveries(options: DeliveryOptions): () => Promise<void> {
  const { database, log } = options
  const lines = new Map<number, Promise<void>>()
  let stopped = false
  const isStopped = () => stopped
  const tell = troubleOf(log)
  const trouble = (error: unknown) => {
    if (!stopped) tell(error)
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
      // Without active webhooks postings need no ring; a new webhook rings the bell as `work`.
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

/** Makes and sends the due deliveries of one webhook until none is left. */
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
  // A replaced secret that does not open any more need not sign.
  const secrets = [unseal(secret), ...(previousSecret ? ifOpened(unseal, previousSecret) : [])]
  // An event keeps its id however often it is sent, so that receivers can drop repeats.
  const name = eventID === null ? `test_${id}` : `evt_${eventID}`
  return send(
    { id: name, url, body, secrets, time },
    { allowLocal, resolve, ...(patience && { patience }) },
  )
}

/** The secret, or nothing where it does not open. */
function ifOpened(unseal: DeliveryOptions['unseal'], secret: string): string[] {
  try {
    return [unseal(secret)]
  } catch {
    return []
  }
}
