import sql, { empty } from 'sql-template-tag'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { neutral, type Wanted } from '../../platform/sql/paging.ts'
import { transactionFilters } from './schema.ts'

const begins = /^TransactionDate\.greaterThan(OrEqual)?$/
const fits = /^TransactionDate\.(greater|less)Than(OrEqual)?$/

/**
 * Whether a query asks for what is dated from a day on, and for nothing else. Pages go by id, and
 * by the order of ids all that was posted before would be looked at first.
 */
export function asksSince(query: object): boolean {
  const asked = Object.keys(query).filter((name) => !neutral.test(name))
  return asked.some((one) => begins.test(one)) && asked.every((one) => fits.test(one))
}

/** So many rows to skip and to show are found so; a page further on is read up to. */
const mostRows = 20_000n

type Asked = { within: Fragment; matching: Fragment; later: Fragment; count: number }

/**
 * A page of such a list, of rows t: from the first rows where it is among them, else by the index
 * of days. Nothing where a list is wanted in another order.
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
 * Of each day some ids, ten times as many as are wanted in all: they tell one up to which there are
 * enough; then those up to that one. Of one product: the index has its days in order.
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
