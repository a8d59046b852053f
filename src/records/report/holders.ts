import sql, { raw } from 'sql-template-tag'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { className, itsAccount, itsClass } from '../statement/parts.ts'
import { aboutProduct, asAt } from './about.ts'
import { positionsOf } from './positions.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

/** The units of each holder in each class, across all accounts of the holder. */
const holders = (subject: Subject) => sql`
  select a.biz_entity_id, h.investment_id, sum(h.quantity) as units,
    string_agg(a.account_number, ', ' order by a.account_id) as accounts
  from ${positionsOf(subject)}
  ${itsAccount('h')}
  group by a.biz_entity_id, h.investment_id`

const share = (units: string) => raw(`round(${units} * 100 / nullif(t.units, 0), 2)`)

const topColumns: Column[] = [
  { key: 'class', title: 'Class', kind: 'text', width: 7 },
  { key: 'rank', title: 'Rank', kind: 'number', width: 4, decimals: 0 },
  { key: 'name', title: 'Name', kind: 'text', width: 21 },
  { key: 'accountNumbers', title: 'Account', kind: 'text', width: 9 },
  { key: 'units', title: 'Units', kind: 'number', width: 12, decimals: 4, total: 'class' },
  { key: 'percent', title: '% of issued', kind: 'number', width: 7, decimals: 2 },
]

/**
 * The `top` largest holders of each class; of equal holdings the entity with the lower id comes
 * first. Units of two classes are different things and are never added up.
 */
export async function topHoldersSketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  const ranked = sql`
    with o as materialized (${holders(subject)}),
      t as (select investment_id, sum(units) as units from o group by investment_id),
      r as (
        select o.*, row_number() over (partition by o.investment_id
          order by o.units desc, o.biz_entity_id) as rank
        from o)
    select ${className} as class, r.investment_id, r.rank, e.name,
      r.accounts as "accountNumbers", round(r.units, i.unit_decimals) as units,
      ${share('r.units')} as percent, r.units as exact, t.units as issued
    from r join t using (investment_id)
    ${itsClass('r')}
    cross join lateral (
      select e.name from biz_entity e where e.biz_entity_id = r.biz_entity_id offset 0) e
    where r.rank <= ${subject.top}`
  return {
    title: `Top ${subject.top} holders`,
    about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
    columns: topColumns,
    select: sql`select r.* from (${ranked}) r`,
    order: sql`r.class, r.investment_id, r.rank`,
    byClass: true,
    totals: sql`
      select r.investment_id, round(sum(r.exact) * 100 / nullif(max(r.issued), 0), 2) as percent
      from (${ranked}) r group by r.investment_id`,
  }
}

const rangeColumns: Column[] = [
  { key: 'class', title: 'Class', kind: 'text', width: 8 },
  { key: 'range', title: 'Range of units', kind: 'text', width: 16 },
  { key: 'holders', title: 'Holders', kind: 'number', width: 9, decimals: 0, total: 'class' },
  { key: 'units', title: 'Units', kind: 'number', width: 17, decimals: 4, total: 'class' },
  { key: 'percent', title: '% of issued', kind: 'number', width: 10, decimals: 2 },
]

/** The class that the order names; else every class of the product that has a holder. */
const classes = ({ productID, investmentID }: Subject) => sql`
  select i.investment_id, ${className} as class, i.unit_decimals as decimals from investment i
  where i.product_id = ${productID} and ${
    investmentID
      ? sql`i.investment_id = ${investmentID}`
      : sql`i.investment_id in (select o.investment_id from o)`
  }`

/**
 * The spread of units over the ranges of the exchange; a fraction above a limit falls into the next
 * range.
 */
export async function rangesSketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  return {
    title: 'Holding ranges',
    about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
    columns: rangeColumns,
    select: sql`
      with o as materialized (${holders(subject)}),
        -- Once: written into the join below, the sum would be worked out for each of its rows.
        t as materialized (
          select c.*, (select sum(o.units) from o where o.investment_id = c.investment_id) as units
          from (${classes(subject)}) c)
      select t.class, t.investment_id, g.place, g.range, count(o.units) as holders,
        round(coalesce(sum(o.units), 0), t.decimals) as units,
        coalesce(${share('sum(o.units)')}, 0.00) as percent
      from (values
        (1, '1 – 1,000', 0, 1000), (2, '1,001 – 5,000', 1000, 5000),
        (3, '5,001 – 10,000', 5000, 10000), (4, '10,001 – 100,000', 10000, 100000),
        (5, '100,001 and over', 100000, null)) g (place, range, above, up_to)
      cross join t
      left join o on o.investment_id = t.investment_id
        and o.units > g.above and (g.up_to is null or o.units <= g.up_to)
      group by t.class, t.investment_id, g.place, g.range, t.units, t.decimals`,
    order: sql`class, investment_id, place`,
    byClass: true,
    totals: sql`
      with o as materialized (${holders(subject)})
      select c.investment_id, case
        when exists (select 1 from o where o.investment_id = c.investment_id)
        then 100.00 else 0.00 end as percent
      from (${classes(subject)}) c`,
  }
}
