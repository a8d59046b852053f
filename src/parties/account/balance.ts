import sql, { raw } from 'sql-template-tag'
import { priceOn, worthOf } from '../../catalogue/investment/price-on.ts'
import { today } from '../../catalogue/product/today.ts'
import type { Fragment } from '../../platform/sql/handle.ts'

/**
 * What accounts are worth at the end of their product's present day, by the latest prices, in each
 * currency and in the account's own. `accounts` is a selection of accounts in the SQL statement.
 * The day, and whether the account has later transactions, are looked up once per account: doing so
 * for each holding took longer than all the rest.
 */
export const balancesOf = (accounts: Fragment): Fragment => sql`
  select c.account_id, sum(c.amount) filter (where c.currency_id = c.own_currency_id) as balance,
    json_agg(json_build_object('currencyID', c.currency_id, 'amount', trim_scale(c.amount))
      order by c.currency_id) as balances
  from (
    select a.account_id, a.currency_id as own_currency_id, i.currency_id,
      sum(${raw(worthOf('s.quantity', 's.invested'))}) as amount
    from ${accounts} a
    cross join lateral (
      select ${today('p')} as today from product p where p.product_id = a.product_id limit 1) d
    cross join lateral (
      select exists (select 1 from ledger_account l
        where l.product_id = a.product_id and l.account_id = a.account_id
          and l.last_date > d.today) as has_later offset 0) l
    join holding h on h.product_id = a.product_id and h.account_id = a.account_id
    join investment i on i.investment_id = h.investment_id
    left join lateral (${closingToday}) b on true
    cross join lateral (select
      case when l.has_later then b.closing_quantity else h.quantity end as quantity,
      case when l.has_later then b.closing_amount else h.invested_amount end as invested) s
    left join lateral (${priceOn('h.investment_id', sql`d.today`)}) v on true
    where s.quantity is not null
    group by a.account_id, a.currency_id, i.currency_id) c
  group by c.account_id`

/**
 * For an account with transactions dated later, which do not count yet: the closing figures of the
 * last transaction of holding `h` up to today. A rolled-back transaction has none.
 */
const closingToday = sql`
  select b.closing_quantity, b.closing_amount from transaction_line b
  where l.has_later and b.product_id = h.product_id and b.account_id = h.account_id
    and b.investment_id = h.investment_id and b.transaction_date <= d.today
    and b.closing_quantity is not null
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1`

/**
 * What one account (under an alias) with nothing dated later is worth at the end of a day, in its
 * own currency alone: where it has holdings in another one, the figures are not all there are.
 */
export const balanceInOne = (account: string, day: Fragment): Fragment => {
  const own = raw(`${account}.currency_id`)
  return sql`
  select sum(c.amount) as balance,
    case when count(*) > 0 then json_build_array(
      json_build_object('currencyID', ${own}, 'amount', trim_scale(sum(c.amount)))) end as balances,
    coalesce(bool_and(c.currency_id = ${own}), true) as is_plain
  from (
    select v.currency_id,
      ${raw(worthOf('h.quantity', 'h.invested_amount', 'minor_units(v.currency_id)'))} as amount
    from holding h
    cross join lateral (
      select i.currency_id, (${priceOn('i.investment_id', day)}) as price
      from investment i where i.investment_id = h.investment_id limit 1) v
    where h.product_id = ${raw(account)}.product_id
      and h.account_id = ${raw(account)}.account_id) c`
}
