import sql from 'sql-template-tag'
import { isLive } from '../../access/api-key/sql.ts'
import { raise } from '../../platform/sql/event.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { isOwn } from '../event/sql.ts'
import { Forbidden } from './address.ts'
import { ownerless, ownNow } from './deliver.ts'
import type { Sent } from './send.ts'
import { KeyMissing } from './vault.ts'

/** Seconds from each failed attempt to the next; after the last one the delivery has failed. */
const pauses = [5, 60, 300, 1800, 7200, 18_000, 36_000, 86_400]
/** How often a delivery is repeated at most, and the full hours within which that is. */
export const repeats = {
  count: pauses.length,
  hours: Math.ceil(pauses.reduce((sum, pause) => sum + pause, 0) / 3600),
}
/** Failures in a row after which a webhook is deactivated. */
const mostFailures = 50
/**
 * Seconds that a process has for a delivery it took; then it counts as dead and another may take
 * it.
 */
const lease = 60

export type Taken = {
  id: number
  webhookID: number
  eventID: number | null
  /** Whether it is a test, or an event that the webhook may still be sent. */
  isOwn: boolean
  url: string
  body: string
  attempts: number
  /**
   * When it was taken, in seconds since 1970 by the database's clock: clocks of nodes may differ.
   */
  time: number
  secret: string
  previousSecret: string | null
}

/**
 * Takes some deliveries of a webhook that are due; none where its user or key has ended. A delivery
 * may have waited for long, so the rights to see its event are checked again now. RETURNING uses
 * only columns and immutable functions, since Citus accepts nothing else there.
 */
export async function takeDue(tx: Tx, webhookID: number, most: number): Promise<Taken[]> {
  const own = await ownNow(tx, webhookID)
  if (!own) {
    await endTests(tx, webhookID)
    return []
  }
  return tx.query<Taken>(sql`
    update webhook_delivery d
    set attempts = d.attempts + 1, next_date = now() + make_interval(secs => ${lease})
    from webhook w cross join (
        select now() as moment, floor(extract(epoch from now()))::bigint as time) m,
      (select webhook_delivery_id, event_id, type,
          (body::json #>> '{data,productID}')::int as product_id
        from webhook_delivery where webhook_delivery_id = any(array(
          select webhook_delivery_id from webhook_delivery
          where webhook_id = ${webhookID} and status = 'pending' and next_date <= now()
          order by next_date limit ${most} for update skip locked))) e
    where w.webhook_id = d.webhook_id and w.is_active
      and d.webhook_delivery_id = e.webhook_delivery_id
    returning d.webhook_delivery_id as id, d.webhook_id as "webhookID", d.event_id as "eventID",
      coalesce(d.event_id is null or ${isOwn(own)}, false) as "isOwn",
      w.url, d.body, d.attempts, w.secret, m.time,
      case when w.previous_until > m.moment then w.previous_secret end as "previousSecret"`)
}

/**
 * Fails the waiting tests of a webhook without an owner, so that whoever sent a test learns its
 * fate. Events keep waiting until somebody saves the webhook again.
 */
const endTests = (tx: Tx, webhookID: number) =>
  tx.query(sql`
    update webhook_delivery d set status = 'failed', next_date = null, completed_date = now(),
      error_message = ${ownerless}
    from webhook w
    where d.webhook_id = ${webhookID} and d.status = 'pending' and d.next_date <= now()
      and d.event_id is null and w.webhook_id = d.webhook_id and w.is_active`)

/**
 * Deliveries as jobs of a queue; `later` includes those being sent now. Deliveries that nobody
 * takes, since their webhook, user or key has ended, are left out.
 */
export const deliveryQueue: Fragment = sql`
  select 'webhook' as task, d.next_date as since,
    case when d.next_date <= now() then 'ready' else 'later' end as state
  from webhook_delivery d join webhook w using (webhook_id) join app_user u using (user_id)
    left join api_key k on k.api_key_id = w.api_key_id
  where d.status = 'pending' and w.is_active and u.is_active
    and (w.api_key_id is null or ${isLive})`

