import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'
import { counts } from './kinds.ts'

/** What a holding, named by a row under an alias, has at the end of that row's transaction_date. */
export const heldAtDayEnd = (productID: number, alias: string): Fragment => sql`
    select b.closing_quantity from transaction_line b
    where b.product_id = ${productID} and b.account_id = ${raw(alias)}.account_id
      and b.investment_id = ${raw(alias)}.investment_id
      and b.transaction_date <= ${raw(alias)}.transaction_date and ${raw(counts('b'))}
    order by b.transaction_date desc, b.biz_transaction_id desc limit 1`
