import sql, { empty } from 'sql-template-tag'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { neutral, type Wanted } from '../../platform/sql/paging.ts'
import { transactionFilters } from './schema.ts'

const begins = /^TransactionDate\.greaterThan(OrEqual)?$/
const fits = /^TransactionDate\.(greater|less)Than(OrEqual)?$/

/**
 * Whether a query filters only by a range of dates with a first day. Pages go by id, and in the
 * order of ids everything posted earlier would be read first.
 */
export function asksSince(query: object): boolean {
  const asked = Object.keys(query).filter((name) => !neutral.test(name))
  return asked.some((one) => begins.test(one)) && asked.every((one) => fits.test(one))
}

/** The most rows, skipped and shown together, for this search; further pages are read up to. */
const mostRows = 20_000n

type Asked = { within: Fragment; matching: Fragment; later: Fragment; count: number }

/**
 * A page of transactions t for a query that `asksSince`: from the first rows by id if they contain
 * it, else by the index of days. Undefined where all are wanted, or in descending order.
 */
export function pageSince(
  within: Fragment,
  query: object,
  { size, skip, after, isDescending, isWhole }: Wanted,
): Fragment | undefined {
  if (isDescending || isWhole || skip + BigInt(size) > mostRows) return undefined
  const count = Number(skip) + size
  const matching = conditions({ TransactionDate: transactionFilters.TransactionDate }, query)
  const later = after ? sql`and t.biz_transaction_id > ${after[0]}::bigint` : empty
  const asked = { within, matching, later, count }
  return sql`
    select t.* from biz_transaction t
    where ${within} and t.biz_transaction_id = any(array(
      with recursive first as materialized (
        select t.biz_transaction_id as id from (
          select t.biz_transaction_id, t.transaction_date from biz_transaction t
          where ${within} ${later} order by t.biz_transaction_id limit ${3 * count}) t
        where ${matching} order by id limit ${count}),
      ${foundByDay(asked)}
      select id from (
        select id from first where (select count(*) from first) = ${count}
        union all
        select id from found) c
      order by id limit ${size} offset ${Number(skip)}))
    order by t.biz_transaction_id`
}

/**
 * Takes some ids of each day, ten times as many as are wanted in all, which gives an id up to which
 * there are enough; then reads the ids of each day up to that one. It needs a single product: only
 * within one product the index has the days in order.
 */
const foundByDay = ({ within, matching, later, count }: Asked) => sql`
      day (transaction_date) as (
        (select t.transaction_date from biz_transaction t
          where ${within} and ${matching} and (select count(*) from first) < ${count}
          order by t.transaction_date limit 1)
        union all
        select (select t.transaction_date from biz_transaction t
          where ${within} and ${matching} and t.transaction_date > d.transaction_date
          order by t.transaction_date limit 1)
        from day d where d.transaction_date is not null),
      enough as materialized (
        select case when count(*) = ${count} then max(id) end as id from (
          select c.id from day d
          cross join lateral (
            select t.biz_transaction_id as id from biz_transaction t
            where ${within} and t.transaction_date = d.transaction_date ${later}
            order by t.biz_transaction_id limit (
              select greatest(16, least(${count}, ${10 * count} / greatest(count(*), 1)))
              from day)) c
          order by c.id limit ${count}) c),
      found as (
        select c.id from day d cross join enough e
        cross join lateral (
          select t.id from (
            select t.biz_transaction_id as id from biz_transaction t
            where ${within} and t.transaction_date = d.transaction_date ${later}
              and t.biz_transaction_id <= coalesce(e.id, 9223372036854775807)
            offset 0) t
          order by t.id limit ${count}) c)`
