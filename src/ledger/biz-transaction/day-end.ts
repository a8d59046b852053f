import sql, { raw } from 'sql-template-tag'
import { counts } from '../../platform/lookup/counts.ts'
import type { Fragment } from '../../platform/sql/handle.ts'

/** The columns of a posting whose figures depend on the units held at the end of its day. */
export const dayColumns = {
  place: 'int',
  account_id: 'int',
  investment_id: 'int',
  transaction_date: 'date',
  quantity: 'numeric',
  amount: 'numeric',
  price: 'numeric',
} as const

/** The units of the holding of a row `alias` at the end of the row's transaction_date. */
export const heldAtDayEnd = (productID: number, alias: string): Fragment => sql`
    select b.closing_quantity from transaction_line b
    where b.product_id = ${productID} and b.account_id = ${raw(alias)}.account_id
      and b.investment_id = ${raw(alias)}.investment_id
      and b.transaction_date <= ${raw(alias)}.transaction_date and ${raw(counts('b'))}
    order by b.transaction_date desc, b.biz_transaction_id desc limit 1`
