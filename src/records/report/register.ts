import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { addressThatCounts, className, surname } from '../statement/parts.ts'
import { aboutProduct, asAt } from './about.ts'
import { positionsOf, withOwners } from './positions.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'surname', title: 'Surname', kind: 'text', width: 14 },
  { key: 'name', title: 'Name', kind: 'text', width: 24 },
  { key: 'accountNumber', title: 'Account', kind: 'text', width: 10 },
  { key: 'address', title: 'Address', kind: 'text', width: 36 },
  { key: 'dateEntered', title: 'Date entered', kind: 'date', width: 9 },
  { key: 'class', title: 'Class', kind: 'text', width: 9 },
  { key: 'units', title: 'Units', kind: 'number', width: 14, decimals: 4, total: 'class' },
]

/** The address of the entity e, in one line. */
export const addressOfEntity = sql`
  select concat_ws(', ', nullif(x.above_address_line, ''), nullif(x.address_line, ''),
    nullif(concat_ws(' ', x.suburb, x.state_code, x.postcode), ''), nullif(x.country_code, ''))
    as address
  ${raw(addressThatCounts)}`

/**
 * Joins the date entered: the first transaction since the holding was last empty, so that a member
 * who left and came back counts from the return.
 */
const entered = ({ date }: Subject) => {
  const own = sql`b.product_id = h.product_id and b.account_id = h.account_id
    and b.investment_id = h.investment_id and ${raw(counts('b'))}`
  return sql`
    left join lateral (
      select b.transaction_date, b.biz_transaction_id from transaction_line b
      where ${own} and b.transaction_date <= ${date} and b.closing_quantity = 0
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) z on true
    left join lateral (
      select b.transaction_date as date from biz_transaction b
      where ${own} and (z.transaction_date is null or
        (b.transaction_date, b.biz_transaction_id) > (z.transaction_date, z.biz_transaction_id))
      order by b.transaction_date, b.biz_transaction_id limit 1) n on true`
}

/** The members, their addresses, the dates they entered and their units (section 169). */
export const registerSketch = async (snapshot: Snapshot, subject: Subject): Promise<Sketch> => ({
  title: 'Register of members',
  about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
  columns,
  select: sql`
    select coalesce(k.last_name, e.name) as surname, e.name,
      a.account_number as "accountNumber", x.address, n.date as "dateEntered",
      ${className} as class, round(h.quantity, i.unit_decimals) as units,
      a.account_id as "accountID", i.investment_id
    from ${positionsOf(subject)} ${withOwners}
    left join lateral (${addressOfEntity}) x on true
    left join lateral (${raw(surname)}) k on true ${entered(subject)}`,
  order: sql`lower(coalesce(k.last_name, e.name)), lower(e.name), a.account_id, i.investment_id`,
  byClass: true,
})
