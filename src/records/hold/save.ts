import sql from 'sql-template-tag'
import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { momentOfChange } from '../../ledger/biz-transaction/versions.ts'
import { lockLedgerRows } from '../../parties/account/ledger-row.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { type Actor, inLedgerScope, inScope } from '../../platform/actor.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify, identifyOptional, nameOf, namesAny } from '../../platform/sql/identify.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { lostRace } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { inBody, lockDocument } from '../document/find.ts'
import { Hold, type HoldInput, type HoldKey, type HoldUpdate } from './schema.ts'
import { selectHolds } from './sql.ts'

/** The key of a hold, and the account that it is on. */
type Key = { productID: number; holdID: number; accountID: number }

export async function createHold(tx: Tx, actor: Actor, input: HoldInput): Promise<Written> {
  const { quantity, reason, documentID, validFrom, validTo } = input
  refuseUnclear(input)
  const { productID, accountID } = await findAccount(tx, actor, input)
  const investmentID = await identifyOptional(tx, investmentReference, input, {
    productIDs: [productID],
  })
  if (quantity !== undefined && investmentID === undefined)
    throw invalid(
      'required',
      'A quantity needs the investment whose units it counts.',
      'investmentID',
    )
  if (documentID !== undefined) await lockDocument(tx, actor, inBody, { documentID })
  await lockAccount(tx, productID, accountID)
  const [row] = await tx.query<{ id: number }>(sql`
    with given as (
      select coalesce(${validFrom}::date, ${today('p')}) as valid_from
      from product p where p.product_id = ${productID})
    insert into hold (product_id, account_id, investment_id, quantity, reason, document_id,
      valid_from, valid_to, created_date)
    select ${productID}, ${accountID}, ${investmentID}, ${quantity}, ${reason}, ${documentID},
      g.valid_from, ${validTo}, clock_timestamp()
    from given g where ${validTo ?? null}::date is null or ${validTo ?? null}::date >= g.valid_from
    returning hold_id as id`)
  if (!row) throw endsEarly()
  const shown = await renderHold(tx, productID, row.id)
  return { ...shown, ids: [row.id], productID, changes: input }
}

const endsEarly = () => invalid('invalid_value', 'validTo must not be before validFrom.', 'validTo')

/** Refuses a hold that gives neither a quantity nor `all`, or both. */
function refuseUnclear({ quantity, all }: HoldInput) {
  if (quantity === undefined && all !== true)
    throw invalid('required', 'Give a quantity or all: true.', 'quantity')
  refuseBoth({ quantity, all })
}

type Amount = { quantity?: string | undefined; all?: boolean | undefined }

function refuseBoth({ quantity, all }: Amount) {
  if (quantity !== undefined && all === true)
    throw invalid('combination', 'Give either a quantity or all: true.', 'all')
}

async function findAccount(tx: Tx, actor: Actor, input: HoldInput) {
  const given = namesAny(productReference, input)
    ? await identifyProduct(tx, actor, input)
    : undefined
  const accountID = await identify(tx, accountReference, input, {
    visible: inScope(actor, 'r.product_id'),
    productIDs: [given],
  })
  const [account] = await tx.query<{ productID: number }>(sql`
    select product_id as "productID" from account where account_id = ${accountID}`)
  if (!account) throw lostRace('account') // the account was deleted after it was identified
  return { accountID, productID: account.productID }
}

/**
 * A transaction that takes units out of the account holds this lock as well, so it either ends
 * before the hold is written or sees the hold.
 */
const lockAccount = (tx: Tx, productID: number, accountID: number) =>
  lockLedgerRows(tx, [{ productID, id: accountID }])

const renderHold = (tx: Tx, productID: number, id: number) =>
  render(
    tx,
    selectHolds(sql`select * from hold where product_id = ${productID} and hold_id = ${id}`),
  )

