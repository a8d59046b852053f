import sql from 'sql-template-tag'
import {
  fromInvestmentReference,
  investmentReference,
  toInvestmentReference,
} from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { masked } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify, locateAll, namesAny, type Reference } from '../../platform/sql/identify.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { NoticeOfConversion, NoticeOfDeposit, NoticeOfRedemption } from './schema.ts'
import { renderEvents } from './sql.ts'

const { BizEventType: types, ConversionMethod: methods } = lookups

type Place = { productID: number; accountID: number }

/** Product and account, which must belong together; the account alone names its product. */
async function findAccount(tx: Tx, actor: Actor, notice: object): Promise<Place> {
  const productID = namesAny(productReference, notice)
    ? await identifyProduct(tx, actor, notice)
    : undefined
  const visible = inScope(actor, 'r.product_id')
  const accountID = await identify(tx, accountReference, notice, {
    visible,
    productIDs: [productID],
  })
  const [found] = await locateAll(tx, accountReference, [{ accountID }], { visible })
  return { accountID, productID: (found as { productID: number }).productID }
}

/** An investment of the account's product that takes notices: an inactive one does not. */
async function findInvestment(tx: Tx, { productID }: Place, notice: object, how: Reference) {
  const id = await identify(tx, how, notice, { productIDs: [productID] })
  const [open] = await tx.query(
    sql`select from investment where investment_id = ${id} and is_active`,
  )
  if (!open)
    throw conflict('investment_inactive', 'The investment takes no new notices.', how.fields[0]!)
  return id
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

/** Writes one notice; the fields it has in common with its other half come from the body. */
async function insertEvent(
  tx: Tx,
  { productID, accountID }: Place,
  notice: Partial<NoticeOfDeposit & NoticeOfRedemption & NoticeOfConversion>,
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

export async function noticeOfDeposit(
  tx: Tx,
  actor: Actor,
  notice: NoticeOfDeposit,
): Promise<Written> {
  const place = await findAccount(tx, actor, notice)
  const investmentID = await findInvestment(tx, place, notice, investmentReference)
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
  const investmentID = await findInvestment(tx, place, notice, investmentReference)
  await refuseMoreThanHeld(tx, place, investmentID, notice)
  const externalID = notice.externalBizTransactionId
  const typeID = types.Redemption
  const id = await insertEvent(tx, place, notice, { typeID, investmentID, externalID })
  return written(tx, place, [id], masked(NoticeOfRedemption, notice))
}

/** Money is compared with the holding at its latest redemption price; without a price it is not. */
async function refuseMoreThanHeld(
  tx: Tx,
  { productID, accountID }: Place,
  investmentID: number,
  { quantity, amount }: { quantity?: string; amount?: string },
) {
  const [short] = await tx.query<{ held: string }>(sql`
    select trim_scale(coalesce(h.quantity, 0))::text as held
    from investment i
    left join holding h on h.product_id = ${productID} and h.account_id = ${accountID}
      and h.investment_id = i.investment_id
    left join lateral (
      select coalesce(redemption_price, price) as price from investment_price
      where investment_id = i.investment_id and price_date <= current_date
      order by price_date desc limit 1) v on true
    where i.investment_id = ${investmentID}
      and (${quantity ?? null}::numeric > coalesce(h.quantity, 0)
        or ${amount ?? null}::numeric >
          round(coalesce(h.quantity, 0) * v.price, minor_units(i.currency_id))
        or coalesce(h.quantity, 0) = 0)`)
  if (short)
    throw conflict('insufficient_holding', `Only ${short.held} units are held now.`, 'quantity')
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
  const from = await findInvestment(tx, place, notice, fromInvestmentReference)
  const to = await findInvestment(tx, place, notice, toInvestmentReference)
  if (from === to)
    throw invalid('same_investment', 'A conversion goes from one investment to another.')
  await refuseMoreThanHeld(tx, place, from, notice)
  const both = { ...notice, conversionMethod }
  const source = await insertEvent(tx, place, both, {
    typeID: types.Redemption,
    investmentID: from,
    externalID: notice.fromExternalBizTransactionId,
  })
  const target = await insertEvent(tx, place, both, {
    typeID: types.Allotment,
    investmentID: to,
    externalID: notice.toExternalBizTransactionId,
    parent: source,
  })
  return written(tx, place, [source, target], masked(NoticeOfConversion, notice))
}
