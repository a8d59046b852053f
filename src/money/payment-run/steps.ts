import sql, { raw } from 'sql-template-tag'
import { todayOf } from '../../catalogue/product/today.ts'
import type { Actor } from '../../platform/actor.ts'
import { conflict, invalid, type Problem, refuseAll } from '../../platform/refusal.ts'
import { raise } from '../../platform/sql/event.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import type { RunResult, Unclaimed } from './schema.ts'
import { lockRun, ofRun, type RunID, renderRun, runOfPayment } from './sql.ts'

const told = async (tx: Tx, actor: Actor, run: RunID, changes: object): Promise<Written> => ({
  ...(await renderRun(tx, actor, run)),
  ids: [run.id],
  productID: run.productID,
  changes,
})

/** Marks a run as sent: the bank has the file. */
export async function sendRun(all: Tx, actor: Actor, runID: number): Promise<Written> {
  const run = await lockRun(all, actor, runID, ['Approved'])
  const tx = inProduct(all, run.productID)
  await keepLedgerRows(tx, 'payment_run', ofRun(run, 't'))
  await keepLedgerRows(tx, 'payment', ofRun(run, 't'))
  await tx.query(sql`
    update payment_run r set state = 'Sent', sent_date = now() where ${ofRun(run, 'r')}`)
  await tx.query(sql`update payment p set state = 'Sent' where ${ofRun(run, 'p')}`)
  return told(tx, actor, run, {})
}

/** Records the results of sent payments; refuses all if one is unknown or has a result already. */
export async function recordResults(all: Tx, actor: Actor, result: RunResult): Promise<Written> {
  refuseUnnamed(result)
  const runID = result.paymentRunID ?? (await runOfPayment(all, actor, result.payments[0]!))
  const run = await lockRun(all, actor, runID, ['Sent', 'Closed'])
  const tx = inProduct(all, run.productID)
  const today = await todayOf(tx, run.productID)
  refuseMisdated(result, { first: await firstDayOf(tx, run), today })
  const given = result.payments.map(({ paymentID, reference, state, reason, date }, place) => ({
    place,
    payment_id: paymentID,
    reference,
    state,
    reason,
    date: date ?? today,
  }))
  const named = sql`
      select g.*, p.id, p.before from ${recordset('g', given, givenColumns)}
      cross join lateral (${paymentNamed(run)}) p`
  await keepLedgerRows(
    tx,
    'payment',
    sql`${ofRun(run, 't')} and t.payment_id = any(array(select n.id from (${named}) n))`,
  )
  const found = await tx.query<{ place: number; state: string | null; id: number }>(sql`
    with found as materialized (
      select n.place, n.state, n.reason, n.date, n.id as payment_id, n.before
      from (${named}) n),
    updated as (
      update payment p set state = f.state, state_reason = f.reason, state_date = f.date
      from found f
      where p.product_id = ${run.productID} and p.payment_id = f.payment_id
        and f.before = 'Sent'
      returning f.place)
    select f.place, f.payment_id as id, case when u.place is null then f.before end as state
    from found f left join updated u on u.place = f.place order by f.place`)
  refuseTwice(found)
  const states = new Map(found.map(({ place, state }) => [place, state ?? 'Sent']))
  const seen = given.map(({ place }) => states.get(place))
  refuseOthers('payments', seen, 'Sent')
  const { productID } = run
  const ids = found.flatMap(({ place, id }) =>
    result.payments[place]!.state === 'Returned' ? [id] : [],
  )
  const { userID } = actor
  if (ids.length > 0)
    await raise(tx, [{ type: 'payment.returned', resource: 'PaymentRun', productID, ids, userID }])
  await closeIfDone(tx, actor, run)
  const counts = { payments: result.payments.length, returned: ids.length }
  return told(tx, actor, run, { ...counts, results: grouped(given, found) })
}

type Outcome = { state: string; date: string; reason?: string | undefined }

