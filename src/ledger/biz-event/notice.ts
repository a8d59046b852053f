import sql, { raw } from 'sql-template-tag'
import { priceOn } from '../../catalogue/investment/price-on.ts'
import {
  fromInvestmentReference,
  investmentReference,
  toInvestmentReference,
} from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { standing } from '../../parties/account/standing.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { compareDecimals } from '../../platform/shape/decimal.ts'
import { masked } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify, namesAny, noSuch, type Reference } from '../../platform/sql/identify.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { heldBack } from '../on-hold/held.ts'
import { leftOf } from './left.ts'
import { NoticeOfConversion, NoticeOfDeposit, NoticeOfRedemption } from './schema.ts'
import { renderEvents } from './sql.ts'

const { BizEventType: types, BizEventStatus: statuses, ConversionMethod: methods } = lookups

type Place = {
  productID: number
  accountID: number
  productIsActive: boolean
  standing: 'open' | 'suspended' | 'closed'
  today: string
}

/** Finds product and account, which must belong together; an account alone implies its product. */
async function findAccount(tx: Tx, actor: Actor, notice: Notice): Promise<Place> {
  const productID = namesAny(productReference, notice)
    ? await identifyProduct(tx, actor, notice)
    : undefined
  const accountID = await identify(tx, accountReference, notice, {
    visible: inScope(actor, 'r.product_id'),
    productIDs: [productID],
  })
  const [place] = await tx.query<Place>(sql`
    select a.product_id as "productID", a.account_id as "accountID",
      p.is_active as "productIsActive", ${standing('a', 'e')} as standing,
      ${today('p')}::text as today
    from account a
    join biz_entity e on e.biz_entity_id = a.biz_entity_id
    join product p on p.product_id = a.product_id
    where a.account_id = ${accountID}`)
  if (!place) throw noSuch(accountReference, notice) // deleted meanwhile
  if (place.standing === 'closed')
    throw conflict('account_closed', 'The account is closed.', 'accountID')
  return place
}

/** Nothing leaves a suspended account, so no notice of units that leave it is taken either. */
function refuseSuspended({ standing: now }: Place) {
  if (now === 'suspended')
    throw conflict('account_suspended', 'The account is suspended: nothing leaves it.', 'accountID')
}

/** Finds an investment of the account's product; an inactive investment takes no notices. */
async function findInvestment(tx: Tx, { productID }: Place, notice: object, how: Reference) {
  const id = await identify(tx, how, notice, { productIDs: [productID] })
  const [open] = await tx.query<{ currencyID: number }>(sql`
    select currency_id as "currencyID" from investment where investment_id = ${id} and is_active`)
  if (!open)
    throw conflict('investment_inactive', 'The investment takes no new notices.', how.fields[0])
  return { investmentID: id, ...open }
}

function requireFigure({ amount, quantity }: { amount?: string; quantity?: string }) {
  if (amount === undefined && quantity === undefined)
    throw invalid('required', 'quantity or amount is required.', 'quantity')
}

type EventRow = {
  typeID: number
  investmentID: number
  externalID?: string | undefined
  parent?: number
}

type Notice = Partial<NoticeOfDeposit & NoticeOfRedemption & NoticeOfConversion>
type Announced = Omit<Notice, 'quantity'> & { quantity?: string | undefined }

/** Writes one notice; fields that both halves of a conversion share come from the body. */
async function insertEvent(
  tx: Tx,
  { productID, accountID }: Place,
  notice: Announced,
  { typeID, investmentID, externalID, parent }: EventRow,
): Promise<number> {
  const method = notice.conversionMethod && methods[notice.conversionMethod]
  const [row] = await tx.query<{ id: number }>(sql`
    insert into biz_event (product_id, account_id, investment_id, biz_event_type_id,
      parent_biz_event_id, biz_event_date, amount, quantity, comment, external_transaction_id,
      conversion_method_id, conversion_factor, payment_method_id, cheque_bank_name, cheque_bsb,
      cheque_account_number, cheque_cheque_no, cheque_drawer, entry_fee_amount,
      entry_fee_discount_percentage, entry_fee_override_percentage, entry_fee_percentage)
    values (${productID}, ${accountID}, ${investmentID}, ${typeID}, ${parent},
      ${notice.transactionDate}, ${notice.amount}, ${notice.quantity}, ${notice.comment},
      ${externalID}, ${method}, ${notice.conversionFactor}, ${notice.paymentMethodID},
      ${notice.chequeBankName}, ${notice.chequeBSB}, ${notice.chequeAccountNumber},
      ${notice.chequeChequeNo}, ${notice.chequeDrawer}, ${notice.entryFeeAmount},
      ${notice.entryFeeDiscountPercentage}, ${notice.entryFeeOverridePercentage},
      ${notice.entryFeePercentage})
    returning biz_event_id as id`)
  return row!.id
}

