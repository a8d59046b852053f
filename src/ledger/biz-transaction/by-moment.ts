import sql, { empty, join } from 'sql-template-tag'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { neutral, type Wanted } from '../../platform/sql/paging.ts'
import { transactionFilters } from './schema.ts'

const begins = /^CreatedDate(\.greaterThan(OrEqual)?)?$/
const ends = /^CreatedDate\.lessThan(OrEqual)?$/

type Bounds = { begun: Fragment[]; notOver: Fragment[] }

/** The CreatedDate bounds of a query; undefined where it has none or filters by anything else. */
export function createdBetween(query: object): Bounds | undefined {
  const asked = Object.entries(query)
    .filter(([name]) => !neutral.test(name))
    .flatMap(([name, value]) => (name === 'CreatedDate.equal' ? within(value) : [[name, value]]))
  const bounds = (which: RegExp) =>
    asked.filter(([name]) => which.test(name)).map(([name, value]) => created({ [name]: value }))
  const [begun, notOver] = [bounds(begins), bounds(ends)]
  const isAll = begun.length + notOver.length === asked.length
  return isAll && asked.length > 0 ? { begun, notOver } : undefined
}

const within = (second: unknown) => [
  ['CreatedDate.greaterThanOrEqual', second],
  ['CreatedDate.lessThanOrEqual', second],
]

const created = (query: object) =>
  conditions({ CreatedDate: transactionFilters.CreatedDate }, query)

/**
 * The most rows, skipped and shown together, that this search serves. A page further on is reached
 * by reading up to it, and so are the parts of a ledger that Citus spreads over several machines.
 */
const mostRows = 20_000n

/**
 * A page of the transactions t that were created between two moments. Pages go by id, and ids
 * follow the moments only roughly: a posting may take its id before another that began earlier. So
 * a binary search finds the range of ids of about that time, which is read in order. Rows outside
 * the range that match all the same are found by the block range index biz_transaction_lately: it
 * has the moments and the ids of each range of blocks, and very few ranges combine the right
 * moments with other ids. `near` is the condition on the rows that the binary search looks at.
 */
export function pageCreatedBetween(
  { begun, notOver }: Bounds,
  rows: { within: Fragment; near: Fragment },
  { size, skip, after, isDescending, isWhole, isPart }: Wanted,
): Fragment | undefined {
  if (isWhole || isPart || skip + BigInt(size) > mostRows) return undefined
  const count = Number(skip) + size
  const order = isDescending ? sql`desc` : empty
  const matching = all([rows.within, ...begun, ...notOver])
  const further = (id: Fragment) =>
    after ? sql`and ${id} ${isDescending ? sql`<` : sql`>`} ${after[0]}::bigint` : empty
  const outside = (place: Fragment) => sql`
        select t.biz_transaction_id as id from biz_transaction t
        where ${matching} and ${place} ${further(anyID)}`
  return sql`
    select t.* from biz_transaction t
    where ${rows.within} and t.biz_transaction_id = any(array(
      with recursive ${search(sql`start`, rows.near, before(begun))},
      ${search(sql`finish`, rows.near, notOver.length > 0 ? all(notOver) : sql`true`)},
      span as materialized (
        select (select max(low) from start) as low, (select min(high) from finish) as high)
      select id from (
        (select t.biz_transaction_id as id from (
            select t.biz_transaction_id, t.created_date from biz_transaction t
            where ${rows.within} ${further(sql`t.biz_transaction_id`)}
              and t.biz_transaction_id > (select low from span)
              and t.biz_transaction_id < (select high from span)
            order by t.biz_transaction_id ${order} offset 0) t
          where ${all([...begun, ...notOver])}
          order by t.biz_transaction_id ${order} limit ${count})
        union all
        ${outside(sql`${anyID} <= (select low from span)`)}
        union all
        ${outside(sql`${anyID} >= (select high from span)`)}) c
      order by id ${order} limit ${size} offset ${Number(skip)}))
    order by t.biz_transaction_id`
}

/** The id as only the block range index has it: by another index all outside rows would be read. */
const anyID = sql`(t.biz_transaction_id + 0)`

const all = (some: readonly Fragment[]) => join([...some], ' and ')
const before = (begun: readonly Fragment[]) =>
  begun.length > 0 ? sql`not (${all(begun)})` : sql`false`

/** The binary search ends when its two ids are at most this far apart. */
const closeEnough = 256

/** A binary search: rows at `low` are still before the wanted place, rows at `high` are not. */
const search = (name: Fragment, near: Fragment, isBefore: Fragment) => sql`
      ${name} (low, high) as (
        select 0::bigint, (
          select 1 + max(t.biz_transaction_id) from biz_transaction t where ${near})
        union all
        select case when m.is_before then m.id else s.low end,
          case when m.is_before then s.high else m.id end
        from ${name} s
        cross join lateral (
          select m.id, coalesce((
            select ${isBefore} from biz_transaction t
            where ${near} and t.biz_transaction_id >= m.id
            order by t.biz_transaction_id limit 1), false) as is_before
          from (select (s.low + s.high) / 2 as id) m) m
        where s.high - s.low > ${closeEnough})`
