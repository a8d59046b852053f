import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { type NewEvent, sharesOf } from '../../platform/sql/event.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'
import type { TakenEvent } from './hand-off.ts'

const { BizEventStatus: statuses, ConversionMethod: methods } = lookups

/** A written leg, with the notice that it settles, if any. */
type Settling = {
  id: number
  productID: number
  /** Legs of one item settle the two notices of a conversion together. */
  item: number
  leg: number
  event: TakenEvent | undefined
  /** What the posting leaves of the notice stays pending. */
  isPartial: boolean
  amount: string | null
  quantity: string | null
  fee: string
}

const settledColumns = {
  product_id: 'int',
  event_id: 'bigint',
  transaction_id: 'bigint',
  item: 'int',
  leg: 'int',
  is_partial: 'boolean',
  amount: 'numeric',
  quantity: 'numeric',
  fee: 'numeric',
} as const

/**
 * Completes each notice by the transaction of its leg, unless the posting is partial and something
 * is left. Returns the ids of the completed notices.
 */
export async function completeEvents(tx: Tx, rows: readonly Settling[]): Promise<Set<number>> {
  const completed = new Set<number>()
  for (const [productID, own] of byProduct(rows))
    for (const id of await completeOf(inProduct(tx, productID), own)) completed.add(id)
  return completed
}

async function completeOf(tx: Tx, rows: readonly Settling[]): Promise<number[]> {
  const links = rows.flatMap((row) =>
    row.event
      ? {
          product_id: row.productID,
          event_id: row.event.id,
          transaction_id: row.id,
          item: row.item,
          leg: row.leg,
          is_partial: row.isPartial,
          amount: row.amount,
          quantity: row.quantity,
          fee: row.fee,
        }
      : [],
  )
  const [first] = links
  if (!first) return []
  return settleBy(
    tx,
    first.product_id,
    sql`
    with judged as materialized (
      select g.event_id, false as was_completed,
        g.transaction_id, abs(g.quantity) as units, abs(g.amount) as money, g.fee,
        e.quantity - abs(g.quantity) as units_left, e.amount - abs(g.amount) as money_left,
        e.entry_fee_amount - g.fee as fee_left,
        bool_or(g.is_partial and g.leg = 0) over (partition by g.item) as is_used_up,
        not bool_or(g.is_partial and g.leg = 0 and ${isLeft(
          sql`e.quantity - abs(g.quantity)`,
          sql`e.amount - abs(g.amount)`,
        )}) over (partition by g.item) as is_completed
      from ${recordset('g', links, settledColumns)}
      join biz_event e on e.product_id = g.product_id and e.biz_event_id = g.event_id
      join investment i on i.investment_id = e.investment_id)`,
  )
}

/**
 * Whether the figures of a notice of an investment i leave something to post. Units decide if the
 * notice has units, else the money; a figure that is 0 after rounding leaves nothing.
 */
const isLeft = (units: Fragment, money: Fragment) => sql`
  coalesce(coalesce(round(${units}, i.unit_decimals),
    round(${money}, minor_units(i.currency_id))) > 0, false)`

/**
 * Writes notices as the CTE `judged` has them. A completed notice keeps the figures that were left
 * before the transaction that completed it; a pending one has the figures that are left now. So the
 * figures asked for are never lost, in whatever order transactions are corrected and rolled back:
 * they are the notice's figures plus those of the transactions that settled it without completing
 * it. A figure that is used up before the other, or more than used up, is not shown (`leftOf`). A
 * notice that was completed only because nothing was left (`is_used_up`) is pending again once
 * something is left. Returns the ids of the notices that became completed.
 */
