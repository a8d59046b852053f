import sql, { raw } from 'sql-template-tag'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid, Refusal } from '../../platform/refusal.ts'
import { changesBetween } from '../../platform/shape/mask.ts'
import { sharesOf } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyAll, namesAny, reference } from '../../platform/sql/identify.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { latestDate, problemsOf } from './legs.ts'
import { BizTransaction, type Rollback, type TransactionUpdate } from './schema.ts'
import { shortfallProblems } from './shortfall.ts'
import { renderPerRequest } from './sql.ts'
import { lockAccounts, recount, touchedAccounts } from './units.ts'

const transactionReference = reference(
  {
    what: 'transaction',
    table: 'biz_transaction',
    columns: ['biz_transaction_id', 'external_biz_transaction_id'],
    inProduct: true,
  },
  ['bizTransactionID', 'externalBizTransactionId'],
)

const { BizTransactionType: types, BizTransactionStatus: statuses } = lookups

type Found = { id: number; productID: number; accountID: number }
type Stored = Found & {
  typeID: number
  statusID: number
  corporateActionID: number | null
  date: string
}

/**
 * Transactions with the other legs of theirs, their accounts locked first, then themselves. Each of
 * the unit of work's tries waits for a while only, so that one locked account does not hold up the
 * changes of others for long.
 */
async function lockFamilies(tx: Tx, actor: Actor, ids: number[]): Promise<Stored[]> {
  await tx.query(sql`select set_config('lock_timeout', '2s', true)`)
  const seen = await findFamilies(tx, actor, ids)
  const products = productsOf(seen)
  const own = (id: number) => seen.filter(({ productID }) => productID === id)
  for (const id of products)
    await lockAccounts(
      tx,
      id,
      own(id).map(({ accountID }) => accountID),
    )
  const locked: Stored[] = []
  for (const id of products) locked.push(...(await lockTransactions(tx, id, own(id))))
  return locked
}

const productsOf = (rows: Found[]) =>
  [...new Set(rows.map(({ productID }) => productID))].sort((a, b) => a - b)

/** Who belongs to a family is settled when it is written. */
const findFamilies = (tx: Tx, actor: Actor, ids: number[]) =>
  tx.query<Found>(sql`
    with root as (
      select distinct t.product_id,
        coalesce(t.parent_biz_transaction_id, t.biz_transaction_id) as id
      from biz_transaction t
      where ${inLedgerScope(actor, 't.product_id')}
        and t.biz_transaction_id = any(${ids}::bigint[]))
    select t.biz_transaction_id as id, t.product_id as "productID", t.account_id as "accountID"
    from root r
    join biz_transaction t on t.product_id = r.product_id
      and (t.biz_transaction_id = r.id or t.parent_biz_transaction_id = r.id)`)

/** Of one product at a time, in the order of ids. */
const lockTransactions = (tx: Tx, productID: number, found: Found[]) =>
  tx.query<Stored>(sql`
    select t.biz_transaction_id as id, t.product_id as "productID", t.account_id as "accountID",
      t.biz_transaction_type_id as "typeID", t.biz_transaction_status_id as "statusID",
      t.corporate_action_id as "corporateActionID", t.transaction_date as date
    from biz_transaction t
    where t.product_id = ${productID}
      and t.biz_transaction_id = any(${found.map(({ id }) => id)}::bigint[])
    order by t.biz_transaction_id for update`)

function refuseUnchangeable(rows: Stored[]) {
  for (const { id, statusID, corporateActionID } of rows) {
    if (statusID === statuses.RolledBack)
      throw conflict('rolled_back', `Transaction ${id} is rolled back already.`)
    if (corporateActionID !== null)
      throw conflict('from_distribution', `Transaction ${id} was made by a distribution.`)
  }
}

/**
 * The moment of a change, read once its accounts are locked: `now()` is that of the transaction's
 * beginning, and one that began earlier may get the lock later.
 */
async function momentOfChange(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ moment: string }>(sql`select clock_timestamp()::text as moment`)
  return row!.moment
}

