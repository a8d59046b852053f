import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { dayColumns, heldAtDayEnd } from './day-end.ts'
import type { Priced } from './item.ts'

const type = lookups.BizTransactionType.Redemption

/**
 * A redemption by money equal to the rounded value of the whole holding can come to slightly more
 * units than the holding has; it then takes exactly the units held (docs/decisions/0340). The units
 * held are known only once the account is locked.
 */
export async function redeemWholeHoldings(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
): Promise<Priced[]> {
  const byMoney = rows.filter(
    ({ asked, figures }) =>
      asked.typeID === type && asked.quantity === undefined && figures.price !== null,
  )
  if (byMoney.length === 0) return [...rows]
  const redeemed = byMoney.map(({ accountID, investmentID, figures, item }, place) => ({
    place,
    account_id: accountID,
    investment_id: investmentID,
    transaction_date: item.body.transactionDate,
    ...figures,
  }))
  const whole = await tx.query<{ place: number; quantity: string }>(sql`
    select g.place, trim_scale(-s.closing_quantity) as quantity
    from ${recordset('g', redeemed, dayColumns)}
    join investment i on i.investment_id = g.investment_id
    cross join lateral (${heldAtDayEnd(productID, 'g')}) s
    where -g.quantity > s.closing_quantity and s.closing_quantity > 0
      and round(s.closing_quantity * g.price, minor_units(i.currency_id)) = -g.amount`)
  const taken = new Map(whole.map(({ place, quantity }) => [byMoney[place], quantity]))
  return rows.map((row) => {
    const quantity = taken.get(row)
    return quantity === undefined ? row : { ...row, figures: { ...row.figures, quantity } }
  })
}
