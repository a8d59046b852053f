import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import {
  className,
  currency,
  itsAccount,
  itsClass,
  itsOwner,
  shownPrice,
  typeName,
  wanted,
} from '../statement/parts.ts'
import { aboutProduct, inPeriod, signs } from './about.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'date', title: 'Date', kind: 'date', width: 9 },
  { key: 'transactionID', title: 'Number', kind: 'text', width: 9 },
  { key: 'reference', title: 'Reference', kind: 'text', width: 12 },
  { key: 'type', title: 'Type', kind: 'text', width: 13 },
  { key: 'accountNumber', title: 'Account', kind: 'text', width: 9 },
  { key: 'name', title: 'Name', kind: 'text', width: 20 },
  { key: 'class', title: 'Class', kind: 'text', width: 8 },
  { key: 'units', title: 'Units', kind: 'number', width: 13, decimals: 4, total: 'class' },
  { key: 'price', title: 'Price', kind: 'number', width: 8, decimals: 4 },
  {
    ...{ key: 'amount', title: 'Amount', kind: 'number', width: 13, decimals: 2 },
    ...{ total: 'currency', adds: 'hasUnits' },
  },
  { key: 'fee', title: 'Entry fee', kind: 'number', width: 9, decimals: 2, total: 'currency' },
  { key: 'balance', title: 'Units after', kind: 'number', width: 13, decimals: 4 },
  { key: 'currency', title: 'Currency', kind: 'text', width: 8 },
]

/** The entry fee, where the transaction had one; it is part of the amount paid. */
const entryFee = raw(
  'case when b.entry_fee_amount > 0 then round(b.entry_fee_amount, minor_units(i.currency_id)) end',
)

/** The transactions of a report that count, under the alias b. */
export const countedIn = (subject: Subject) => {
  const { productID, investmentID, fromDate, toDate } = subject
  return sql`b.product_id = ${productID} and ${raw(counts('b'))}
    and b.transaction_date <= ${toDate}
    ${fromDate ? sql`and b.transaction_date >= ${fromDate}` : sql``}
    ${investmentID ? sql`and b.investment_id = ${investmentID}` : sql``}
    and ${wanted(subject, 'b')}`
}

/** Money paid in for units and money paid out by the fund have no meaningful sum together. */
const added = ['Total of amounts', 'Postings of units; payments and tax are not added'] as const

/** The transactions of a period; rolled-back transactions do not count. */
export const transactionsSketch = async (
  snapshot: Snapshot,
  subject: Subject,
): Promise<Sketch> => ({
  title: 'Transactions',
  about: [...(await aboutProduct(snapshot, subject)), inPeriod(subject), signs, added],
  columns,
  select: sql`
    select b.transaction_date as date, b.biz_transaction_id::text as "transactionID",
      b.external_biz_transaction_id as reference, ${typeName} as type,
      a.account_number as "accountNumber", e.name, ${className} as class,
      round(b.quantity, i.unit_decimals) as units, ${shownPrice('b.investment_price')} as price,
      round(b.amount, minor_units(i.currency_id)) as amount, ${entryFee} as fee,
      round(b.closing_quantity, i.unit_decimals) as balance, ${currency} as currency,
      b.quantity <> 0 as "hasUnits", i.investment_id
    from transaction_line b
    ${itsAccount('b')} ${itsOwner} ${itsClass('b')}
    where ${countedIn(subject)}`,
  order: sql`b.transaction_date, b.biz_transaction_id`,
  byClass: true,
})
