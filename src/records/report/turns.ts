import { randomUUID } from 'node:crypto'
import sql, { raw } from 'sql-template-tag'
import type { Transaction } from '../../platform/files/files.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Format } from './schema.ts'
import { forEver, type Subject } from './subject.ts'

const { Queued, Running } = lookups.ReportStatus

/**
 * The worker that makes a report renews its lease every few seconds; after this long without a
 * renewal it counts as dead.
 */
export const deadAfter = sql`interval '30 seconds'`
const defaultTop = 20

/** A report that this process has leased. */
export type Order = Subject & {
  id: number
  typeID: number
  format: Format
  userID: number
  /** The API key that ordered the report, if one did. */
  apiKeyID: number | null
  knownAt: string | null
  attempts: number
  lease: string
}

export type Turns = {
  /** Leases the next report for this process, if there is one. */
  next: () => Promise<Order | undefined>
  /** Tells that a report is not being made any more. */
  ended: (order: Order) => void
}

/**
 * Chooses the reports that one process makes. It makes at most `ofOneUser` reports of one user at a
 * time, so that the reports of other users do not wait for one of them to end.
 */
export function openTurns(transaction: Transaction, ofOneUser: number): Turns {
  const beingMade = new Map<number, number>()
  const count = ({ userID }: Order, by: 1 | -1) =>
    beingMade.set(userID, (beingMade.get(userID) ?? 0) + by)
  const take = async () => {
    const full = [...beingMade].flatMap(([userID, many]) => (many < ofOneUser ? [] : [userID]))
    const order = await takeLease(transaction, full)
    if (order) count(order, 1)
    return order
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    // Calls run one after another, so that a report taken by one call is counted when the next one
    // looks.
    next: () => {
      const taken = last.then(take)
      last = taken.catch(() => {})
      return taken
    },
    ended: (order) => {
      if (count(order, -1).get(order.userID) === 0) beingMade.delete(order.userID)
    },
  }
}

const isOpen = (alias: string) => raw(`${alias}.report_status_id in (${Queued}, ${Running})`)
const isBeingMade = (alias: string) =>
  sql`(${raw(alias)}.lease is not null and ${raw(alias)}.lease_date >= now() - ${deadAfter})`

/**
 * The next report: of the user with the fewest being made, then of the user whose last report was
 * begun longest ago, so that many reports of one user do not hold up the only report of another; of
 * that user's reports the oldest.
 */
const nextReport = (full: readonly number[]) => sql`
  select r.report_id from report r
  join (
    select o.user_id, count(*) filter (where ${isBeingMade('o')}) as being_made, (
        select max(b.started_date) from report b where b.user_id = o.user_id) as last_begun
    from report o where ${isOpen('o')} group by o.user_id) u on u.user_id = r.user_id
  where ${isOpen('r')} and not ${isBeingMade('r')} and r.user_id <> all (${full}::int[])
  order by u.being_made, u.last_begun nulls first, r.report_id
  limit 1 for update of r skip locked`

/** Leases a report that no worker is making, or whose worker is dead. */
const takeLease = (transaction: Transaction, full: readonly number[]) =>
  transaction(async (tx) => {
    const [order] = await tx.query<Order>(sql`
      update report set report_status_id = ${Running}, lease = ${randomUUID()}::uuid,
        lease_date = now(), attempts = attempts + 1, progress_percent = 0, row_count = null,
        error_message = null, started_date = now()
      where report_id = (${nextReport(full)})
      returning report_id as id, report_type_id as "typeID", format, product_id as "productID",
        investment_id as "investmentID", corporate_action_id as "corporateActionID",
        biz_entity_id as "bizEntityID", account_id as "accountID", date, from_date as "fromDate",
        coalesce(to_date, ${forEver}) as "toDate",
        known_at as "knownAt", coalesce(top, ${defaultTop}) as top, user_id as "userID",
        api_key_id as "apiKeyID", attempts, lease`)
    return order
  })
