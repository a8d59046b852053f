import sql, { raw } from 'sql-template-tag'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'

const total = (sign: '' | '-') => (tx: Tx, own: Fragment) =>
  tx.query(sql`
    insert into entitlement_total as t (product_id, account_id, investment_id, gross_amount)
    select e.product_id, e.account_id, e.investment_id, ${raw(`${sign}e.gross_amount`)}
    from entitlement e where ${own} and e.gross_amount > 0
    order by e.account_id
    on conflict (product_id, account_id, investment_id)
      do update set gross_amount = t.gross_amount + excluded.gross_amount`)

/**
 * Adds entitlements e of a distribution to the totals of their holdings, so that nobody who reads
 * a holding has to add up all it was ever entitled to. In the order of the accounts, because two
 * distributions may be declared at once.
 */
export const addToTotals = total('')

/** Takes entitlements e that are about to be deleted from the totals again. */
export const takeFromTotals = total('-')
