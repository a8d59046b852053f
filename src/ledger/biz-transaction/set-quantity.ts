import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { type RowOf, recordset } from '../../platform/sql/recordset.ts'
import { dayColumns, heldAtDayEnd } from './day-end.ts'
import { pricesFor } from './figures.ts'
import type { Priced } from './item.ts'

const type = lookups.BizTransactionType['Set quantity']

/**
 * Turns the units a holding shall have at the end of a day into the units to post, now that its
 * account is locked. The money is what was given for them, else it follows at the price of the day,
 * none where there is no price. A holding that is set more than once in a list takes what was
 * posted for it before, by day and place, into account: each target holds at the end of its day, of
 * two on one day the second.
 */
export async function setQuantities(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
): Promise<Priced[]> {
  const setting = rows.filter(({ asked }) => asked.typeID === type)
  if (setting.length === 0) return [...rows]
  const targets = setting.map(({ accountID, investmentID, figures, item }, place) => ({
    place,
    account_id: accountID,
    investment_id: investmentID,
    transaction_date: item.body.transactionDate,
    quantity: figures.quantity,
    amount: item.body.amount,
    price: item.body.investmentPrice,
  }))
  const differences = await tx.query<{
    quantity: string
    amount: string
    price: string | null
  }>(sql`
    select trim_scale(d.quantity) as quantity, c.price,
      coalesce(sign(d.quantity) * round(g.amount, minor_units(i.currency_id)),
        round(d.quantity * c.price, minor_units(i.currency_id)), 0) as amount
    from (
      select *, coalesce(lag(change) over (partition by account_id, investment_id
        order by transaction_date, place), 0) as changed
      from (${changes(productID, targets)}) c) g
    join investment i on i.investment_id = g.investment_id
    cross join lateral (select g.change - g.changed as quantity) d
    left join lateral (${pricesFor('g.investment_id')}) v on true
    cross join lateral (
      select coalesce(g.price, case when d.quantity < 0 then v.redemption_price
        else v.application_price end, v.plain_price) as price) c
    order by g.place`)
  const posted = new Map(setting.map((row, i) => [row, differences[i]]))
  return rows.map((row) => {
    const figures = { ...row.figures, ...posted.get(row) }
    // What is taken out for no money takes its cost along, as such an adjustment does.
    const isTakenOut = posted.has(row) && figures.quantity?.startsWith('-') === true
    const carries = row.asked.carries || (isTakenOut && row.asked.amount === undefined)
    return { ...row, figures, asked: { ...row.asked, carries } }
  })
}

/** By how much each target differs from what the ledger holds at the end of its day. */
const changes = (productID: number, targets: RowOf<typeof dayColumns>[]) => sql`
  select t.*, t.quantity - coalesce(s.closing_quantity, 0) as change
  from ${recordset('t', targets, dayColumns)}
  left join lateral (${heldAtDayEnd(productID, 't')}) s on true`
