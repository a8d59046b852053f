import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import { lostRace } from '../../platform/sql/rows.ts'
import { byProduct } from '../../platform/sql/spread.ts'

/** The key of an account in the ledger. */
export type AccountKey = { productID: number; id: number }

/**
 * Locks the ledger rows of accounts in the order that postings lock them: product by product, each
 * by account id. Returns how many there are. The rows are rewritten, not only locked, so that a
 * posting which has already read an account sees that it changed.
 */
export async function lockLedgerRows(tx: Tx, accounts: readonly AccountKey[]): Promise<number> {
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

/**
 * Keeps postings out of accounts until a change of these is written: finished postings are seen
 * from now on, and waiting ones will find the account changed or gone. A posting locks the ledger
 * row of its account. The first posting of most accounts creates that row, and its foreign key
 * locks the account row itself. So both rows are locked here, the ledger row first, and those of
 * all accounts together. If an account got its ledger row in between, it may be in use again, and
 * the write starts again.
 */
export async function keepPostingsOut(tx: Tx, accounts: readonly AccountKey[]): Promise<void> {
  if (accounts.length === 0) return
  const before = await lockLedgerRows(tx, accounts)
  await lockAccountRows(tx, accounts)
  const [now] = await tx.query<{ rows: number }>(sql`
    select count(distinct l.account_id)::int as rows
    from unnest(${accounts.map(({ productID }) => productID)}::int[],
      ${accounts.map(({ id }) => id)}::int[]) g (product_id, account_id)
    join ledger_account l on l.product_id = g.product_id and l.account_id = g.account_id`)
  if (now!.rows !== before) throw lostRace('account') // an aggregate gives one row
}

/**
 * Locks accounts. If the ledger is spread over servers, each server has a copy of the accounts, and
 * a posting locks the copy beside its product: the SQL statement names the product's ledger, so
 * that it locks that same copy.
 */
async function lockAccountRows(tx: Tx, accounts: readonly AccountKey[]) {
  for (const [productID, own] of byProduct(accounts))
    await tx.query(sql`
      select 1 from account a
      left join ledger_account l on l.product_id = ${productID} and l.account_id = a.account_id
      where a.account_id = any(${own.map(({ id }) => id)}::int[])
      order by a.account_id for update of a`)
}