/** Groups payments by result for the audit trail: most of a list share their state and day. */
function grouped(
  given: readonly Outcome[],
  found: readonly { place: number; id: number }[],
): (Outcome & { paymentIDs: number[] })[] {
  const groups = new Map<string, Outcome & { paymentIDs: number[] }>()
  for (const { place, id } of found) {
    const { state, date, reason } = given[place]!
    const key = JSON.stringify([state, date, reason])
    const group = groups.get(key) ?? { state, date, reason, paymentIDs: [] }
    group.paymentIDs.push(id)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** The payment of a run that a result g names, looked up by itself for each result. */
const paymentNamed = (run: RunID) => sql`
  select p.payment_id as id, p.state as before from payment p
  where g.payment_id is not null and ${ofRun(run, 'p')} and p.payment_id = g.payment_id
  union all
  select p.payment_id, p.state from payment p
  where g.payment_id is null and ${ofRun(run, 'p')} and p.reference = g.reference limit 1`

const givenColumns = {
  place: 'int',
  payment_id: 'bigint',
  reference: 'text',
  state: 'text',
  reason: 'text',
  date: 'date',
} as const

function refuseUnnamed({ payments }: RunResult) {
  const place = payments.findIndex(({ paymentID, reference }) => !paymentID && !reference)
  if (place >= 0)
    throw invalid('required', 'Give paymentID or reference.', `payments[${place}].paymentID`)
}

/**
 * The first day that a result may have: the day the run was made or its processing date, whichever
 * is earlier. For a reissue the runs whose payments it sends again count, too.
 */
async function firstDayOf(tx: Tx, run: RunID): Promise<string> {
  const [row] = await tx.query<{ first: string }>(sql`
    with recursive sending as (
      select * from payment_run r where ${ofRun(run, 'r')}
      union all
      select r.* from sending s join payment_run r
        on r.product_id = ${run.productID} and r.payment_run_id = s.reissue_of)
    select min(least(s.processing_date, (s.created_date at time zone p.time_zone)::date))::text
      as first
    from sending s join product p on p.product_id = s.product_id`)
  return row!.first
}

/** Refuses results dated after today, or before the first day of the run. */
const refuseMisdated = (
  { payments }: RunResult,
  { first, today }: { first: string; today: string },
) =>
  refuseAll(
    400,
    payments.flatMap(({ date }, place): Problem[] => {
      const field = `payments[${place}].date`
      const flaw = (words: string): Problem[] => [
        { code: 'out_of_range', field, message: `${field} is ${words}.` },
      ]
      if (date === undefined) return []
      if (date > today) return flaw(`after today, ${today}`)
      return date < first ? flaw(`before the run, which is of ${first}`) : []
    }),
  )

/** Refuses two results for one payment: the register cannot decide which of them counts. */
function refuseTwice(found: readonly { place: number; id: number }[]) {
  const first = new Map(found.toReversed().map(({ id, place }) => [id, place]))
  refuseAll(
    400,
    found.flatMap(({ id, place }): Problem[] => {
      const field = `payments[${place}]`
      const before = first.get(id)
      if (before === place) return []
      const message = `${field} names the same payment as payments[${before}].`
      return [{ code: 'given_twice', field, message }]
    }),
  )
}

/** Refuses payments that are not of the run (without a state), or not in the wanted state. */
function refuseOthers(list: string, states: readonly (string | undefined)[], wanted: string) {
  const named = states.map((state, place) => ({ field: `${list}[${place}]`, state }))
  const missing = named.filter(({ state }) => state === undefined)
  refuseAll(
    404,
    missing.map(({ field }) => ({
      code: 'not_found',
      field,
      message: `${field} names no payment of this run.`,
    })),
  )
  const others = named.filter(({ state }) => state !== wanted)
  refuseAll(
    409,
    others.map(({ field, state }) => ({
      code: 'wrong_state',
      field,
      message: `${field} is ${state}, not ${wanted}.`,
    })),
  )
}

/** Refuses a request that names payments which did not come back, rather than ignoring them. */
export async function refuseUnreturned(tx: Tx, run: RunID, paymentIDs: readonly number[] = []) {
  const rows = await tx.query<{ id: number; state: string }>(sql`
    select p.payment_id as id, p.state from payment p
    where ${ofRun(run, 'p')} and p.payment_id = any(${paymentIDs}::bigint[])`)
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  const seen = paymentIDs.map((id) => states.get(id))
  refuseOthers('paymentIDs', seen, 'Returned')
}

/** Closes a run when none of its payments is open any more. */
export async function closeIfDone(tx: Tx, { userID }: Actor, run: RunID) {
  const isDone = sql`${ofRun(run, 't')} and t.state = 'Sent' and not exists (
    select 1 from payment p where ${ofRun(run, 'p')}
      and p.state not in ('Paid', 'Reissued', 'Unclaimed'))`
  await keepLedgerRows(tx, 'payment_run', isDone)
  const closed = await tx.query(sql`
    update payment_run t set state = 'Closed', closed_date = now() where ${isDone}
    returning true`)
  const { productID, id } = run
  const event = { type: 'paymentrun.closed', resource: 'PaymentRun' } as const
  if (closed.length > 0) await raise(tx, [{ ...event, productID, ids: [id], userID }])
}

/** Marks payments as unclaimed that were returned at least so many days ago. */
export async function markUnclaimed(all: Tx, actor: Actor, asked: Unclaimed): Promise<Written> {
  const run = await lockRun(all, actor, asked.paymentRunID, ['Sent', 'Closed'])
  const tx = inProduct(all, run.productID)
  await refuseUnreturned(tx, run, asked.paymentIDs)
  const today = await todayOf(tx, run.productID)
  await refuseRecent(tx, run, asked, today)
  const wanted = sql`${ofRun(run, 't')} and t.state = 'Returned'
    and t.state_date <= ${today}::date - ${asked.days}::int
    and (${asked.paymentIDs ?? null}::bigint[] is null
      or t.payment_id = any(${asked.paymentIDs ?? null}::bigint[]))`
  await keepLedgerRows(tx, 'payment', wanted)
  const marked = await tx.query<{ id: number }>(sql`
    update payment t set state = 'Unclaimed' where ${wanted} returning t.payment_id as id`)
  if (marked.length === 0)
    throw conflict(
      'nothing_returned',
      `No payment of the run was returned at least ${asked.days} days ago.`,
    )
  await closeIfDone(tx, actor, run)
  const paymentIDs = marked.map(({ id }) => id).sort((a, b) => a - b)
  return told(tx, actor, run, { days: asked.days, payments: marked.length, paymentIDs })
}

/** Payments that a request names and that came back too lately are refused and not ignored. */
async function refuseRecent(
  tx: Tx,
  run: RunID,
  { paymentIDs = [], days }: Unclaimed,
  today: string,
) {
  const rows = await tx.query<{ id: number; date: string }>(sql`
    select p.payment_id as id, p.state_date::text as date from payment p
    where ${ofRun(run, 'p')} and p.payment_id = any(${paymentIDs}::bigint[])
      and p.state_date > ${today}::date - ${days}::int`)
  const dates = new Map(rows.map(({ id, date }) => [id, date]))
  refuseAll(
    409,
    paymentIDs.flatMap((id, place): Problem[] => {
      const [field, date] = [`paymentIDs[${place}]`, dates.get(id)]
      const message = `${field} was returned on ${date}, less than ${days} days ago.`
      return date === undefined ? [] : [{ code: 'nothing_returned', field, message }]
    }),
  )
}

/**
 * Deletes a draft as if it had never been made; payments that it would have reissued are returned
 * again. If an item of such a payment was rolled back since, the items left are payable as if they
 * had never been sent.
 */
export async function deleteRun(all: Tx, actor: Actor, runID: number): Promise<Written> {
  const run = await lockRun(all, actor, runID, ['Draft'])
  const tx = inProduct(all, run.productID)
  const { productID } = run
  const first = await lockFirst(tx, run)
  const reissued = (payment: string): Fragment => sql`
    ${raw(payment)}.product_id = ${productID} and ${raw(payment)}.payment_id in (
      select m.came_from_payment_id from payment_item m where ${ofRun(run, 'm')})
    and ${raw(payment)}.amount = (
      select sum(m.amount) from payment_item m
      where m.product_id = ${productID} and (m.payment_id = ${raw(payment)}.payment_id
        or (m.came_from_payment_id = ${raw(payment)}.payment_id
          and m.payment_run_id = ${run.id})))`
  // Apart from the payments of the run itself: both conditions in one SQL statement would read
  // every payment there ever was.
  await keepLedgerRows(tx, 'payment', reissued('t'))
  for (const table of ['payment', 'payment_run', 'payment_item', 'payment_exception'] as const)
    await keepLedgerRows(tx, table, ofRun(run, 't'))
  await tx.query(sql`
    with back as (
      update payment o set state = 'Returned', reissued_as = null where ${reissued('o')}
      returning o.payment_id, o.payment_run_id)
    update payment_item m set payment_id = b.payment_id, payment_run_id = b.payment_run_id,
      came_from_payment_id = null
    from back b
    where ${ofRun(run, 'm')} and m.came_from_payment_id = b.payment_id`)
  if (first) await reopen(tx, first)
  await tx.query(sql`delete from payment_item m where ${ofRun(run, 'm')}`)
  await tx.query(sql`delete from payment p where ${ofRun(run, 'p')}`)
  await tx.query(sql`delete from payment_run r where ${ofRun(run, 'r')}`)
  return { ...nothingLeft, ids: [runID], productID, changes: { deleted: runID } }
}

/** Locks the run whose payments a draft sends again. */
async function lockFirst(tx: Tx, draft: RunID): Promise<RunID | undefined> {
  const [first] = await tx.query<RunID>(sql`
    select r.payment_run_id as id, r.product_id as "productID"
    from payment_run d
    join payment_run r on r.product_id = d.product_id and r.payment_run_id = d.reissue_of
    where ${ofRun(draft, 'd')} for update of r`)
  return first
}

/** Opens a closed run again if it has returned payments again. */
async function reopen(tx: Tx, run: RunID) {
  const isOpen = sql`${ofRun(run, 't')} and t.state = 'Closed' and exists (
    select 1 from payment p where ${ofRun(run, 'p')} and p.state = 'Returned')`
  await keepLedgerRows(tx, 'payment_run', isOpen)
  await tx.query(sql`
    update payment_run t set state = 'Sent', closed_date = null where ${isOpen}`)
}