const written = async (tx: Tx, { productID }: Place, ids: number[], changes: unknown) => ({
  ...(await renderEvents(
    tx,
    ids.map((id) => ({ productID, id })),
  )),
  ids,
  productID,
  changes,
})

/** The deposit itself would be refused too, so nothing could settle the notice as it stands. */
function refuseLargeFee({ amount, entryFeeAmount = '0' }: NoticeOfDeposit) {
  if (compareDecimals(entryFeeAmount, amount) > 0)
    throw invalid('invalid_value', 'The entry fee is more than the amount.', 'entryFeeAmount')
}

export async function noticeOfDeposit(
  tx: Tx,
  actor: Actor,
  notice: NoticeOfDeposit,
): Promise<Written> {
  refuseLargeFee(notice)
  const place = await findAccount(tx, actor, notice)
  if (!place.productIsActive)
    throw conflict('product_inactive', 'The product takes no new money.', 'productID')
  const { investmentID } = await findInvestment(tx, place, notice, investmentReference)
  const externalID = notice.externalBizTransactionId
  const id = await insertEvent(tx, place, notice, {
    typeID: types.Deposit,
    investmentID,
    externalID,
  })
  return written(tx, place, [id], masked(NoticeOfDeposit, notice))
}

export async function noticeOfRedemption(
  tx: Tx,
  actor: Actor,
  notice: NoticeOfRedemption,
): Promise<Written> {
  requireFigure(notice)
  const place = await findAccount(tx, actor, notice)
  refuseSuspended(place)
  const { investmentID } = await findInvestment(tx, place, notice, investmentReference)
  await refuseMoreThanHeld(tx, place, investmentID, notice)
  const externalID = notice.externalBizTransactionId
  const typeID = types.Redemption
  const id = await insertEvent(tx, place, notice, { typeID, investmentID, externalID })
  return written(tx, place, [id], masked(NoticeOfRedemption, notice))
}

/**
 * Refuses a notice if its units and those of pending notices are more than is held, and not on
 * hold, at the end of the product's today. Money counts as units at the latest redemption price,
 * and does not count without a price. The account's row is locked, so that two notices at the same
 * time are judged one after the other.
 */
