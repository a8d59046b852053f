import sql, { empty, raw } from 'sql-template-tag'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { standing } from '../../parties/account/standing.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid, refuseAll } from '../../platform/refusal.ts'
import { changesBetween } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyAll, namesAny } from '../../platform/sql/identify.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { completedEvents, resettleEvents } from '../biz-event/settle.ts'
import { holdProblems, type Taken, takesOut } from '../on-hold/held.ts'
import { type Corrected, correct, moves } from './correct.ts'
import {
  countAnew,
  type Effects,
  leaveRuns,
  lockFamilies,
  refuseInRun,
  refuseUnchangeable,
  renderAll,
  type Stored,
} from './family.ts'
import { idsWhere, kindOf } from './kinds.ts'
import { type Changes, newLines } from './marks.ts'
import { transactionReference } from './reference.ts'
import { BizTransaction, type TransactionUpdate } from './schema.ts'
import { among, type Key, keepVersions, momentOfChange } from './versions.ts'

/** Corrects a transaction, and the other leg with it; what the correction leaves out stays. */
export async function updateTransaction(
  all: Tx,
  actor: Actor,
  update: TransactionUpdate,
  effects: Effects,
): Promise<Written> {
  const id = await identifyTransaction(all, actor, update)
  const family = await lockFamilies(all, actor, [id], update.transactionDate)
  const own = family.find((row) => row.id === id)! // identified, and never deleted
  const tx = inProduct(all, own.productID) // both legs are of one product
  refuseUnchangeable(family, { newDate: update.transactionDate })
  if (movesTogether(update)) await leaveRuns(tx, family, effects)
  else await refuseInRun(tx, family)
  refuseBadDate(own, update)
  refuseBadSigns(own, update)
  const changed = movesTogether(update) ? family : [own]
  const before = await renderAll(tx, [own])
  const moment = await momentOfChange(tx)
  const figures = moves(update) ? await correct(tx, own, family, update) : []
  await keepVersions(tx, actor.userID, changed, moment)
  await write(tx, own, { changed, update, moment })
  await writeFigures(tx, own, figures, moment)
  if (movesTogether(update)) {
    const changes = (productID: number) => changedLines(productID, changed, moment)
    await countAnew(tx, changed, changes, update.transactionDate)
  }
  await refuseTaking(tx, own, moment)
  const completed = await resettleEvents(tx, changed, moment)
  return {
    json: await renderAll(tx, changed),
    recordCount: changed.length,
    ids: changed.map((row) => row.id),
    productID: own.productID,
    events: completedEvents(completed.map((id) => ({ productID: own.productID, id }))),
    before,
    changes: changesBetween(BizTransaction, before, await renderAll(tx, [own])),
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
  return id! // identifyAll refuses a name that it does not find
}

/** Whether an update changes both legs of a pair: they share the day, and figures follow. */
const movesTogether = (update: TransactionUpdate) =>
  update.transactionDate !== undefined || moves(update)

function refuseBadDate({ latestDate }: Stored, { transactionDate }: TransactionUpdate) {
  if (transactionDate !== undefined && transactionDate > latestDate)
    throw invalid('out_of_range', 'transactionDate is more than one day ahead.', 'transactionDate')
}

/** Figures are signed as GET shows them. */
function refuseBadSigns({ typeID }: Stored, { quantity, amount }: TransactionUpdate) {
  const { units } = kindOf(typeID)
  for (const [field, figure] of Object.entries({ quantity, amount })) {
    if (figure === undefined) continue
    if (field === 'quantity' && figure === '0')
      throw invalid('invalid_value', 'quantity must not be 0; roll the transaction back.', field)
    if (figure.startsWith('-') ? units === 'in' : units === 'out' && figure !== '0')
      throw invalid('invalid_value', `${field} must have the sign that GET shows for it.`, field)
  }
}

type Change = { changed: readonly Stored[]; update: TransactionUpdate; moment: string }

/**
 * Writes the day of all legs, and the comment and external id of the named leg only. An external id
 * can be changed but not cleared.
 */
const write = (tx: Tx, own: Stored, { changed, update, moment }: Change) => {
  const { comment, externalBizTransactionId, transactionDate } = update
  const mine = sql`t.biz_transaction_id = ${own.id}`
  return tx.query(sql`
    update biz_transaction t set
      biz_transaction_status_id = ${lookups.BizTransactionStatus.Updated},
      updated_date = ${moment},
      transaction_date = coalesce(${transactionDate}, t.transaction_date),
      ${movesTogether(update) ? uncounted : empty}
      comment = case when ${mine} and ${comment !== undefined} then ${comment}
        else t.comment end,
      external_biz_transaction_id = case when ${mine}
        then coalesce(${externalBizTransactionId}, t.external_biz_transaction_id)
        else t.external_biz_transaction_id end
    where ${among(own.productID, changed)}`)
}

/** A transaction that moves has no closing figures until it is counted in its new place. */
const uncounted = raw(`closing_quantity = null, closing_amount = null, closing_cost = null,
      closing_gain = null,`)

/** The changed transactions as they are now, and as they were up to the moment of the change. */
const changedLines = (productID: number, rows: readonly Key[], moment: string): Changes => sql`
  ${newLines(productID, idIn(rows))}
  union all
  select b.account_id, b.investment_id, v.transaction_date, b.biz_transaction_id, -v.quantity,
    -v.amount, false, coalesce(b.carried_cost, c.carried_cost)
  from biz_transaction b
  join biz_transaction_version v on v.product_id = b.product_id
    and v.biz_transaction_id = b.biz_transaction_id and v.valid_to = ${moment}::timestamptz
  left join biz_transaction_cost c on c.product_id = b.product_id
    and c.biz_transaction_id = b.biz_transaction_id and c.valid_to = ${moment}::timestamptz
  where b.product_id = ${productID} and ${idIn(rows)}`

const idIn = (rows: readonly Key[]) =>
  sql`b.biz_transaction_id = any(${rows.map(({ id }) => id)}::bigint[])`

const outgoing = raw(idsWhere(({ id }) => takesOut(id)))

/**
 * Refuses a correction that takes more units out, or takes them out on another day, if those units
 * are on hold; and one that takes more units out of a suspended account.
 */
async function refuseTaking(tx: Tx, { productID, id }: Stored, moment: string) {
  const taken = await tx.query<Taken & { isMore: boolean; account: Stored['account'] }>(sql`
    select t.account_id as "accountID", t.investment_id as "investmentID",
      t.transaction_date as date, t.quantity < v.quantity as "isMore",
      ${standing('a', 'e')} as account
    from biz_transaction t
    join account a on a.account_id = t.account_id
    join biz_entity e on e.biz_entity_id = a.biz_entity_id
    join biz_transaction_version v on v.product_id = t.product_id
      and v.biz_transaction_id = t.biz_transaction_id and v.valid_to = ${moment}::timestamptz
    where t.product_id = ${productID}
      and (t.biz_transaction_id = ${id} or t.parent_biz_transaction_id = ${id}
        or t.biz_transaction_id = (select o.parent_biz_transaction_id from biz_transaction o
          where o.product_id = ${productID} and o.biz_transaction_id = ${id}))
      and t.biz_transaction_type_id in ${outgoing}
      and (t.quantity < v.quantity or t.transaction_date <> v.transaction_date)`)
  if (taken.some(({ isMore, account }) => isMore && account === 'suspended'))
    throw conflict('account_suspended', 'The account is suspended: nothing leaves it.', 'quantity')
  if (taken.length > 0) refuseAll(409, [...(await holdProblems(tx, productID, taken)).values()])
}

const figureColumns = {
  id: 'bigint',
  price: 'numeric',
  amount: 'numeric',
  quantity: 'numeric',
  fee: 'numeric',
  carriedCost: 'numeric',
  madeByQuantity: 'boolean',
} as const

const writeFigures = async (
  tx: Tx,
  { productID }: Stored,
  figures: readonly Corrected[],
  moment: string,
) => {
  if (figures.length === 0) return
  await tx.query(sql`
    insert into biz_transaction_cost (product_id, biz_transaction_id, valid_to, carried_cost)
    select t.product_id, t.biz_transaction_id, ${moment}::timestamptz, t.carried_cost
    from ${recordset('g', figures, figureColumns)}
    join biz_transaction t on t.product_id = ${productID} and t.biz_transaction_id = g.id
    where t.carried_cost is distinct from g."carriedCost"`)
  await tx.query(sql`
    update biz_transaction t set investment_price = g.price, amount = g.amount,
      quantity = g.quantity, entry_fee_amount = g.fee, carried_cost = g."carriedCost",
      made_by_quantity = g."madeByQuantity"
    from ${recordset('g', figures, figureColumns)}
    where t.product_id = ${productID} and t.biz_transaction_id = g.id`)
}
