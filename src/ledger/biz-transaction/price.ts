import sql, { raw } from 'sql-template-tag'
import { holdPeriods } from '../../catalogue/product/period.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Code } from '../../platform/problem-codes.ts'
import type { Problem } from '../../platform/refusal.ts'
import { compareDecimals, decimalDigits, isTooLong } from '../../platform/shape/decimal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { byProduct } from '../../platform/sql/spread.ts'
import { type Figures, workOutFigures } from './figures.ts'
import type { Accepted, Flaw, Priced, Staged } from './item.ts'
import { kindOf } from './kinds.ts'

const types = lookups.BizTransactionType

/** The second stage: works out price, units and money of every leg, and what forbids posting it. */
export async function price(tx: Tx, legs: readonly Accepted[]): Promise<Staged<Priced>> {
  if (legs.length === 0) return { rows: [], flaws: [] }
  await holdPeriods(
    tx,
    legs.map(({ productID }) => productID),
  )
  await holdInvestments(tx, legs)
  const worked = await workOutFigures(
    tx,
    legs.map(({ item, asked, accountID, investmentID }, place) => ({
      place,
      item: item.place,
      type_id: asked.typeID,
      account_id: accountID,
      investment_id: investmentID,
      transaction_date: item.body.transactionDate,
      quantity: asked.quantity,
      amount: asked.amount,
      price: asked.price,
      fee: asked.fee?.entryFeeAmount,
      fee_override: asked.fee?.entryFeeOverridePercentage,
      fee_percentage: asked.fee?.entryFeePercentage,
      fee_discount: asked.fee?.entryFeeDiscountPercentage,
      factor: asked.conversion?.factor,
      carries: asked.carries,
    })),
  )
  const found = new Map(worked.map((one) => [one.place, one]))
  const rows = legs.flatMap((leg, place): Priced[] => {
    const one = found.get(place)
    return one ? [{ ...leg, figures: figuresOf(one), standing: one }] : []
  })
  const gone = legs.filter((_, place) => !found.has(place))
  const names = await externalIDs(tx, rows)
  const flaws = [
    ...gone.map(goneMeanwhile),
    ...rows.flatMap(standingFlaws),
    ...rows.flatMap(figureFlaws),
    ...otherCurrencies(rows),
    ...names.flaws,
  ]
  return { rows: names.rows, flaws }
}

/** The item is contested: tried again, it is refused with the name that no longer exists. */
const goneMeanwhile = ({ item }: Accepted): Flaw => ({
  item,
  status: 404,
  problem: { code: 'not_found', message: 'The account or the investment has just been deleted.' },
  contested: true,
})

const figuresOf = ({ price, quantity, amount, fee, feePercentage }: Figures): Figures => ({
  price,
  quantity,
  amount,
  fee,
  feePercentage,
})

/**
 * Locks investments that have no transactions yet. Their currency and decimals can still be
 * changed, but must stay while their first postings are priced and written.
 */
async function holdInvestments(tx: Tx, legs: readonly Accepted[]) {
  for (const [productID, own] of byProduct(legs))
    await tx.query(sql`
      select i.investment_id from investment i
      where i.investment_id = any(${[...new Set(own.map((leg) => leg.investmentID))]}::int[])
        and not exists (select 1 from holding h
          where h.product_id = ${productID} and h.investment_id = i.investment_id)
      order by i.investment_id for key share of i`)
}

/** Refuses two legs in different currencies: no exchange rate is known here. */
const otherCurrencies = (rows: readonly Priced[]): Flaw[] =>
  rows.flatMap(({ item, leg, standing }, i): Flaw[] => {
    if (leg === 0 || rows[i - 1]?.standing.currencyID === standing.currencyID) return []
    const message = 'Both investments must be in the same currency.'
    return [{ item, status: 400, problem: { code: 'other_currency', message } }]
  })

type Tell = (status: 400 | 409, code: Code, field: string, message: string) => void

/** Collects what is wrong with a leg under the paths of its item. */
function telling({ item }: Priced, judge: (problem: Tell) => void): Flaw[] {
  const flaws: Flaw[] = []
  judge((status, code, field, message) => {
    flaws.push({ item, status, problem: { code, field: inside(item.path, field), message } })
  })
  return flaws
}

/** Flaws of a leg's circumstances: its day, the statuses around it, and the age of its price. */
const standingFlaws = (row: Priced): Flaw[] =>
  telling(row, (problem) => {
    const { item, asked, standing } = row
    const kind = kindOf(asked.typeID)
    if (standing.isTooFarAhead)
      problem(
        400,
        'out_of_range',
        'transactionDate',
        `${inside(item.path, 'transactionDate')} is more than one day ahead.`,
      )
    if (standing.lockedDate)
      problem(409, 'period_locked', 'transactionDate', periodLocked(standing.lockedDate))
    const account = asked.account.fields[0] ?? 'accountID'
    if (standing.account === 'closed')
      problem(409, 'account_closed', account, 'The account is closed.')
    if (standing.account === 'suspended' && kind.units === 'out')
      problem(409, 'account_suspended', account, 'The account is suspended: nothing leaves it.')
    if (!standing.productIsActive && kind.newMoney)
      problem(409, 'product_inactive', 'productID', 'The product takes no new money.')
    if (!standing.isActive && (kind.takesMoney || isUpwards(row)))
      problem(409, 'investment_inactive', investmentOf(row), 'The investment takes no new money.')
    if (standing.oldPriceDate && !isSetting(row) && !item.body.confirm)
      problem(409, 'price_too_old', priceOf(row), oldPrice(row, standing.oldPriceDate))
  })