async function settleBy(tx: Tx, productID: number, judged: Fragment): Promise<number[]> {
  const settled = await tx.query<{ id: number; isCompleted: boolean; isTarget: boolean }>(sql`
    ${judged}
    update biz_event e set updated_date = now(),
      biz_event_status_id = case when j.is_completed then ${statuses.Completed}::smallint
        else ${statuses.Pending}::smallint end,
      parent_biz_transaction_id = case when j.is_completed then j.transaction_id end,
      is_used_up = j.is_completed and j.is_used_up,
      quantity = j.units_left + case when j.is_completed then j.units else 0 end,
      amount = j.money_left + case when j.is_completed then j.money else 0 end,
      entry_fee_amount = j.fee_left + case when j.is_completed then j.fee else 0 end
    from judged j
    where e.product_id = ${productID} and e.biz_event_id = j.event_id
    returning e.biz_event_id as id, j.is_completed and not j.was_completed as "isCompleted",
      e.parent_biz_event_id is not null as "isTarget"`)
  const targets = settled.filter(({ isTarget }) => isTarget).map(({ id }) => id)
  if (targets.length > 0) await measureTargets(tx, productID, targets)
  return settled.flatMap(({ id, isCompleted }) => (isCompleted ? [id] : []))
}

/**
 * Sets the pending units of targets of conversions by factor to the pending units of their sources
 * times the factor: the rounded units of parts do not add up to those of the whole.
 */
const measureTargets = (tx: Tx, productID: number, ids: readonly number[]) =>
  tx.query(sql`
    update biz_event e set
      quantity = trim_scale(round(s.quantity * e.conversion_factor, i.unit_decimals))
    from biz_event s, investment i
    where e.product_id = ${productID} and e.biz_event_id = any(${ids}::bigint[])
      and s.product_id = e.product_id and s.biz_event_id = e.parent_biz_event_id
      and i.investment_id = e.investment_id and s.quantity is not null
      and e.conversion_method_id = ${methods.Factor}
      and e.biz_event_status_id = ${statuses.Pending}`)

type Changed = { productID: number; id: number; eventID: number | null }
type Settled = { productID: number; id: number; eventID: number }

const settlingOf = (rows: readonly Changed[]): Settled[] =>
  rows.flatMap(({ productID, id, eventID }) => (eventID === null ? [] : { productID, id, eventID }))

/**
 * After a correction at `moment`, changes what is left of the settled notices by the difference
 * between each transaction and its version up to then. A pending notice with nothing left is
 * completed by the corrected transaction, until a correction leaves something again; a notice that
 * a posting completed as a whole stays completed. Returns the ids that became completed.
 */
export async function resettleEvents(
  tx: Tx,
  rows: readonly Changed[],
  moment: string,
): Promise<number[]> {
  const settling = settlingOf(rows)
  if (settling.length === 0) return []
  // Both legs of a conversion count, even if the units of one are rounded to what they were.
  const corrected = sql`
    select c.* from (
      select t.biz_event_id as event_id, t.biz_transaction_id as id,
        abs(v.quantity) - abs(t.quantity) as units, abs(v.amount) - abs(t.amount) as money,
        v.entry_fee_amount - t.entry_fee_amount as fee,
        bool_or(t.quantity <> v.quantity or t.amount <> v.amount) over () as is_changed
      from biz_transaction t
      join biz_transaction_version v on v.product_id = t.product_id
        and v.biz_transaction_id = t.biz_transaction_id and v.valid_to = ${moment}::timestamptz
      where ${among(settling)}) c
    where c.is_changed`
  const completing = sql`
    select case when not (m.is_left and (m.is_used_up or m.completed_by is null))
      then coalesce(m.completed_by, m.changed_id) end as id`
  return remeasure(tx, settling, corrected, completing)
}

/**
 * What rolled-back transactions had settled is pending again, unless the other transactions settle
 * everything that the notice asked for. Then the transaction that completed the notice still does,
 * or else the last one posted or corrected. Returns the notices that became completed.
 */
export async function reopenEvents(tx: Tx, rows: readonly Changed[]) {
  const completed: { productID: number; id: number }[] = []
  for (const [productID, settling] of byProduct(settlingOf(rows))) {
    const gone = sql`
      select t.biz_event_id as event_id, t.biz_transaction_id as id,
        abs(t.quantity) as units, abs(t.amount) as money, t.entry_fee_amount as fee
      from biz_transaction t where ${among(settling)}`
    const completing = sql`
      select t.biz_transaction_id as id from biz_transaction t
      where not m.is_left and t.product_id = ${productID} and t.account_id = m.account_id
        and t.investment_id = m.investment_id and t.biz_event_id = m.event_id
        and ${raw(counts('t'))}
      order by t.biz_transaction_id = m.completed_by desc nulls last,
        coalesce(t.updated_date, t.created_date) desc, t.biz_transaction_id desc limit 1`
    const ids = await remeasure(inProduct(tx, productID), settling, gone, completing)
    completed.push(...ids.map((id) => ({ productID, id })))
  }
  return completed
}