async function refuseMoreThanHeld(
  tx: Tx,
  { productID, accountID, today: date }: Place,
  investmentID: number,
  { quantity, amount }: { quantity?: string; amount?: string },
) {
  const key = sql`product_id = ${productID} and account_id = ${accountID}`
  await tx.query(sql`select 1 from ledger_account where ${key} for update`)
  const own = inProduct(tx, productID)
  const [short] = await own.query<{ held: string; pending: string; isHeld: boolean }>(sql`
    with announced as (
      select ${raw(leftOf('e.quantity'))} as quantity, ${raw(leftOf('e.amount'))} as amount
      from biz_event e
      where e.product_id = ${productID} and e.account_id = ${accountID}
        and e.investment_id = ${investmentID} and e.biz_event_type_id = ${types.Redemption}
        and e.biz_event_status_id = ${statuses.Pending})
    select trim_scale(h.quantity)::text as held, trim_scale(round(w.units, 8))::text as pending,
      k.is_all or k.quantity > 0 as "isHeld"
    from investment i
    cross join lateral (
      select ${productID}::int as product_id, ${accountID}::int as account_id, i.investment_id) g
    cross join lateral (${heldBack('g', sql`${date}::date`)}) k
    cross join lateral (
      select case when k.is_all then 0 else greatest(b.quantity - k.quantity, 0) end as quantity
      from (select coalesce((
        select b.closing_quantity from transaction_line b
        where b.product_id = ${productID} and b.account_id = ${accountID}
          and b.investment_id = i.investment_id and b.transaction_date <= ${date}
          and ${raw(counts('b'))}
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0) as quantity) b) h
    left join lateral (${priceOn(
      'i.investment_id',
      sql`${date}`,
      'coalesce(redemption_price, price) as price',
    )}) v on true
    cross join lateral (
      select coalesce(sum(coalesce(quantity, amount / v.price)), 0) as units from announced) w
    cross join lateral (
      select sum(coalesce(quantity, amount / v.price)) as units,
        sum(coalesce(quantity * v.price, amount)) as money, bool_or(quantity is null) as by_money
      from (
        select * from announced
        union all select ${quantity ?? null}::numeric, ${amount ?? null}::numeric) a) s
    where i.investment_id = ${investmentID} and (h.quantity = 0 or (h.quantity < s.units
      -- Money that comes to the whole holding, rounded, is not more than is held.
      and (not s.by_money or s.money > round(h.quantity * v.price, minor_units(i.currency_id)))))`)
  if (short?.isHeld)
    throw conflict(
      'units_on_hold',
      `Only ${short.held} of the units are not on hold` +
        (short.pending === '0' ? '.' : `, and ${short.pending} are on notice already.`),
      'quantity',
    )
  if (short)
    throw conflict(
      'insufficient_holding',
      `Only ${short.held} units are held now` +
        (short.pending === '0' ? '.' : `, and ${short.pending} are on notice already.`),
      'quantity',
    )
}

export async function noticeOfConversion(
  tx: Tx,
  actor: Actor,
  notice: NoticeOfConversion,
): Promise<Written> {
  requireFigure(notice)
  const conversionMethod = notice.conversionMethod ?? (notice.conversionFactor ? 'Factor' : 'Price')
  if (conversionMethod === 'Factor' && notice.conversionFactor === undefined)
    throw invalid(
      'required',
      'conversionFactor is required for the method Factor.',
      'conversionFactor',
    )
  const place = await findAccount(tx, actor, notice)
  refuseSuspended(place)
  const from = await findInvestment(tx, place, notice, fromInvestmentReference)
  const to = await findInvestment(tx, place, notice, toInvestmentReference)
  if (from.investmentID === to.investmentID)
    throw invalid('same_investment', 'A conversion goes from one investment to another.')
  // The conversion itself would be refused too, so nothing could ever settle such a notice.
  if (from.currencyID !== to.currencyID)
    throw invalid('other_currency', 'Both investments must be in the same currency.')
  await refuseMoreThanHeld(tx, place, from.investmentID, notice)
  const both = { ...notice, conversionMethod }
  const source = await insertEvent(tx, place, both, {
    typeID: types.Redemption,
    investmentID: from.investmentID,
    externalID: notice.fromExternalBizTransactionId,
  })
  const target = await insertEvent(tx, place, await following(tx, both, to.investmentID), {
    typeID: types.Allotment,
    investmentID: to.investmentID,
    externalID: notice.toExternalBizTransactionId,
    parent: source,
  })
  return written(tx, place, [source, target], masked(NoticeOfConversion, notice))
}

/**
 * The target half of a conversion. By factor it has the source's units times the factor, rounded to
 * its own decimals. By price its units are unknown until the prices of the settlement day.
 */
async function following(
  tx: Tx,
  notice: NoticeOfConversion & { conversionMethod: string },
  investmentID: number,
) {
  const { quantity, conversionFactor, conversionMethod } = notice
  if (conversionMethod !== 'Factor') return { ...notice, quantity: undefined }
  if (quantity === undefined) return notice
  const [row] = await tx.query<{ quantity: string }>(sql`
    select trim_scale(round(${quantity}::numeric * ${conversionFactor}::numeric,
      i.unit_decimals))::text as quantity
    from investment i where i.investment_id = ${investmentID}`)
  return { ...notice, quantity: row?.quantity ?? quantity }
}