/** The version that is about to be replaced, with its time and who replaces it. */
const keepVersions = (tx: Tx, actor: Actor, rows: Stored[], moment: string) =>
  tx.query(sql`
    insert into biz_transaction_version (product_id, biz_transaction_id, version,
      external_biz_transaction_id, biz_transaction_status_id, transaction_date, investment_price,
      amount, quantity, comment, valid_from, valid_to, replaced_by_user_id)
    select t.product_id, t.biz_transaction_id, 1 + (
        select count(*) from biz_transaction_version v
        where v.product_id = t.product_id and v.biz_transaction_id = t.biz_transaction_id),
      t.external_biz_transaction_id, t.biz_transaction_status_id, t.transaction_date,
      t.investment_price, t.amount, t.quantity, t.comment,
      coalesce(t.updated_date, t.created_date), ${moment}::timestamptz, ${actor.userID}
    from biz_transaction t where ${among(rows)}`)

const among = (rows: Stored[]) => sql`
  (t.product_id, t.biz_transaction_id) in (
    select * from unnest(${rows.map(({ productID }) => productID)}::int[],
      ${rows.map(({ id }) => id)}::bigint[]))`

/** Counts the accounts anew from the first day touched; refuses when a holding goes negative. */
async function countAnew(tx: Tx, rows: Stored[], alsoFrom?: string) {
  for (const productID of productsOf(rows)) {
    const touched = rows
      .filter((row) => row.productID === productID)
      .map(({ accountID, date }) => ({ accountID, from: earlier(date, alsoFrom) }))
    const shortfalls = await recount(tx, productID, touchedAccounts(touched))
    if (shortfalls.length === 0) continue
    throw new Refusal(409, await shortfallProblems(tx, shortfalls))
  }
}

const earlier = (date: string, other = date) => (other < date ? other : date)

const renderAll = async (tx: Tx, rows: Stored[]) => {
  const wanted = rows.map(({ id, productID }) => ({ request: 0, productID, id }))
  return (await renderPerRequest(tx, wanted)).get(0) ?? '[]'
}

export async function updateTransaction(
  tx: Tx,
  actor: Actor,
  update: TransactionUpdate,
): Promise<Written> {
  const id = await identifyTransaction(tx, actor, update)
  const family = await lockFamilies(tx, actor, [id])
  const own = family.filter((row) => row.id === id)
  const changed = movesTogether(update) ? family : own
  refuseUnchangeable(family)
  refuseBadFigures(own[0]!, update)
  const before = await renderAll(tx, own)
  const moment = await momentOfChange(tx)
  await keepVersions(tx, actor, changed, moment)
  refuseNoUnits(await applyUpdate(tx, own[0]!, { changed, update, moment }))
  await countAnew(tx, changed, update.transactionDate)
  const changes = changesBetween(BizTransaction, before, await renderAll(tx, own))
  return {
    json: await renderAll(tx, changed),
    recordCount: changed.length,
    ids: changed.map((row) => row.id),
    productID: own[0]!.productID,
    changes,
  }
}

async function identifyTransaction(tx: Tx, actor: Actor, update: TransactionUpdate) {
  const productID = namesAny(productReference, update)
    ? await identifyProduct(tx, actor, update)
    : undefined
  const [id] = await identifyAll(tx, transactionReference, [update], {
    visible: inLedgerScope(actor, 'r.product_id'),
    productIDs: [productID],
  })
  return id!
}

/** The day, the units and the money of a transfer are those of both its legs. */
const movesTogether = ({ transactionDate, amount, quantity, investmentPrice }: TransactionUpdate) =>
  [transactionDate, amount, quantity, investmentPrice].some((field) => field !== undefined)

const inward = new Set<number>([
  types.Deposit,
  types.Allotment,
  types['Conversion in'],
  types['Transfer in'],
])
const outward = new Set<number>([types.Redemption, types['Conversion out'], types['Transfer out']])

