import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Shortfall } from './shortfall.ts'

/**
 * Closing figures of a long history that changes in the middle. The change shifts the units and the
 * money after every later transaction by the same figures, so one mark stores the shift instead of
 * rewriting perhaps a million rows. Only sales must be counted one by one, because their gain
 * depends on the cost before them, rounded each time; marks among the sales store the gain to count
 * from. migrations/0034-closing-marks.sql says how closing figures are read with the marks; the
 * view `transaction_line` does so.
 */

/**
 * All changes in the histories of holdings, as a select of account_id, investment_id,
 * transaction_date, id, quantity, amount, is_new, carried_cost: transactions that came in
 * (`is_new`, as they are now) and transactions that went (as they were, with negated figures).
 */
export type Changes = Fragment

/** The changes by transactions b that were posted; `which` is a condition on b. */
export const newLines = (productID: number, which: Fragment): Changes => sql`
  select b.account_id, b.investment_id, b.transaction_date, b.biz_transaction_id as id, b.quantity,
    b.amount, true as is_new, b.carried_cost
  from biz_transaction b
  where b.product_id = ${productID} and b.quantity <> 0 and ${which}`

/** The changes by transactions b that were rolled back; `which` is a condition on b. */
export const goneLines = (productID: number, which: Fragment): Changes => sql`
  select b.account_id, b.investment_id, b.transaction_date, b.biz_transaction_id as id,
    -b.quantity as quantity, -b.amount as amount, false as is_new, b.carried_cost
  from biz_transaction b
  where b.product_id = ${productID} and b.quantity <> 0 and ${which}`

export type Line = { accountID: number; investmentID: number }

/** Up to so many later transactions are rewritten: cheaper than shifting them in every read. */
export const rowsAtOnce = raw(
  `coalesce(nullif(current_setting('registry.rows_at_once', true), '')::int, 100)`,
)

/**
 * A mark is set for every so many sales, up to twice as many; in a very long history for more, so
 * that about `mostMarks` cover it.
 */
const salesPerMark = raw(
  `coalesce(nullif(current_setting('registry.sales_per_mark', true), '')::int, 50)`,
)
const mostMarks = 100

/**
 * The holdings whose closing figures are to be shifted: those with a long history in which no
 * transaction carries cost. `not in` reads the changes once and keeps them; `not exists` might read
 * them again for each of many holdings.
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

/** Shifts closing figures from the first change of each holding; returns those below zero. */
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
 * CTEs with the changes of the holdings (`change`), the first change of each (`first`), and the
 * place from which nothing is shifted (`ending`): right after the last transaction that counts,
 * since appended transactions come later.
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

/** A row's place in the history of its holding; `placeOf` is for CTEs, which have a column `id`. */
const place = (alias: string) => raw(`(${alias}.transaction_date, ${alias}.biz_transaction_id)`)
const placeOf = (alias: string) => raw(`(${alias}.transaction_date, ${alias}.id)`)

/** Joins the last mark m of a holding up to a place in its history. */
const lastMark = (ofHolding: Fragment, upTo: Fragment) => sql`
  left join lateral (
    select m.quantity_shift, m.amount_shift from closing_mark m
    where ${ofHolding} and ${place('m')} <= ${upTo}
    order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m on true`

/** Joins the last mark m up to the place of a row of a CTE. */
const markUpTo = (productID: number, alias: string) =>
  lastMark(ofHolding(productID, 'm', alias), placeOf(alias))

/** Joins o to a transaction t: its closing units and money as `transaction_line` shows them. */
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
 * Writes marks at each change and at each older mark from the first change on: the previous shift
 * plus all changes up to there; and a mark that ends the shift. A new transaction is stored with
 * closing figures that are right once shifted, from those of the last transaction before it.
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
 * Recounts the realised gain through the sales from the first change on, and stores it in the marks
 * there and in new marks where many sales lie between two. Returns the holdings that are short: a
 * holding has the fewest units right after a sale, so only sales are checked.
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
 * For each mark, the gain after the last sale before it. PostgreSQL cannot run a full join as a
 * nested loop, however short the planner takes the lists to be.
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

/** The last transaction before a row of a CTE that had closing figures before the change. */
const lineBefore = (productID: number, alias: string) => sql`
        select l.transaction_date, l.biz_transaction_id as id, l.closing_quantity,
          l.closing_amount, l.closing_cost, l.closing_gain
        from transaction_line l
        where ${ofHolding(productID, 'l', alias)} and ${place('l')} < ${placeOf(alias)}
          and ${raw(counts('l'))} and l.closing_quantity is not null
        order by l.transaction_date desc, l.biz_transaction_id desc limit 1`

/** Sets the totals of holdings to the closing figures of their last transactions. */
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
 * Gives closing figures to transactions b that move no units; `which` is a condition on b. They are
 * no `Changes`, so the shift does not treat them. Each gets the figures of the transaction before
 * it, stored so that they are right once shifted.
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
