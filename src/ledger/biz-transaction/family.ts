import sql from 'sql-template-tag'
import { holdPeriods } from '../../catalogue/product/period.ts'
import { today } from '../../catalogue/product/today.ts'
import { standing } from '../../parties/account/standing.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, Refusal } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'
import { lockEvents } from '../biz-event/hand-off.ts'
import { lockReached, recountAll } from './carry.ts'
import { kindOf } from './kinds.ts'
import type { Changes } from './marks.ts'
import { periodLocked } from './price.ts'
import { touchedHoldings } from './recount.ts'
import { shortfallProblems } from './shortfall.ts'
import { renderPerRequest } from './sql.ts'
import { lockAccounts } from './units.ts'
import type { Key } from './versions.ts'

const { RolledBack } = lookups.BizTransactionStatus

type Found = Key & { accountID: number; investmentID: number; eventID: number | null; date: string }

/** A stored transaction, locked, with what its correction depends on. */
export type Stored = Found & {
  typeID: number
  statusID: number
  corporateActionID: number | null
  lockedDate: string | null
  /** The latest date it may get: tomorrow in the product's time zone. */
  latestDate: string
  account: 'open' | 'suspended' | 'closed'
}

/**
 * Locks transactions and their other legs: first the notices they settled, then their accounts, the
 * transactions themselves, and the accounts that received cost from them. Each attempt of the unit
 * of work waits for a lock for two seconds at most, so that one locked account does not hold up
 * other changes for long.
 */
export async function lockFamilies(
  tx: Tx,
  actor: Actor,
  ids: readonly number[],
  alsoFrom?: string,
): Promise<Stored[]> {
  await tx.query(sql`select set_config('lock_timeout', '2s', true)`)
  const seen = await findFamilies(tx, actor, ids)
  const events = seen.flatMap(({ eventID }) => eventID ?? [])
  if (events.length > 0) await lockEvents(tx, actor, events)
  const products = productsOf(seen)
  await holdPeriods(tx, products)
  const own = (id: number) => seen.filter(({ productID }) => productID === id)
  const locked: Stored[] = []
  for (const id of products) {
    await lockAccounts(
      tx,
      id,
      own(id).map(({ accountID }) => accountID),
    )
    // From here on their days stay: whoever held the accounts may have moved them to earlier ones.
    const rows = await lockTransactions(tx, id, own(id))
    await lockReached(inProduct(tx, id), id, touchedBy(rows, alsoFrom))
    locked.push(...rows)
  }
  return locked
}

const productsOf = (rows: readonly Key[]) =>
  [...new Set(rows.map(({ productID }) => productID))].sort((a, b) => a - b)

/** Finds transactions and their other legs; which legs belong together never changes. */
const findFamilies = (tx: Tx, actor: Actor, ids: readonly number[]) =>
  tx.query<Found>(sql`
    with root as (
      select distinct t.product_id,
        coalesce(t.parent_biz_transaction_id, t.biz_transaction_id) as id
      from biz_transaction t
      where ${inLedgerScope(actor, 't.product_id')}
        and t.biz_transaction_id = any(${ids}::bigint[]))
    select t.biz_transaction_id as id, t.product_id as "productID", t.account_id as "accountID",
      t.investment_id as "investmentID", t.biz_event_id as "eventID", t.transaction_date as date
    from root r
    join biz_transaction t on t.product_id = r.product_id
      and (t.biz_transaction_id = r.id or t.parent_biz_transaction_id = r.id)`)

/** Locks transactions of one product in the order of their ids. */
const lockTransactions = (tx: Tx, productID: number, found: readonly Found[]) =>
  tx.query<Stored>(sql`
    select t.biz_transaction_id as id, t.product_id as "productID", t.account_id as "accountID",
      t.investment_id as "investmentID", t.biz_event_id as "eventID",
      t.biz_transaction_type_id as "typeID",
      t.biz_transaction_status_id as "statusID", t.corporate_action_id as "corporateActionID",
      t.transaction_date as date, p.locked_date as "lockedDate",
      (${today('p')} + 1)::text as "latestDate",
      ${standing('a', 'e')} as account
    from biz_transaction t
    join product p on p.product_id = t.product_id
    join account a on a.account_id = t.account_id
    join biz_entity e on e.biz_entity_id = a.biz_entity_id
    where t.product_id = ${productID}
      and t.biz_transaction_id = any(${found.map(({ id }) => id)}::bigint[])
    order by t.biz_transaction_id for update of t`)

