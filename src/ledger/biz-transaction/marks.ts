import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Shortfall } from './shortfall.ts'

/**
 * Closings of a long history that changes in its midst. After the change the units and the money of
 * every later transaction are others by the same figure: that is one mark, whatever their number,
 * instead of a million rows. Only sales must be looked at one by one, for the gain depends on the
 * cost that went before, rounded each time; a mark every so many of them is where to count from.
 * The table `closing_mark` says how closings are read; the view `transaction_line` reads them.
 */

/**
 * What came into the lines of holdings (`is_new`: the transaction as it is now) and what went (as
 * it was, its figures negative): a select of account_id, investment_id, transaction_date, id,
 * quantity, amount, is_new, carried_cost. All that changed in a holding is in it.
 */
export type Changes = Fragment

/** Transactions that were posted, by a condition on b. */
export const newLines = (productID: number, which: Fragment): Changes => sql`
  select b.account_id, b.investment_id, b.transaction_date, b.biz_transaction_id as id, b.quantity,
    b.amount, true as is_new, b.carried_cost
  from biz_transaction b
  where b.product_id = ${productID} and b.quantity <> 0 and ${which}`

/** Transactions that were rolled back, by a condition on b. */
export const goneLines = (productID: number, which: Fragment): Changes => sql`
  select b.account_id, b.investment_id, b.transaction_date, b.biz_transaction_id as id,
    -b.quantity as quantity, -b.amount as amount, false as is_new, b.carried_cost
  from biz_transaction b
  where b.product_id = ${productID} and b.quantity <> 0 and ${which}`

export type Line = { accountID: number; investmentID: number }

/** Up to so many later transactions are written anew: cheaper than to shift them ever after. */
export const rowsAtOnce = raw(
  `coalesce(nullif(current_setting('registry.rows_at_once', true), '')::int, 100)`,
)

/** A mark for so many sales, up to twice as many; and of a long history so many marks for all. */
const salesPerMark = raw(
  `coalesce(nullif(current_setting('registry.sales_per_mark', true), '')::int, 50)`,
)
const mostMarks = 100

/**
 * The holdings whose closings are to be shifted: long ones, where no cost goes along. `not in`
 * looks the changes through once and keeps them; `not exists` might do so for each of many.
 */
export const longHistories = (tx: Tx, productID: number, touched: Fragment, changes: Changes) =>
  tx.query<Line>(sql`
    select t.account_id as "accountID", t.investment_id as "investmentID"
    from (${touched}) t
    where (
        select count(*) > ${rowsAtOnce} from (
          select 1 from biz_transaction b
          where b.product_id = ${productID} and b.account_id = t.account_id
            and b.investment_id = t.investment_id and b.transaction_date >= t.from_date
          -- In the order of the line, so that the planner takes its index and no other.
          order by b.transaction_date desc, b.biz_transaction_id desc limit 1 + ${rowsAtOnce}) b)
      and not exists (
        select 1 from biz_transaction b
        where b.product_id = ${productID} and b.account_id = t.account_id
          and b.investment_id = t.investment_id and b.transaction_date >= t.from_date
          and b.quantity < 0 and b.carried_cost is not null)
      and (t.account_id, t.investment_id) not in (
        select c.account_id, c.investment_id from (${changes}) c
        where c.carried_cost is not null)`)

/** Shifts the closings of holdings from their first changes on. Tells those that go below zero. */
export async function shiftClosings(
  tx: Tx,
  productID: number,
  changes: Changes,
  long: readonly Line[],
): Promise<Shortfall[]> {
  const within = ctesOf(productID, changes, long)
  await tx.query(shift(productID, within))
  const short = await tx.query<Shortfall>(countSales(productID, within))
  if (short.length === 0) await tx.query(writeTotals(productID, long))
  return short
}

const linesOf = (long: readonly Line[]) => sql`
  select * from unnest(${long.map(({ accountID }) => accountID)}::int[],
    ${long.map(({ investmentID }) => investmentID)}::int[]) w (account_id, investment_id)`

/**
 * The changes of the holdings; the first of each; and the place behind which nothing is shifted:
 * right behind the last transaction that counts, since whatever is appended comes later.
 */
