import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lockAccounts } from './units.ts'

/**
 * `enough`: a holding with more marks than this is folded; every change of a long history leaves a
 * mark or two. `rows`: so many transactions are rewritten at a time, while their account is locked.
 */
const measure = { enough: 400, rows: 500 }

type Holding = { productID: number; accountID: number; investmentID: number }

/**
 * Takes a holding with more than enough marks (marks.ts), rewrites the closing figures of a piece
 * of its history as the marks shift them, and deletes those marks. Readers see the same figures
 * before and after. Returns whether there may be more to do.
 */
export async function foldClosings(tx: Tx, { enough, rows } = measure): Promise<boolean> {
  const [holding] = await tx.query<Holding>(sql`
    select product_id as "productID", account_id as "accountID", investment_id as "investmentID"
    from closing_mark group by product_id, account_id, investment_id
    having count(*) > ${enough} limit 1`)
  if (!holding) return false
  const { productID, accountID } = holding
  if (!(await lockAccounts(tx, productID, [accountID], false))) return false
  await tx.query(fold(holding, rows))
  return true
}

/** Rewrites the history of a holding from its first mark on, up to `rows` transactions. */
const fold = ({ productID, accountID, investmentID }: Holding, rows: number) => {
  const of = (alias: string) => sql`${raw(alias)}.product_id = ${productID}
    and ${raw(alias)}.account_id = ${accountID} and ${raw(alias)}.investment_id = ${investmentID}`
  return sql`
    with begun as materialized (
      select m.transaction_date, m.biz_transaction_id, minor_units(i.currency_id) as decimals,
        row(coalesce(l.closing_quantity, 0), coalesce(l.closing_amount, 0),
          coalesce(l.closing_amount, 0) + m.gain, m.gain)::holding_state as state
      from closing_mark m
      join investment i on i.investment_id = m.investment_id
      left join lateral (
        select l.closing_quantity, l.closing_amount from transaction_line l
        where ${of('l')} and ${raw(counts('l'))}
          and (l.transaction_date, l.biz_transaction_id)
            < (m.transaction_date, m.biz_transaction_id)
        order by l.transaction_date desc, l.biz_transaction_id desc limit 1) l on true
      where ${of('m')} and m.gain is not null
      order by m.transaction_date, m.biz_transaction_id limit 1),
    counted as materialized (
      select b.transaction_date, b.id, holding_state(g.state, b.quantity, b.amount, g.decimals,
        b.carried_cost) over (order by b.transaction_date, b.id) as state
      from begun g
      cross join lateral (
        select b.transaction_date, b.biz_transaction_id as id, b.quantity, b.amount, b.carried_cost
        from biz_transaction b
        where ${of('b')} and ${raw(counts('b'))}
          and (b.transaction_date, b.biz_transaction_id)
            >= (g.transaction_date, g.biz_transaction_id)
        order by b.transaction_date, b.biz_transaction_id limit ${rows}) b),
    reached as materialized (
      select c.transaction_date, c.id + 1 as id, (c.state).gain as gain, m.quantity_shift,
        m.amount_shift, m.gain is not null as is_shifted
      from (select * from counted order by transaction_date desc, id desc limit 1) c
      cross join lateral (
        select * from closing_mark m
        where ${of('m')} and (m.transaction_date, m.biz_transaction_id)
          <= (c.transaction_date, c.id)
        order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m
      -- Where there are fewer, they are all there are.
      where (select count(*) from counted) = ${rows}),
    written as (
      update biz_transaction b set closing_quantity = (c.state).quantity,
        closing_amount = (c.state).invested, closing_cost = (c.state).cost,
        closing_gain = (c.state).gain
      from counted c where b.product_id = ${productID} and b.biz_transaction_id = c.id),
    folded as (
      delete from closing_mark m
      where ${of('m')} and coalesce((
        select (m.transaction_date, m.biz_transaction_id) < (r.transaction_date, r.id)
        from reached r), true))
    insert into closing_mark (product_id, account_id, investment_id, transaction_date,
      biz_transaction_id, quantity_shift, amount_shift, gain)
    select ${productID}::int, ${accountID}::int, ${investmentID}::int, transaction_date, id,
      quantity_shift, amount_shift, gain
    from reached where is_shifted
    on conflict (product_id, account_id, investment_id, transaction_date, biz_transaction_id)
      do nothing`
}
