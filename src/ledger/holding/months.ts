import sql, { raw } from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import { priceOn } from '../../catalogue/investment/price-on.ts'
import { productParameter } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import type { Actor } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { DateOnly, decimal, ExternalId, Id, optional, shown } from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { columns, render } from '../../platform/sql/render.ts'
import { idsOf, idsWhere } from '../biz-transaction/kinds.ts'

const figure = (description: string) => decimal({}, { description })

/** An investment's units and value at the end of a month, and the money in and out during it. */
export const HoldingMonth = shown(
  'HoldingMonth',
  {
    productID: Id,
    investmentID: Id,
    securityCode: Type.String(),
    date: { ...DateOnly, description: 'The last day of the month; for the current month, today.' },
    quantity: figure('The units at the end of that day.'),
    price: figure('The price that applied on that day.'),
    marketValue: figure('The value of the units at that price.'),
    amountIn: figure('The money that deposits and allotments brought in during the month.'),
    amountOut: figure('The money that redemptions paid out during the month.'),
    holders: Type.Integer({
      description: 'The number of accounts that hold units. Only for today.',
    }),
  },
  {
    productID: 1,
    investmentID: 3,
    securityCode: 'ORD',
    date: '2026-01-31',
    quantity: 1000,
    price: 1.5,
    marketValue: 1500,
    amountIn: 300,
    amountOut: 150,
    holders: null,
  },
)

const mostMonths = 36
const usualMonths = 12

export const HoldingMonthQuery = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  BizEntityID: optional({ ...Id, description: 'Only the holdings of this investor.' }),
  Months: optional(
    Type.Integer({
      minimum: 1,
      maximum: mostMonths,
      description: `The number of months, including the current one. If left out: ${usualMonths}.`,
    }),
  ),
})
export type HoldingMonthQuery = Static<typeof HoldingMonthQuery>

const monthColumns = columns(HoldingMonth, 'm', {
  securityCode: 'i.security_code',
  price: 'v.price',
  marketValue: 'round(m.quantity * v.price, minor_units(i.currency_id))',
})
const amountsOf = (ids: string) =>
  raw(`coalesce(sum(abs(x.amount)) filter (where x.biz_transaction_type_id in ${ids}), 0)`)

/**
 * Figures per investment and month, oldest month first. They are calculated backwards: the units of
 * today less those of the later months. The postings of the months asked for are added up once, so
 * the cost depends neither on the length of the whole history nor on the number of investments.
 */
export async function readMonths(handle: Sql, actor: Actor, query: HoldingMonthQuery) {
  const productID = await identifyProduct(handle, actor, query, productParameter)
  const { BizEntityID, Months = usualMonths } = query
  const own = BizEntityID
    ? sql`and x.account_id in (select account_id from account
        where product_id = ${productID} and biz_entity_id = ${BizEntityID})`
    : sql``
  return render(
    handle,
    sql`
    with days as materialized (
      select ${today('p')} as today,
        (date_trunc('month', ${today('p')}) - make_interval(months => ${Months - 1}))::date as since
      from product p where p.product_id = ${productID}),
    later as materialized (
      select x.account_id, x.investment_id, sum(x.quantity) as quantity
      from biz_transaction x
      where x.product_id = ${productID} and x.transaction_date > (select today from days)
        and ${raw(counts('x'))} ${own}
      group by x.account_id, x.investment_id),
    ahead as materialized (
      select l.investment_id, sum(l.quantity) as quantity,
        sum((x.quantity > l.quantity)::int - (x.quantity > 0)::int) as holders
      from later l join holding x on x.product_id = ${productID} and x.account_id = l.account_id
        and x.investment_id = l.investment_id
      group by l.investment_id),
    held as materialized (
      select h.investment_id, h.quantity - coalesce(a.quantity, 0) as quantity,
        h.holders + coalesce(a.holders, 0) as holders
      from (
        select x.investment_id, sum(x.quantity) as quantity,
          count(*) filter (where x.quantity > 0) as holders
        from holding x where x.product_id = ${productID} ${own} group by x.investment_id) h
      left join ahead a on a.investment_id = h.investment_id),
    posted as materialized (
      select x.investment_id, date_trunc('month', x.transaction_date::timestamp)::date as first,
        sum(x.quantity) as quantity,
        ${amountsOf(idsWhere(({ newMoney }) => newMoney ?? false))} as amount_in,
        ${amountsOf(idsOf('Redemption'))} as amount_out
      from biz_transaction x
      where x.product_id = ${productID} and ${raw(counts('x'))} ${own}
        and x.transaction_date between (select since from days) and (select today from days)
      group by x.investment_id, first)
    select ${monthColumns}
    from (
      select ${productID}::int as product_id, h.investment_id, d.date,
        h.quantity - coalesce(sum(c.quantity) over later, 0) as quantity,
        coalesce(c.amount_in, 0) as amount_in, coalesce(c.amount_out, 0) as amount_out,
        case when d.date = y.today then h.holders end as holders
      from held h cross join days y
      cross join lateral (
        select least((s + interval '1 month')::date - 1, y.today) as date, s::date as first
        from generate_series(y.since, y.today, interval '1 month') s) d
      left join posted c on c.investment_id = h.investment_id and c.first = d.first
      window later as (partition by h.investment_id order by d.first desc
        rows between unbounded preceding and 1 preceding)) m
    join investment i on i.investment_id = m.investment_id
    left join lateral (${priceOn('m.investment_id', sql`m.date`)}) v on true
    order by m.investment_id, m.date`,
  )
}
