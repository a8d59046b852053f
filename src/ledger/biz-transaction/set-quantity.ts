import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { type RowOf, recordset } from '../../platform/sql/recordset.ts'
import { dayColumns, heldAtDayEnd } from './day-end.ts'
import { pricesFor } from './figures.ts'
import type { Priced } from './item.ts'

const type = lookups.BizTransactionType['Set quantity']

/**
 * Turns the units that a holding shall have at the end of a day into the units to post, now that
 * the account is locked. The money is the given amount, else the units at the price of the day, or
 * 0 without a price. If a list sets a holding more than once, each posting counts the ones before
 * it (by day, then place): targets are met at the end of their days, of one day the last.
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
    // Units taken out without a given amount take their cost along, as in an adjustment.
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
