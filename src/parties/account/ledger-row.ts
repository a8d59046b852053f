import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import { byProduct } from '../../platform/sql/spread.ts'

/**
 * Locks the rows that accounts have in the ledger, as whoever changes their units does, in its
 * order: product by product, each by the ids of the accounts. Tells how many there are. They are
 * written anew, not only locked: a posting that has read an account already sees it changed.
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
