import sql from 'sql-template-tag'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'

/** The key of a transaction. */
export type Key = { productID: number; id: number }

/**
 * The moment of a change, to be read once its accounts are locked. `now()` would be the beginning
 * of the database transaction, and one that began earlier may get the lock later.
 */
export async function momentOfChange(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ moment: string }>(sql`select clock_timestamp()::text as moment`)
  return row!.moment // a select without a from has one row
}

/** The condition that picks transactions t of a product. */
export const among = (productID: number, rows: readonly Key[]) => sql`
  t.product_id = ${productID}
    and t.biz_transaction_id = any(${rows.map(({ id }) => id)}::bigint[])`

/** Stores the versions that are about to be replaced, with the moment and the user. */
export async function keepVersions(
  tx: Tx,
  userID: number | null,
  rows: readonly Key[],
  moment: string,
) {
  const number = sql`1 + (
        select count(*) from biz_transaction_version v
        where v.product_id = t.product_id and v.biz_transaction_id = t.biz_transaction_id)`
  for (const [productID, own] of byProduct(rows))
    await inProduct(tx, productID).query(
      insertVersions(among(productID, own), { number, userID, moment }),
    )
}

type Replaced = {
  /** The number of the version, as SQL. */
  number: Fragment
  userID: number | null
  moment: string
}

/** Inserts what the transactions t that meet a condition say up to a moment. */
export const insertVersions = (which: Fragment, { number, userID, moment }: Replaced) => sql`
    insert into biz_transaction_version (product_id, biz_transaction_id, version,
      external_biz_transaction_id, biz_transaction_status_id, transaction_date, investment_price,
      amount, quantity, entry_fee_amount, comment, valid_from, valid_to, replaced_by_user_id)
    select t.product_id, t.biz_transaction_id, ${number},
      t.external_biz_transaction_id, t.biz_transaction_status_id, t.transaction_date,
      t.investment_price, t.amount, t.quantity, t.entry_fee_amount, t.comment,
      coalesce(t.updated_date, t.created_date), ${moment}::timestamptz, ${userID}
    from biz_transaction t where ${which}`

/**
 * Clears the external ids of transactions that were rolled back, for the transactions that settle
 * the same notices again. Their versions keep the ids.
 */
export async function releaseExternalIDs(tx: Tx, productID: number, ids: readonly number[]) {
  if (ids.length === 0) return
  const moment = await momentOfChange(tx)
  const rows = ids.map((id) => ({ productID, id }))
  await keepVersions(tx, null, rows, moment)
  await tx.query(sql`
    update biz_transaction t set external_biz_transaction_id = null, updated_date = ${moment}
    where ${among(productID, rows)}`)
}
