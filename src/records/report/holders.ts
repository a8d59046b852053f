import sql, { raw } from 'sql-template-tag'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { aboutProduct, asAt } from './about.ts'
import { positionsOf } from './positions.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

/** Who holds how much, all accounts of a holder together, and how much there is. */
const holders = (subject: Subject) => sql`
  select a.biz_entity_id, sum(h.quantity) as units, max(i.unit_decimals) as decimals
  from ${positionsOf(subject)}
  join account a on a.product_id = h.product_id and a.account_id = h.account_id
  join investment i on i.investment_id = h.investment_id
  group by a.biz_entity_id`

const share = (units: string) => raw(`round(${units} * 100 / nullif(t.units, 0), 2)`)

const topColumns: Column[] = [
  { key: 'rank', title: 'Rank', kind: 'number', width: 5, decimals: 0 },
  { key: 'name', title: 'Name', kind: 'text', width: 30 },
  { key: 'units', title: 'Units', kind: 'number', width: 15, decimals: 4, total: true },
  { key: 'percent', title: '% of issued', kind: 'number', width: 10, decimals: 2 },
]

/** The largest holders: exactly so many, and of equals the one who has been here longer. */
export async function topHoldersSketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  const ranked = sql`
    select row_number() over (order by o.units desc, o.biz_entity_id) as rank, e.name,
      round(o.units, o.decimals) as units, ${share('o.units')} as percent, o.units as exact,
      t.units as issued
    from (${holders(subject)}) o
    cross join (select sum(units) as units from (${holders(subject)}) s) t
    join biz_entity e on e.biz_entity_id = o.biz_entity_id
    order by o.units desc, o.biz_entity_id limit ${subject.top}`
  return {
    title: `Top ${subject.top} holders`,
    about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
    columns: topColumns,
    select: sql`select r.* from (${ranked}) r`,
    order: sql`r.rank`,
    totals: sql`
      select round(sum(r.exact) * 100 / nullif(max(r.issued), 0), 2) as percent from (${ranked}) r`,
  }
}

const rangeColumns: Column[] = [
  { key: 'range', title: 'Range of units', kind: 'text', width: 20 },
  { key: 'holders', title: 'Holders', kind: 'number', width: 10, decimals: 0, total: true },
  { key: 'units', title: 'Units', kind: 'number', width: 18, decimals: 4, total: true },
  { key: 'percent', title: '% of issued', kind: 'number', width: 10, decimals: 2 },
]

/** How the units are spread, in the ranges of the exchange; parts of a unit belong to the next. */
export async function rangesSketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  return {
    title: 'Holding ranges',
    about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
    columns: rangeColumns,
    select: sql`
      with o as materialized (${holders(subject)}),
        t as (select sum(units) as units, coalesce(max(decimals), 0) as decimals from o)
      select g.place, g.range, count(o.units) as holders,
        round(coalesce(sum(o.units), 0), t.decimals) as units,
        coalesce(${share('sum(o.units)')}, 0.00) as percent
      from (values
        (1, '1 – 1,000', 0, 1000), (2, '1,001 – 5,000', 1000, 5000),
        (3, '5,001 – 10,000', 5000, 10000), (4, '10,001 – 100,000', 10000, 100000),
        (5, '100,001 and over', 100000, null)) g (place, range, above, up_to)
      cross join t
      left join o on o.units > g.above and (g.up_to is null or o.units <= g.up_to)
      group by g.place, g.range, t.units, t.decimals`,
    order: sql`place`,
    totals: sql`
      select case when exists (select from (${holders(subject)}) o) then 100.00 else 0.00 end
        as percent`,
  }
}