function refuseBadFigures({ typeID }: Stored, update: TransactionUpdate) {
  const { transactionDate, quantity, amount } = update
  if (transactionDate !== undefined) {
    const [problem] = problemsOf(
      { operation: 'Transfer', body: { transactionDate }, path: '' },
      latestDate(),
    )
    if (problem) throw new Refusal(400, [problem])
  }
  for (const [field, figure] of [
    ['quantity', quantity],
    ['amount', amount],
  ] as const) {
    if (figure === undefined) continue
    if (field === 'quantity' && figure === '0')
      throw invalid('invalid_value', 'quantity must not be 0; roll the transaction back.', field)
    const wrong = figure.startsWith('-')
      ? inward.has(typeID)
      : outward.has(typeID) && figure !== '0'
    if (wrong)
      throw invalid('invalid_value', `${field} must have the sign that GET shows for it.`, field)
  }
}

type Change = { changed: Stored[]; update: TransactionUpdate; moment: string }

/** The named leg takes all; the other leg of a transfer mirrors it, of a conversion its day. */
const applyUpdate = (tx: Tx, own: Stored, { changed, update, moment }: Change) => {
  const { comment, externalBizTransactionId, transactionDate, amount, quantity } = update
  const isTransfer = own.typeID === types['Transfer out'] || own.typeID === types['Transfer in']
  const mine = sql`t.biz_transaction_id = ${own.id}`
  const figure = (
    column: 'amount' | 'quantity',
    given: string | undefined,
    decimals: string,
  ) => sql`
    case when ${given ?? null}::numeric is null then ${raw(`t.${column}`)}
      when ${mine} then round(${given ?? null}::numeric, ${raw(decimals)})
      when ${isTransfer} then -round(${given ?? null}::numeric, ${raw(decimals)})
      else ${raw(`t.${column}`)} end`
  return tx.query<Updated>(sql`
    update biz_transaction t set
      biz_transaction_status_id = ${statuses.Updated},
      updated_date = ${moment},
      transaction_date = coalesce(${transactionDate}, t.transaction_date),
      comment = case when ${mine} then ${comment} else t.comment end,
      external_biz_transaction_id = case when ${mine} then ${externalBizTransactionId}
        else t.external_biz_transaction_id end,
      investment_price = case when ${mine} or ${isTransfer}
        then coalesce(${update.investmentPrice}, t.investment_price) else t.investment_price end,
      amount = ${figure('amount', amount, 'minor_units(i.currency_id)')},
      quantity = ${figure('quantity', quantity, 'i.unit_decimals')}
    from investment i
    where i.investment_id = t.investment_id and ${among(changed)}
    returning t.quantity = 0 as "noUnits", t.quantity * t.amount < 0 as "crossed"`)
}

type Updated = { noUnits: boolean; crossed: boolean }

/** What the figures have become after rounding, and together with those that stay. */
function refuseNoUnits(updated: Updated[]) {
  if (updated.some(({ noUnits }) => noUnits))
    throw invalid('too_small', 'This comes to no units at all after rounding.', 'quantity')
  if (updated.some(({ crossed }) => crossed))
    throw invalid('invalid_value', 'amount must have the sign of the quantity.', 'amount')
}

export async function rollBack(tx: Tx, actor: Actor, asked: Rollback): Promise<Written> {
  const { bizTransactionID, bizTransactionIDs = [] } = asked
  const ids = [...new Set([...(bizTransactionID ? [bizTransactionID] : []), ...bizTransactionIDs])]
  if (ids.length === 0)
    throw invalid('required', 'Give bizTransactionID or bizTransactionIDs.', 'bizTransactionID')
  await identifyAll(
    tx,
    transactionReference,
    ids.map((id) => ({ bizTransactionID: id })),
    { visible: inLedgerScope(actor, 'r.product_id') },
  )
  const family = await lockFamilies(tx, actor, ids)
  refuseUnchangeable(family)
  const moment = await momentOfChange(tx)
  await keepVersions(tx, actor, family, moment)
  await tx.query(sql`
    update biz_transaction t set biz_transaction_status_id = ${statuses.RolledBack},
      updated_date = ${moment}, closing_quantity = null, closing_amount = null, closing_cost = null,
      closing_gain = null, account_closing_quantity = null, account_closing_amount = null
    where ${among(family)}`)
  await countAnew(tx, family)
  const products = productsOf(family)
  return {
    json: await renderAll(tx, family),
    recordCount: family.length,
    ids: family.map(({ id }) => id),
    productID: products.length === 1 ? products[0] : undefined,
    shares: sharesOf(family),
    changes: asked,
  }
}
