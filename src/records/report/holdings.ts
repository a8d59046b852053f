import sql from 'sql-template-tag'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { className, currency, shownPrice } from '../statement/parts.ts'
import { aboutProduct, asAt } from './about.ts'
import { marketValue, positionsOf, priceAsAt, withOwners } from './positions.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'name', title: 'Name', kind: 'text', width: 24 },
  { key: 'accountNumber', title: 'Account', kind: 'text', width: 10 },
  { key: 'class', title: 'Class', kind: 'text', width: 9 },
  { key: 'units', title: 'Units', kind: 'number', width: 14, decimals: 4, total: 'class' },
  { key: 'cost', title: 'Cost', kind: 'number', width: 14, decimals: 2, total: 'currency' },
  { key: 'price', title: 'Price', kind: 'number', width: 9, decimals: 4 },
  { key: 'priceDate', title: 'Price date', kind: 'date', width: 9 },
  { key: 'value', title: 'Value', kind: 'number', width: 14, decimals: 2, total: 'currency' },
  { key: 'gain', title: 'Gain', kind: 'number', width: 13, decimals: 2, total: 'currency' },
  { key: 'currency', title: 'Currency', kind: 'text', width: 7 },
]

/** The units of every account, and their value. */
export const holdingsSketch = async (snapshot: Snapshot, subject: Subject): Promise<Sketch> => ({
  title: 'Holdings',
  about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
  columns,
  select: sql`
    select e.name, a.account_number as "accountNumber", ${className} as class,
      round(h.quantity, i.unit_decimals) as units,
      round(h.cost, minor_units(i.currency_id)) as cost, ${shownPrice('v.price')} as price,
      v.price_date as "priceDate",
      ${marketValue} as value,
      case when v.price is not null then ${marketValue} - h.cost end as gain,
      ${currency} as currency, i.investment_id
    from ${positionsOf(subject)} ${withOwners} ${priceAsAt(sql`${subject.date}::date`)}`,
  order: sql`lower(e.name), a.account_id, i.investment_id`,
  byClass: true,
})