/** Locks the account of a hold first, then the hold. */
async function lockHold(tx: Tx, actor: Actor, holdID: number, field: string): Promise<Key> {
  const own = sql`${inLedgerScope(actor, 'h.product_id')} and h.hold_id = ${holdID}`
  const [key] = await tx.query<Key>(sql`
    select h.product_id as "productID", h.hold_id as "holdID", h.account_id as "accountID"
    from hold h where ${own}`)
  if (key) await lockAccount(tx, key.productID, key.accountID)
  const [locked] = key
    ? await tx.query(sql`
        select 1 from hold where product_id = ${key.productID} and hold_id = ${holdID} for update`)
    : []
  if (!key || !locked)
    throw notFound('not_found', `No record was found for ${field} ${holdID}.`, field)
  return key
}

/** Fields that are left out stay as they are; `all` and a quantity replace each other. */
export async function updateHold(tx: Tx, actor: Actor, input: HoldUpdate): Promise<Written> {
  const { quantity, all, reason, documentID, validFrom, validTo } = input
  refuseBoth(input)
  const key = await lockHold(tx, actor, input.holdID, 'holdID')
  const { productID, holdID } = key
  const before = (await renderHold(tx, productID, holdID)).json
  refuseMoved(recordOf(before), input)
  // A client may send back the document that the hold already has, even one it may not see itself.
  if (typeof documentID === 'number' && documentID !== recordOf(before).documentID)
    await lockDocument(tx, actor, inBody, { documentID })
  const moment = await keepVersion(tx, key)
  const until = validTo === undefined ? sql`valid_to` : sql`${validTo}::date`
  const from = sql`coalesce(${validFrom}::date, valid_from)`
  const [after] = await tx.query(sql`
    update hold set
      quantity = case when ${all ?? false} then null else coalesce(${quantity}, quantity) end,
      reason = coalesce(${reason}, reason),
      document_id = ${documentID === undefined ? sql`document_id` : sql`${documentID}`},
      valid_from = ${from}, valid_to = ${until}, updated_date = ${moment}
    where product_id = ${productID} and hold_id = ${holdID}
      and (${until} is null or ${until} >= ${from})
    returning true`)
  if (!after) throw endsEarly()
  const shown = await renderHold(tx, productID, holdID)
  const changes = changesBetween(Hold, before, shown.json)
  return { ...shown, ids: [holdID], productID, changes, before }
}

/**
 * The product, account and investment of a hold cannot change: a caller who believed to have moved
 * a hold would leave units free that should be held.
 */
function refuseMoved(stored: Record<string, unknown>, input: HoldUpdate) {
  for (const reference of [productReference, accountReference, investmentReference]) {
    const { field = '', value } = nameOf(reference, input) ?? {}
    if (value !== undefined && value !== stored[field])
      throw invalid(
        'immutable',
        `${field} of a hold cannot be changed: make another hold, and delete this one.`,
        field,
      )
  }
  if (input.all === false && input.quantity === undefined && stored.all === true)
    throw invalid('required', 'Give the quantity that is held instead of all.', 'quantity')
}

export async function deleteHold(tx: Tx, actor: Actor, { HoldID }: HoldKey): Promise<Written> {
  const key = await lockHold(tx, actor, HoldID, 'HoldID')
  const { productID } = key
  const before = (await renderHold(tx, productID, HoldID)).json
  await keepVersion(tx, key)
  await tx.query(sql`delete from hold where product_id = ${productID} and hold_id = ${HoldID}`)
  const changes = { deleted: recordOf(before) }
  return { ...nothingLeft, ids: [HoldID], productID, changes, before }
}

/** Keeps the present state of the hold as a version, and returns the moment of the change. */
async function keepVersion(tx: Tx, { productID, holdID }: Key): Promise<string> {
  const moment = await momentOfChange(tx)
  await tx.query(sql`
    insert into hold_version (product_id, hold_id, version, account_id, investment_id, quantity,
      valid_from, valid_to, known_from, known_to)
    select h.product_id, h.hold_id, 1 + (
        select count(*) from hold_version v
        where v.product_id = h.product_id and v.hold_id = h.hold_id),
      h.account_id, h.investment_id, h.quantity, h.valid_from, h.valid_to,
      coalesce(h.updated_date, h.created_date), ${moment}::timestamptz
    from hold h where h.product_id = ${productID} and h.hold_id = ${holdID}`)
  return moment
}
