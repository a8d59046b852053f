import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import { type NewEvent, sharesOf } from '../../platform/sql/event.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'
import type { TakenEvent } from './hand-off.ts'

const { BizEventStatus: statuses, ConversionMethod: methods } = lookups

/** A written leg, and the notice it settles if it does. */
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
 * Each notice is completed by the transaction of its leg, unless it says that a rest stays. Tells
 * which are completed.
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
  if (links.length === 0) return []
  const completed = await settleBy(
    tx,
    sql`
    with settled as materialized (
      select g.*, e.quantity as units_asked, e.amount as money_asked,
        e.quantity - abs(g.quantity) as units_left, e.amount - abs(g.amount) as money_left,
        e.entry_fee_amount as fee_asked, e.entry_fee_amount - g.fee as fee_left
      from ${recordset('g', links, settledColumns)}
      join biz_event e on e.product_id = g.product_id and e.biz_event_id = g.event_id),
    judged as materialized (
      select *, bool_or(is_partial and leg = 0 and coalesce(units_left, money_left) > 0)
        over (partition by item) as stays
      from settled)`,
  )
  const targets = links.filter(({ leg }) => leg > 0)
  if (targets.length > 0) await measureTargets(tx, targets)
  return completed
}

/**
 * What is pending of the target of a conversion by a factor is what is pending of its source times
 * the factor: units that parts were rounded to do not add up to those of the whole.
 */
const measureTargets = (tx: Tx, targets: readonly { product_id: number; event_id: number }[]) =>
  tx.query(sql`
    update biz_event e set
      quantity = trim_scale(round(s.quantity * e.conversion_factor, i.unit_decimals))
    from biz_event s, investment i
    where e.product_id = ${targets[0]!.product_id}
      and e.biz_event_id = any(${targets.map(({ event_id }) => event_id)}::bigint[])
      and s.product_id = e.product_id and s.biz_event_id = e.parent_biz_event_id
      and i.investment_id = e.investment_id and s.quantity is not null
      and e.conversion_method_id = ${methods.Factor}
      and e.biz_event_status_id = ${statuses.Pending}`)

/**
 * Notices as they are `judged`: those that stay are pending with what is left of their figures, the
 * others completed with what they asked for. Tells which are completed.
 */
async function settleBy(tx: Tx, judged: Fragment): Promise<number[]> {
  const settled = await tx.query<{ id: number; isCompleted: boolean }>(sql`
    ${judged}
    update biz_event e set updated_date = now(),
      biz_event_status_id = case when j.stays then ${statuses.Pending}::smallint
        else ${statuses.Completed}::smallint end,
      parent_biz_transaction_id = case when not j.stays then j.transaction_id end,
      quantity = ${restOf('units')}, amount = ${restOf('money')},
      entry_fee_amount = ${restOfFee}
    from judged j
    where e.product_id = j.product_id and e.biz_event_id = j.event_id
    returning e.biz_event_id as id, not j.stays as "isCompleted"`)
  return settled.flatMap(({ id, isCompleted }) => (isCompleted ? [id] : []))
}

/**
 * A figure of a notice. One that it never had, or that is used up before the other, is none rather
 * than 0: whoever settles the rest goes by the other alone.
 */
const restOf = (figure: 'units' | 'money') =>
  raw(`case when not j.stays then j.${figure}_asked
        when j.${figure}_left > 0 then j.${figure}_left end`)

/** A fee that is charged in full is 0, so that the rest is charged no percentage instead. */
const restOfFee = raw(`case when not j.stays or j.fee_asked is null then j.fee_asked
        else greatest(j.fee_left, 0) end`)

/**
 * Of a notice that a transaction settled in part, as much less or more is pending as a correction
 * makes of the transaction, whose version up to then is of a moment. One that it uses up is
 * completed by it. Tells which are.
 */
