import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import { byProduct } from '../../platform/sql/spread.ts'

/**
 * Locks the ledger rows of accounts in the order that postings lock them: product by product, each
 * by account id. Returns how many there are. The rows are rewritten, not only locked, so that a
 * posting which has already read an account sees that it changed.
 */
export async function lockLedgerRows(
  tx: Tx,
  accounts: readonly { productID: number; id: number }[],
): Promise<number> {
  let locked = 0
  for (const [productID, own] of byProduct(accounts)) {
    const rows = await tx.query(sql`
      with locked as (
        select account_id from ledger_account where product_id = ${productID}
          and account_id = any(${own.map(({ id }) => id)}::int[])
        order by account_id for update)
      update ledger_account l set last_date = l.last_date from locked
      where l.product_id = ${productID} and l.account_id = locked.account_id
      returning l.account_id`)
    locked += rows.length
  }
  return locked
}