/** Fails, without an attempt, a delivery whose event the webhook may not be sent any more. */
export const drop = (tx: Tx, taken: Taken) =>
  tx.query(sql`
    update webhook_delivery set status = 'failed', attempts = attempts - 1, next_date = null,
      completed_date = now(), error_message = ${notOwn}
    where ${isOurs(taken)}`)
const notOwn = 'The webhook does not ask for this any more, or who saved it may not see it.'

/** Whether this process still has the delivery; another takes it after the lease has run out. */
const isOurs = ({ id, attempts }: Taken) =>
  sql`webhook_delivery_id = ${id} and status = 'pending' and attempts = ${attempts}`

/**
 * Records the outcome of an attempt. A failure is ignored if another process has taken the delivery
 * since, whose outcome counts instead. A success always counts.
 */
export async function settle(tx: Tx, taken: Taken, outcome: Sent | Error): Promise<void> {
  const status = outcome instanceof Error ? null : outcome.status
  if (status !== null && status >= 200 && status < 300) {
    await tx.query(sql`
      update webhook_delivery set status = 'delivered', next_date = null, error_message = null,
        completed_date = now(), response_status = ${status}
      where webhook_delivery_id = ${taken.id} and status = 'pending'`)
    await tx.query(sql`
      update webhook set failure_count = 0
      where webhook_id = ${taken.webhookID} and failure_count > 0`)
    return
  }
  const words = outcome instanceof Error ? wordsOf(outcome) : `The receiver answered ${status}.`
  const pause = pauses[taken.attempts - 1]
  const next =
    pause === undefined
      ? sql`status = 'failed', next_date = null, completed_date = now()`
      : sql`next_date = now() + make_interval(secs => ${pause})`
  const failed = await tx.query(sql`
    update webhook_delivery set ${next}, error_message = ${words}, response_status = ${status}
    where ${isOurs(taken)} returning true`)
  // A key that this node lacks tells nothing about the receiver: another node may have it.
  if (failed.length > 0 && !(outcome instanceof KeyMissing))
    await countFailure(tx, taken.webhookID, status === 410)
}

/** Counts a failure; a receiver that answers 410 or has failed for long is deactivated. */
async function countFailure(tx: Tx, webhookID: number, isGone: boolean) {
  const [ended] = await tx.query<{ userID: number }>(sql`
    update webhook set failure_count = failure_count + 1,
      is_active = not (${isGone} or failure_count + 1 >= ${mostFailures}),
      updated_date = now()
    where webhook_id = ${webhookID} and is_active
    returning case when not is_active then user_id end as "userID"`)
  if (ended && ended.userID !== null)
    await raise(tx, [{ type: 'webhook.deactivated', resource: 'Webhook', ids: [webhookID] }])
}

/** Words that an operator can act on, without details that would only help an attacker. */
function wordsOf(error: Error): string {
  if (error instanceof Forbidden || error instanceof KeyMissing) return error.message
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'The receiver did not answer in time.'
  const { code } = error as { code?: string }
  return `The receiver could not be reached${code ? ` (${code})` : ''}.`
}

/**
 * Deletes old deliveries, as many as a small transaction can bear, including deliveries that still
 * wait. No delivery of a webhook that is served waits for as long as events are kept: the webhook
 * would have been deactivated before.
 */
export async function sweepDeliveries(tx: Tx, days: number): Promise<boolean> {
  const gone = await tx.query(sql`
    delete from webhook_delivery d using (
      select webhook_delivery_id, created_date from webhook_delivery
      order by webhook_delivery_id limit 5000) oldest
    where d.webhook_delivery_id = oldest.webhook_delivery_id
      and oldest.created_date < now() - make_interval(days => ${days})
    returning true`)
  return gone.length === 5000
}