export async function resettleEvents(
  tx: Tx,
  rows: readonly { productID: number; id: number; eventID: number | null }[],
  moment: string,
): Promise<number[]> {
  const events = rows.flatMap(({ productID, eventID }) =>
    eventID === null ? [] : { product_id: productID, event_id: eventID },
  )
  const [first] = events
  if (!first) return []
  const completed = await settleBy(
    tx,
    sql`
    with settled as materialized (
      select e.product_id, e.biz_event_id as event_id, t.biz_transaction_id as transaction_id,
        e.parent_biz_event_id, e.quantity + abs(v.quantity) as units_asked,
        e.amount + abs(v.amount) as money_asked,
        e.quantity - abs(t.quantity) + abs(v.quantity) as units_left,
        e.amount - abs(t.amount) + abs(v.amount) as money_left,
        e.entry_fee_amount + v.entry_fee_amount as fee_asked,
        e.entry_fee_amount + v.entry_fee_amount - t.entry_fee_amount as fee_left
      from biz_transaction t
      join biz_transaction_version v on v.product_id = t.product_id
        and v.biz_transaction_id = t.biz_transaction_id and v.valid_to = ${moment}::timestamptz
      join biz_event e on e.product_id = t.product_id and e.biz_event_id = t.biz_event_id
      where t.product_id = ${first.product_id}
        and t.biz_transaction_id = any(${rows.map(({ id }) => id)}::bigint[])
        and e.biz_event_status_id = ${statuses.Pending}
        and (t.quantity <> v.quantity or t.amount <> v.amount)),
    judged as materialized (
      select *, bool_and(parent_biz_event_id is not null or coalesce(units_left, money_left) > 0)
        over () as stays
      from settled)`,
  )
  await measureTargets(tx, events)
  return completed
}

/**
 * What was settled by transactions that are rolled back is pending again: a notice that one of them
 * completed as it was before, one that they settled in part with that part added.
 */
export async function reopenEvents(
  tx: Tx,
  rows: readonly { productID: number; id: number; eventID: number | null }[],
) {
  const links = rows.flatMap(({ productID, id, eventID }) =>
    eventID === null ? [] : { productID, id, eventID },
  )
  for (const [productID, own] of byProduct(links)) {
    const part = inProduct(tx, productID)
    await reopen(part, own)
    await measureTargets(
      part,
      own.map(({ eventID }) => ({ product_id: productID, event_id: eventID })),
    )
  }
}

const reopen = (tx: Tx, links: readonly { productID: number; id: number; eventID: number }[]) =>
  tx.query(sql`
    with undone as materialized (
      select t.product_id, t.biz_event_id,
        sum(abs(t.quantity)) filter (where not p.completed) as quantity,
        sum(abs(t.amount)) filter (where not p.completed) as amount,
        sum(t.entry_fee_amount) filter (where not p.completed) as fee,
        bool_or(p.completed) as whole
      from unnest(${links.map(({ productID }) => productID)}::int[],
        ${links.map(({ id }) => id)}::bigint[], ${links.map(({ eventID }) => eventID)}::bigint[])
        g (product_id, id, event_id)
      join biz_transaction t on t.product_id = g.product_id and t.biz_transaction_id = g.id
      join biz_event e on e.product_id = g.product_id and e.biz_event_id = g.event_id
      cross join lateral (
        select e.parent_biz_transaction_id is not distinct from t.biz_transaction_id
          as completed) p
      group by t.product_id, t.biz_event_id)
    update biz_event e set biz_event_status_id = ${statuses.Pending},
      parent_biz_transaction_id = null, updated_date = now(),
      quantity = case when u.whole or e.biz_event_status_id = ${statuses.Pending}
        then e.quantity + coalesce(u.quantity, 0) when e.quantity is not null then u.quantity end,
      amount = case when u.whole or e.biz_event_status_id = ${statuses.Pending}
        then e.amount + coalesce(u.amount, 0) when e.amount is not null then u.amount end,
      entry_fee_amount = case when u.whole or e.biz_event_status_id = ${statuses.Pending}
        then e.entry_fee_amount + coalesce(u.fee, 0)
        when e.entry_fee_amount is not null then u.fee end
    from undone u
    where e.product_id = u.product_id and e.biz_event_id = u.biz_event_id
      and e.biz_event_status_id <> ${statuses.Cancelled}`)

/** What is told of the notices that a request has completed. */
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
