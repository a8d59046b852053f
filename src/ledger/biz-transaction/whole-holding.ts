import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { dayColumns, heldAtDayEnd } from './day-end.ts'
import type { Priced } from './item.ts'

const { Redemption, 'Conversion out': conversion } = lookups.BizTransactionType
const takesByMoney = ({ asked, figures }: Priced) =>
  (asked.typeID === Redemption || asked.typeID === conversion) &&
  asked.quantity === undefined &&
  figures.price !== null

const columns = { ...dayColumns, target_id: 'int', factor: 'numeric' } as const

/**
 * A redemption or conversion by money equal to the rounded value of the whole holding can come to
 * slightly more units than the holding has; it then takes exactly the units held, and a conversion
 * by factor gives as many for them (docs/decisions/0340). The units held are known only once the
 * account is locked.
 */
export async function takeWholeHoldings(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
): Promise<Priced[]> {
  const byMoney = rows.flatMap((row, i) => {
    // The second leg of a conversion stands after the first.
    const second = row.asked.typeID === conversion ? rows[i + 1] : undefined
    return takesByMoney(row) ? [{ row, second }] : []
  })
  if (byMoney.length === 0) return [...rows]
  const asked = byMoney.map(
    ({ row: { accountID, investmentID, figures, item }, second }, place) => ({
      place,
      account_id: accountID,
      investment_id: investmentID,
      transaction_date: item.body.transactionDate,
      target_id: second?.investmentID,
      factor: second?.asked.conversion?.factor,
      ...figures,
    }),
  )
  const whole = await tx.query<{ place: number; quantity: string; gets: string | null }>(sql`
    select g.place, trim_scale(-s.closing_quantity) as quantity, trim_scale(t.quantity) as gets
    from ${recordset('g', asked, columns)}
    join investment i on i.investment_id = g.investment_id
    cross join lateral (${heldAtDayEnd(productID, 'g')}) s
    left join lateral (
      select round(s.closing_quantity * g.factor, j.unit_decimals) as quantity
      from investment j where j.investment_id = g.target_id) t on true
    where -g.quantity > s.closing_quantity and s.closing_quantity > 0
      and round(s.closing_quantity * g.price, minor_units(i.currency_id)) = -g.amount
      and t.quantity is distinct from 0`)
  const units = new Map(
    whole.flatMap(({ place, quantity, gets }) => {
      const { row, second } = byMoney[place]! // the places are of this list
      return [[row, quantity] as const, ...(second && gets ? [[second, gets] as const] : [])]
    }),
  )
  return rows.map((row) => {
    const quantity = units.get(row)
    return quantity === undefined ? row : { ...row, figures: { ...row.figures, quantity } }
  })
}