/** Transactions t of one product. */
const among = (settling: readonly Settled[]) => sql`
  t.product_id = ${settling[0]!.productID}
    and t.biz_transaction_id = any(${settling.map(({ id }) => id)}::bigint[])`

/**
 * Measures notices of one product anew whose transactions now settle other figures than before:
 * `changes` is a select of how much less. `completing` is a select of the transaction, if any, that
 * completes a notice m now; for a conversion m is the source.
 */
function remeasure(
  tx: Tx,
  settling: readonly Settled[],
  changes: Fragment,
  completing: Fragment,
): Promise<number[]> {
  const productID = settling[0]!.productID // callers give at least one row
  return settleBy(
    tx,
    productID,
    sql`
    with changed as materialized (${changes}),
    measured as materialized (
      select l.*, ${isLeft(sql`l.units_left`, sql`l.money_left`)} as is_left
      from (
        select e.biz_event_id as event_id, e.parent_biz_event_id as source_id, e.account_id,
          e.investment_id, t.id as completed_by, c.changed_id, e.is_used_up,
          e.biz_event_status_id = ${statuses.Completed} as was_completed,
          e.quantity + c.units - coalesce(t.units, 0) as units_left,
          e.amount + c.money - coalesce(t.money, 0) as money_left,
          e.entry_fee_amount + c.fee - coalesce(t.fee, 0) as fee_left
        from biz_event e
        left join lateral (
          select ${settledBy} from biz_transaction t
          where t.product_id = ${productID} and ${raw(counts('t'))}
            and t.biz_transaction_id = e.parent_biz_transaction_id limit 1) t on true
        cross join lateral (
          select max(c.id) as changed_id, sum(c.units * o.is_other) as units,
            sum(c.money * o.is_other) as money, sum(c.fee * o.is_other) as fee
          from changed c
          cross join lateral (
            -- What completed the notice was not taken off its figures.
            select (c.id is distinct from e.parent_biz_transaction_id)::int as is_other) o
          where c.event_id = e.biz_event_id) c
        where e.product_id = ${productID} and c.changed_id is not null
          and e.biz_event_id = any(${settling.map(({ eventID }) => eventID)}::bigint[])
          and e.biz_event_status_id <> ${statuses.Cancelled}) l
      join investment i on i.investment_id = l.investment_id),
    decided as materialized (
      select m.event_id, c.id, m.is_used_up or c.id is distinct from m.completed_by as is_used_up
      from measured m cross join lateral (${completing}) c
      where m.source_id is null),
    judged as materialized (
      select m.event_id, m.was_completed, d.is_used_up, m.units_left, m.money_left, m.fee_left,
        t.id as transaction_id, t.id is not null as is_completed, t.units, t.money, t.fee
      from measured m
      left join decided d on d.event_id = coalesce(m.source_id, m.event_id)
      left join lateral (
        select ${settledBy} from biz_transaction t
        where t.product_id = ${productID} and t.biz_event_id = m.event_id
          and (t.biz_transaction_id = d.id or t.parent_biz_transaction_id = d.id)
        limit 1) t on true)`,
  )
}

/** What a transaction t settles of its notice. */
const settledBy = raw(`t.biz_transaction_id as id, abs(t.quantity) as units,
            abs(t.amount) as money, t.entry_fee_amount as fee`)

/** The events about the notices that a request has completed. */
export const completedNotices = (
  rows: readonly Pick<Settling, 'productID' | 'event'>[],
  completed: ReadonlySet<number>,
): NewEvent[] =>
  completedEvents(
    rows.flatMap(({ productID, event }) =>
      event && completed.has(event.id) ? { productID, id: event.id } : [],
    ),
  )

export const completedEvents = (notices: readonly { productID: number; id: number }[]) =>
  sharesOf(notices).map(
    (share): NewEvent => ({ type: 'bizevent.completed', resource: 'BizEvent', ...share }),
  )