const ctesOf = (productID: number, changes: Changes, long: readonly Line[]) => sql`
    change as materialized (
      select c.* from (${changes}) c join (${linesOf(long)}) w using (account_id, investment_id)),
    first as materialized (
      select distinct on (account_id, investment_id) account_id, investment_id, transaction_date, id
      from change order by account_id, investment_id, transaction_date, id),
    ending as materialized (
      select f.account_id, f.investment_id, coalesce(e.transaction_date, f.transaction_date)
          as transaction_date, coalesce(e.biz_transaction_id + 1, f.id) as id
      from first f
      left join lateral (
        select b.transaction_date, b.biz_transaction_id from biz_transaction b
        where ${ofHolding(productID, 'b', 'f')} and ${place('b')} >= ${placeOf('f')}
          and ${raw(counts('b'))}
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1) e on true)`

const ofHolding = (productID: number, one: string, other: string) => sql`
  ${raw(one)}.product_id = ${productID} and ${raw(one)}.account_id = ${raw(other)}.account_id
    and ${raw(one)}.investment_id = ${raw(other)}.investment_id`

/** A row's place in its line, under an alias; with an id column of its own in CTEs. */
const place = (alias: string) => raw(`(${alias}.transaction_date, ${alias}.biz_transaction_id)`)
const placeOf = (alias: string) => raw(`(${alias}.transaction_date, ${alias}.id)`)

/** The last mark m of a holding up to a place in its line. */
const lastMark = (ofHolding: Fragment, upTo: Fragment) => sql`
  left join lateral (
    select m.quantity_shift, m.amount_shift from closing_mark m
    where ${ofHolding} and ${place('m')} <= ${upTo}
    order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m on true`

/** The one up to a row of a CTE. */
const markUpTo = (productID: number, alias: string) =>
  lastMark(ofHolding(productID, 'm', alias), placeOf(alias))

/** What `transaction_line` shows as the closings of a transaction t: o, joined to its row. */
export const withShiftedClosings = sql`
  ${lastMark(
    sql`m.product_id = t.product_id and m.account_id = t.account_id
      and m.investment_id = t.investment_id`,
    place('t'),
  )}
  cross join lateral (
    select coalesce(t.closing_quantity + m.quantity_shift, t.closing_quantity) as closing_quantity,
      coalesce(t.closing_amount + m.amount_shift, t.closing_amount) as closing_amount) o`

/**
 * Writes the shifts: at each change and at each mark from the first change on, the shift there was
 * plus all that changed up to there; and the end. What is new gets such closings that they are
 * right when shifted: those before it in the line, as they stood or as they are now.
 */
const shift = (productID: number, within: Fragment) => sql`
    with ${within},
    moved as (
      select account_id, investment_id, transaction_date, id,
        sum(sum(quantity)) over own as quantity, sum(sum(amount)) over own as amount
      from (
        select c.account_id, c.investment_id, c.transaction_date, c.id, c.quantity, c.amount
        from change c join ending e on ${ofEnding('c')} and ${placeOf('c')} < ${placeOf('e')}
        union all
        select m.account_id, m.investment_id, m.transaction_date, m.biz_transaction_id, 0, 0
        from first f
        join closing_mark m on ${ofHolding(productID, 'm', 'f')} and ${place('m')} > ${placeOf('f')}
        join ending e on ${ofEnding('f')} and ${place('m')} < ${placeOf('e')}) s
      group by account_id, investment_id, transaction_date, id
      window own as (partition by account_id, investment_id order by transaction_date, id)),
    beyond as (
      delete from closing_mark m using ending e
      where ${ofHolding(productID, 'm', 'e')} and ${place('m')} > ${placeOf('e')}),
    marked as (
      insert into closing_mark (product_id, account_id, investment_id, transaction_date,
        biz_transaction_id, quantity_shift, amount_shift, gain)
      select ${productID}::int, n.account_id, n.investment_id, n.transaction_date, n.id,
        coalesce(m.quantity_shift, 0) + n.quantity, coalesce(m.amount_shift, 0) + n.amount, 0
      from moved n ${markUpTo(productID, 'n')}
      union all
      select ${productID}::int, account_id, investment_id, transaction_date, id, 0, 0, null
      from ending
      on conflict (product_id, account_id, investment_id, transaction_date, biz_transaction_id)
        do update set quantity_shift = excluded.quantity_shift,
          amount_shift = excluded.amount_shift, gain = excluded.gain)
    update biz_transaction b set closing_quantity = n.quantity, closing_amount = n.amount,
      closing_cost = 0, closing_gain = 0
    from (
      select c.id, coalesce(l.closing_quantity, 0) + s.quantity
          - coalesce(m.quantity_shift, 0) - n.quantity as quantity,
        coalesce(l.closing_amount, 0) + s.amount - coalesce(m.amount_shift, 0) - n.amount as amount
      from change c
      join moved n on n.account_id = c.account_id and n.investment_id = c.investment_id
        and ${placeOf('n')} = ${placeOf('c')}
      ${markUpTo(productID, 'c')}
      left join lateral (${lineBefore(productID, 'c')}) l on true
      cross join lateral (
        select sum(d.quantity) as quantity, sum(d.amount) as amount from change d
        where d.account_id = c.account_id and d.investment_id = c.investment_id
          and ${placeOf('d')} <= ${placeOf('c')}
          and (d.is_new or ${placeOf('d')} <= ${placeOf('l')})) s
      where c.is_new) n
    where b.product_id = ${productID} and b.biz_transaction_id = n.id`