/** The body's fields for the investment and for the price of a leg. */
const investmentOf = ({ asked }: Priced) => asked.investment.fields[0] ?? 'investmentID'
const priceOf = ({ asked }: Priced) => asked.priceField ?? 'investmentPrice'

export const periodLocked = (date: string) =>
  `The product is locked up to ${date}: nothing dated on or before it changes.`

const oldPrice = (row: Priced, date: string) =>
  `The latest price is of ${date}, which is older than the investment allows: give ` +
  `${priceOf(row)}, or say confirm: true.`

const isSetting = ({ asked }: Priced) => asked.typeID === types['Set quantity']
const isUpwards = (row: Priced) =>
  kindOf(row.asked.typeID).units === 'either' &&
  !isSetting(row) &&
  !row.figures.quantity?.startsWith('-')

/** Flaws of a set quantity once its difference is known: only upwards takes money and a price. */
export const settingFlaws = (row: Priced): Flaw[] =>
  telling(row, (problem) => {
    const { figures, standing, item } = row
    if (!isSetting(row) || figures.quantity?.startsWith('-') || isNone(figures.quantity)) return
    if (!standing.isActive)
      problem(409, 'investment_inactive', investmentOf(row), 'The investment takes no new money.')
    if (standing.oldPriceDate && !item.body.confirm)
      problem(409, 'price_too_old', priceOf(row), oldPrice(row, standing.oldPriceDate))
  })

/** Flaws of a leg's figures, which must be known, not zero, and not too large. */
const figureFlaws = (row: Priced): Flaw[] =>
  telling(row, (problem) => {
    const { asked, figures } = row
    const { quantity, amount, fee } = figures
    if (quantity === null || amount === null) return noPrice(row, problem)
    // The units that a set quantity posts are known only once its account is locked.
    if (isSetting(row)) return
    if (isNone(quantity))
      problem(400, 'too_small', 'quantity', 'This comes to no units at all after rounding.')
    else if (asked.typeID === types.Deposit && compareDecimals(fee, amount) > 0)
      problem(400, 'invalid_value', 'entryFeeAmount', 'The entry fee is more than the amount.')
    for (const { code, field, message } of tooLarge(figures)) problem(400, code, field, message)
  })

/**
 * The second leg of a conversion takes its figures from the first: it lacks a price of its own only
 * where it goes by one.
 */
function noPrice(row: Priced, problem: Tell) {
  const { item, asked, figures } = row
  const isFirst = asked.conversion === undefined
  if (!isFirst && (figures.price !== null || asked.conversion?.factor !== undefined)) return
  const field = priceOf(row)
  problem(
    400,
    'no_price',
    field,
    `There is no price on or before ${item.body.transactionDate}: give ${field}` +
      `${isFirst ? ', or both amount and quantity' : ''}.`,
  )
}

/** Whether a figure is null or zero, with however many digits it is written. */
export const isNone = (figure: string | null) => !/[1-9]/.test(figure ?? '')

/** The problems of figures with more digits than a decimal may have. */
export const tooLarge = (figures: Pick<Figures, 'quantity' | 'amount'>) =>
  (['quantity', 'amount'] as const).flatMap((field) =>
    isTooLong(figures[field] ?? '')
      ? {
          code: 'out_of_range' as const,
          field,
          message: `The ${field} comes to more than ${decimalDigits} digits.`,
        }
      : [],
  )

type Holder = { productID: number; externalID: string; id: number; eventID: number | null }

/**
 * Refuses external ids that are taken, in the ledger or earlier in the list. The unique index has
 * the last word; this check lets one duplicate be refused without undoing the rest of the list. A
 * rolled-back transaction gives its id up to the one that settles the same notice again.
 */
async function externalIDs(tx: Tx, rows: readonly Priced[]): Promise<Staged<Priced>> {
  const naming = rows.filter(({ asked }) => asked.externalID)
  if (naming.length === 0) return { rows: [...rows], flaws: [] }
  const found: Holder[] = []
  for (const [productID, own] of byProduct(naming))
    found.push(
      ...(await tx.query<Holder>(sql`
        select t.product_id as "productID", t.external_biz_transaction_id as "externalID",
          t.biz_transaction_id as id, case when not (${raw(counts('t'))}) then t.biz_event_id end
            as "eventID"
        from unnest(${own.map(({ asked }) => asked.externalID)}::text[]) g (external_id)
        join biz_transaction t on t.product_id = ${productID}
          and t.external_biz_transaction_id = g.external_id`)),
    )
  const holders = new Map(found.map((one) => [`${one.productID} ${one.externalID}`, one]))
  const asked = new Map<string, number>()
  const flaws: Flaw[] = []
  const released = new Map<Priced, number>()
  for (const row of naming) {
    const { item, productID, leg } = row
    const name = `${productID} ${row.asked.externalID}`
    const [holder, first] = [holders.get(name), asked.get(name)]
    asked.set(name, first ?? item.request)
    const isItsOwn = holder?.eventID != null && holder.eventID === item.events[leg]?.id
    if (holder && isItsOwn && first === undefined) released.set(row, holder.id)
    else if (holder || first !== undefined) {
      const contested = !holder && first !== item.request
      flaws.push({ item, status: 409, problem: duplicate(row), contested })
    }
  }
  return {
    rows: rows.map((row) => {
      const releases = released.get(row)
      return releases === undefined ? row : { ...row, releases }
    }),
    flaws,
  }
}

function duplicate({ item, asked: { externalID, externalIDField } }: Priced): Problem {
  const name = JSON.stringify(externalID)
  return {
    code: 'duplicate',
    field: inside(item.path, externalIDField ?? 'externalBizTransactionId'),
    message: `A transaction of this product has the externalBizTransactionId ${name} already.`,
  }
}
