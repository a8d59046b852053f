import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Problem } from '../../platform/refusal.ts'
import { compareDecimals, decimalDigits } from '../../platform/shape/decimal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { type Figures, workOutFigures } from './figures.ts'
import type { Accepted, Flaw, Item, Priced, Staged } from './item.ts'
import { kindOf } from './kinds.ts'

const types = lookups.BizTransactionType

/** The second stage: price, units and money of every leg, and whether its external id is free. */
export async function price(tx: Tx, legs: readonly Accepted[]): Promise<Staged<Priced>> {
  if (legs.length === 0) return { rows: [], flaws: [] }
  const figures = await workOutFigures(
    tx,
    legs.map(({ item, asked, investmentID }, place) => ({
      place,
      item: item.place,
      type_id: asked.typeID,
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
    })),
  )
  // The statement gives a row for each leg, in their order.
  const rows = legs.map((leg, place): Priced => ({ ...leg, figures: figures[place]! }))
  return {
    rows,
    flaws: [...rows.flatMap(flawsOf), ...otherCurrencies(rows), ...(await taken(tx, rows))],
  }
}

/** Money does not change its currency on the way, and no rate is known here. */
const otherCurrencies = (rows: readonly Priced[]): Flaw[] =>
  rows.flatMap(({ item, leg, figures }, i): Flaw[] => {
    if (leg === 0 || rows[i - 1]?.figures.currencyID === figures.currencyID) return []
    const message = 'Both investments must be in the same currency.'
    return [{ item, status: 400, problem: { code: 'other_currency', message } }]
  })

/** What the figures of a leg come to must be something that can be posted. */
function flawsOf({ item, asked: { typeID }, figures }: Priced): Flaw[] {
  const { isActive, quantity, amount, fee } = figures
  const flaws: Flaw[] = []
  const problem = (status: 400 | 409, code: string, field: string, message: string) =>
    flaws.push({ item, status, problem: { code, field: inside(item.path, field), message } })
  if (!isActive && kindOf(typeID).takesMoney)
    problem(409, 'investment_inactive', 'investmentID', 'The investment takes no new money.')
  if (quantity === null || amount === null)
    problem(
      400,
      'no_price',
      'investmentPrice',
      `There is no price on or before ${item.body.transactionDate}: give investmentPrice, or ` +
        'both amount and quantity.',
    )
  // What a set quantity posts is known only when its account is locked.
  if (typeID === types['Set quantity'] || quantity === null || amount === null) return flaws
  if (isNone(quantity))
    problem(400, 'too_small', 'quantity', 'This comes to no units at all after rounding.')
  else if (typeID === types.Deposit && compareDecimals(fee, amount) > 0)
    problem(400, 'invalid_value', 'entryFeeAmount', 'The entry fee is more than the amount.')
  return [
    ...flaws,
    ...tooLarge(item, figures).map((one): Flaw => ({ item, status: 400, problem: one })),
  ]
}

/** Whether a figure is nothing, however many digits it is written with. */
export const isNone = (figure: string | null) => !/[1-9]/.test(figure ?? '')

/** Figures beyond what a decimal may have. */
export const tooLarge = (item: Item, figures: Pick<Figures, 'quantity' | 'amount'>): Problem[] =>
  (['quantity', 'amount'] as const).flatMap((field) =>
    /^-?\d{19}/.test(figures[field] ?? '')
      ? {
          code: 'out_of_range',
          field: inside(item.path, field),
          message: `The ${field} comes to more than ${decimalDigits} digits.`,
        }
      : [],
  )

/**
 * External ids that are taken, by the ledger or earlier in the list. The unique index has the last
 * word; asking first lets one duplicate be refused without undoing its neighbours.
 */
async function taken(tx: Tx, rows: readonly Priced[]): Promise<Flaw[]> {
  const naming = rows.filter(({ asked }) => asked.externalID)
  if (naming.length === 0) return []
  const found = await tx.query<{ productID: number; externalID: string }>(sql`
    select t.product_id as "productID", t.external_biz_transaction_id as "externalID"
    from unnest(${naming.map(({ productID }) => productID)}::int[],
      ${naming.map(({ asked }) => asked.externalID)}::text[]) g (product_id, external_id)
    join biz_transaction t on t.product_id = g.product_id
      and t.external_biz_transaction_id = g.external_id`)
  const inLedger = new Set(found.map(({ productID, externalID }) => `${productID} ${externalID}`))
  const asked = new Map<string, number>()
  return naming.flatMap((row): Flaw[] => {
    const { item, productID } = row
    const name = `${productID} ${row.asked.externalID}`
    const first = asked.get(name)
    asked.set(name, first ?? item.request)
    if (!inLedger.has(name) && first === undefined) return []
    const contested = !inLedger.has(name) && first !== item.request
    return [{ item, status: 409, problem: duplicate(row), contested }]
  })
}

function duplicate({ item, asked: { externalID, externalIDField } }: Priced): Problem {
  const name = JSON.stringify(externalID)
  return {
    code: 'duplicate',
    field: inside(item.path, externalIDField ?? 'externalBizTransactionId'),
    message: `A transaction of this product has the externalBizTransactionId ${name} already.`,
  }
}