const ofEnding = (alias: string) =>
  raw(`e.account_id = ${alias}.account_id and e.investment_id = ${alias}.investment_id`)

/**
 * Counts the gain through the sales from the first change on, and writes it down with the marks
 * there, and with new ones where there are many sales between two. The units after a sale are the
 * least there are until the next: where they are below zero, the holding is short.
 */
const countSales = (productID: number, within: Fragment) => sql`
    with ${within},
    begun as materialized (
      select f.account_id, f.investment_id, minor_units(i.currency_id) as decimals,
        coalesce(l.closing_gain, 0) as gain
      from first f
      join investment i on i.investment_id = f.investment_id
      left join lateral (${lineBefore(productID, 'f')}) l on true),
    span as materialized (${spans(productID)}),
    sale as materialized (
      select *, lag(gain, 1, begun_with) over own as gain_before,
        count(*) over (partition by account_id, investment_id, mark_date, mark_id) as in_mark,
        greatest(${salesPerMark}, count(*) over (partition by account_id, investment_id)
          / ${mostMarks}) as spacing
      from (
        select m.account_id, m.investment_id, b.transaction_date, b.biz_transaction_id as id,
          m.quantity_shift, m.amount_shift, b.closing_quantity + m.quantity_shift as held,
          g.gain as begun_with, m.transaction_date as mark_date, m.id as mark_id,
          row_number() over (partition by m.account_id, m.investment_id, m.transaction_date, m.id
            order by b.transaction_date, b.biz_transaction_id) as of_mark,
          realised_gain(g.gain, b.closing_quantity + m.quantity_shift - b.quantity,
            b.closing_amount + m.amount_shift - b.amount, b.quantity, b.amount, g.decimals)
            over (partition by m.account_id, m.investment_id
              order by b.transaction_date, b.biz_transaction_id) as gain
        from begun g
        join span m using (account_id, investment_id)
        cross join lateral (
          select * from biz_transaction b
          where ${ofHolding(productID, 'b', 'm')} and b.quantity < 0 and ${raw(counts('b'))}
            and ${place('b')} >= ${placeOf('m')} and ${place('b')} < (m.next_date, m.next_id)
          offset 0) b) s
      window own as (partition by account_id, investment_id order by transaction_date, id)),
    counted as (
      update closing_mark m set gain = n.gain
      from (${gainsOfMarks(productID)}) n
      where ${ofHolding(productID, 'm', 'n')} and ${place('m')} = ${placeOf('n')}),
    more as (
      insert into closing_mark (product_id, account_id, investment_id, transaction_date,
        biz_transaction_id, quantity_shift, amount_shift, gain)
      select ${productID}::int, account_id, investment_id, transaction_date, id, quantity_shift,
        amount_shift, gain_before
      from sale where in_mark > 2 * spacing and of_mark > 1 and (of_mark - 1) % spacing = 0)
    select distinct on (account_id, investment_id) account_id as "accountID",
      investment_id as "investmentID", id, transaction_date::text as date,
      trim_scale(-held)::text as short
    from sale where held < 0
    order by account_id, investment_id, sale.transaction_date, id`

