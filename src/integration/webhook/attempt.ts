import sql from 'sql-template-tag'
import { isLive } from '../../access/api-key/sql.ts'
import { raise } from '../../platform/sql/event.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { Forbidden } from './address.ts'
import type { Sent } from './send.ts'

/** Seconds to the next attempt, after each that failed; then it is over. */
const pauses = [5, 60, 300, 1800, 7200, 18_000, 36_000, 86_400]
/** Failures in a row after which nothing more is sent. */
const mostFailures = 50
/** Who takes a delivery has so many seconds; then another may: the first must have died. */
const lease = 60

export type Taken = {
  id: number
  webhookID: number
  eventID: number | null
  url: string
  body: string
  attempts: number
  secret: string
  previousSecret: string | null
}

/** Takes some deliveries of a webhook that are due; none where its user or key has ended. */
export const takeDue = (tx: Tx, webhookID: number, most: number) =>
  tx.query<Taken>(sql`
    update webhook_delivery d
    set attempts = d.attempts + 1, next_date = now() + make_interval(secs => ${lease})
    from webhook w cross join (select now() as moment) m
    where w.webhook_id = d.webhook_id and w.is_active and ${hasItsOwner}
      and d.webhook_delivery_id in (
      select webhook_delivery_id from webhook_delivery
      where webhook_id = ${webhookID} and status = 'pending' and next_date <= now()
      order by next_date limit ${most} for update skip locked)
    returning d.webhook_delivery_id as id, d.webhook_id as "webhookID", d.event_id as "eventID",
      w.url, d.body, d.attempts, w.secret,
      case when w.previous_until > m.moment then w.previous_secret end as "previousSecret"`)

const hasItsOwner = sql`
  exists (select 1 from app_user u where u.user_id = w.user_id and u.is_active)
  and (w.api_key_id is null or exists (
    select 1 from api_key k where k.api_key_id = w.api_key_id and ${isLive}))`

/** Writes down what became of an attempt. */
export async function settle(tx: Tx, taken: Taken, outcome: Sent | Error): Promise<void> {
  const status = outcome instanceof Error ? null : outcome.status
  if (status !== null && status >= 200 && status < 300) {
    await end(
      tx,
      taken,
      sql`status = 'delivered', next_date = null, error_message = null,
      completed_date = now()`,
      status,
    )
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
  await end(tx, taken, sql`${next}, error_message = ${words}`, status)
  await countFailure(tx, taken.webhookID, status === 410)
}

const end = (tx: Tx, { id }: Taken, how: Fragment, status: number | null) =>
  tx.query(sql`
    update webhook_delivery set ${how}, response_status = ${status}
    where webhook_delivery_id = ${id}`)

/** A receiver that is gone, or has failed for long, is sent nothing more. */
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

/** What an operator can act on, without what only helps who attacks. */
function wordsOf(error: Error): string {
  if (error instanceof Forbidden) return error.message
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return 'The receiver did not answer in time.'
  const { code } = error as { code?: string }
  return `The receiver could not be reached${code ? ` (${code})` : ''}.`
}

/**
 * Takes away old deliveries, as many as one small transaction bears; also those that still wait.
 * Nobody who is served waits for as long as events are kept: their webhooks have been deactivated.
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