/**
 * What else a change of transactions of a product does, as functions that are passed in, since the
 * ledger must not depend on payment runs and distributions.
 */
type Effect = (tx: Tx, productID: number, ids: readonly number[]) => Promise<void>
export type Effects = {
  /** Takes them out of draft payment runs. */
  leaveDrafts: Effect
  /** Adds payments of residuals that are rolled back to the residuals again. */
  restoreResiduals: Effect
}

/** Refuses transactions that an approved payment run pays; takes the others out of drafts. */
export async function leaveRuns(tx: Tx, rows: readonly Stored[], { leaveDrafts }: Effects) {
  await refuseInRun(tx, rows)
  for (const [productID, own] of byProduct(rows))
    await leaveDrafts(
      inProduct(tx, productID),
      productID,
      own.map(({ id }) => id),
    )
}

export async function refuseInRun(tx: Tx, rows: readonly Stored[]) {
  for (const [productID, own] of byProduct(rows)) {
    const [paid] = await tx.query<{ id: number; runID: number }>(sql`
      select m.biz_transaction_id as id, m.payment_run_id as "runID"
      from payment_item m
      join payment_run r on r.product_id = ${productID} and r.payment_run_id = m.payment_run_id
      where m.product_id = ${productID}
        and m.biz_transaction_id = any(${own.map(({ id }) => id)}::bigint[])
        and r.state <> 'Draft' limit 1`)
    if (paid)
      throw conflict('in_payment_run', `Transaction ${paid.id} is in payment run ${paid.runID}.`)
  }
}

/** A payment of residuals without a distribution can be rolled back, but not corrected. */
export const isPaidAlone = ({ typeID, corporateActionID }: Stored) =>
  corporateActionID === null && kindOf(typeID).goesBackAlone === true

/**
 * Refuses to change transactions that are rolled back, were made by a distribution, or are in a
 * locked period or a closed account. A change that is `allowed` passes the rules of distributions
 * and closed accounts.
 */
export function refuseUnchangeable(
  rows: readonly Stored[],
  { newDate, allowed }: { newDate?: string | undefined; allowed?: (row: Stored) => boolean } = {},
) {
  for (const row of rows) {
    const { id, statusID, typeID, corporateActionID, lockedDate, date, account } = row
    const isAllowed = allowed?.(row) ?? false
    if (statusID === RolledBack)
      throw conflict('rolled_back', `Transaction ${id} is rolled back already.`)
    if (!isAllowed && (corporateActionID !== null || kindOf(typeID).ofDistribution))
      throw conflict('from_distribution', `Transaction ${id} was made by a distribution.`)
    if (lockedDate !== null && earlier(date, newDate) <= lockedDate)
      throw conflict('period_locked', periodLocked(lockedDate), 'transactionDate')
    if (!isAllowed && account === 'closed')
      throw conflict('account_closed', `The account of transaction ${id} is closed.`)
  }
}

const earlier = (date: string, other = date) => (other < date ? other : date)

const touchedBy = (rows: readonly Found[], alsoFrom?: string) =>
  touchedHoldings(rows.map((row) => ({ ...row, from: earlier(row.date, alsoFrom) })))

/** Recounts the holdings of changed transactions from their old or new day, whichever is first. */
export async function countAnew(
  tx: Tx,
  rows: readonly Stored[],
  changesIn: (productID: number) => Changes,
  alsoFrom?: string,
) {
  for (const productID of productsOf(rows)) {
    const own = rows.filter((row) => row.productID === productID)
    const shortfalls = await recountAll(
      inProduct(tx, productID),
      productID,
      touchedBy(own, alsoFrom),
      changesIn(productID),
    )
    if (shortfalls.length > 0) throw new Refusal(409, await shortfallProblems(tx, shortfalls))
  }
}

export const renderAll = async (tx: Tx, rows: readonly Key[]) => {
  const wanted = rows.map(({ id, productID }) => ({ request: 0, productID, id }))
  return (await renderPerRequest(tx, wanted)).get(0) ?? '[]'
}