/** The marks from the first change on, each with the place of the next. */
const spans = (productID: number) => sql`
      select * from (
        select m.account_id, m.investment_id, m.transaction_date, m.biz_transaction_id as id,
          m.quantity_shift, m.amount_shift, m.gain, lead(m.transaction_date) over own as next_date,
          lead(m.biz_transaction_id) over own as next_id
        from first f
        join closing_mark m on ${ofHolding(productID, 'm', 'f')}
          and ${place('m')} >= ${placeOf('f')}
        window own as (partition by m.account_id, m.investment_id
          order by m.transaction_date, m.biz_transaction_id)) m
      where m.gain is not null`

/**
 * Of each mark the gain after the last sale before it. A full join cannot become a loop within a
 * loop, whatever the planner takes the lists for.
 */
const gainsOfMarks = (productID: number) => sql`
  select * from (
    select n.account_id, n.investment_id, n.transaction_date, n.id,
      coalesce(s.gain, n.begun_with) as gain
    from (
      select m.account_id, m.investment_id, m.transaction_date, m.id, g.gain as begun_with,
        b.biz_transaction_id as sale_id
      from begun g
      join first f using (account_id, investment_id)
      join span m using (account_id, investment_id)
      left join lateral (
        select b.biz_transaction_id from biz_transaction b
        where ${ofHolding(productID, 'b', 'm')} and b.quantity < 0 and ${raw(counts('b'))}
          and ${place('b')} >= ${placeOf('f')} and ${place('b')} < ${placeOf('m')}
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1) b on true) n
    full join (select id, gain from sale) s on s.id = n.sale_id
    offset 0) n
  where n.account_id is not null`

/** The last line before a row of a CTE that had its closings before the change. */
const lineBefore = (productID: number, alias: string) => sql`
        select l.transaction_date, l.biz_transaction_id as id, l.closing_quantity,
          l.closing_amount, l.closing_cost, l.closing_gain
        from transaction_line l
        where ${ofHolding(productID, 'l', alias)} and ${place('l')} < ${placeOf(alias)}
          and ${raw(counts('l'))} and l.closing_quantity is not null
        order by l.transaction_date desc, l.biz_transaction_id desc limit 1`

/** The totals of a holding are the closings of its last transaction. */
const writeTotals = (productID: number, long: readonly Line[]) => sql`
  update holding h set quantity = coalesce(l.closing_quantity, 0),
    invested_amount = coalesce(l.closing_amount, 0), cost_amount = coalesce(l.closing_cost, 0),
    realised_gain = coalesce(l.closing_gain, 0)
  from (
    select w.account_id, w.investment_id, l.*
    from (${linesOf(long)}) w
    left join lateral (
      select l.closing_quantity, l.closing_amount, l.closing_cost, l.closing_gain
      from transaction_line l
      where ${ofHolding(productID, 'l', 'w')} and ${raw(counts('l'))}
      order by l.transaction_date desc, l.biz_transaction_id desc limit 1) l on true) l
  where ${ofHolding(productID, 'h', 'l')}`

/**
 * Closes transactions b, by a condition, that move no units. They change nothing in a line, so that
 * nothing here knows of them; each closes as the one before it does, so that shifted it is right.
 */
export const closeUnmoved = (tx: Tx, productID: number, which: Fragment) =>
  tx.query(sql`
    with unmoved as materialized (
      select b.account_id, b.investment_id, b.transaction_date, b.biz_transaction_id as id
      from biz_transaction b
      where b.product_id = ${productID} and b.quantity = 0 and b.closing_quantity is null
        and ${raw(counts('b'))} and ${which})
    update biz_transaction b set closing_quantity = n.quantity, closing_amount = n.amount,
      closing_cost = n.cost, closing_gain = n.gain
    from (
      select c.id, coalesce(l.closing_quantity, 0) - coalesce(m.quantity_shift, 0) as quantity,
        coalesce(l.closing_amount, 0) - coalesce(m.amount_shift, 0) as amount,
        coalesce(l.closing_cost, 0) as cost, coalesce(l.closing_gain, 0) as gain
      from unmoved c ${markUpTo(productID, 'c')}
      left join lateral (${lineBefore(productID, 'c')}) l on true) n
    where b.product_id = ${productID} and b.biz_transaction_id = n.id`)
