import sql, { raw } from 'sql-template-tag'
import type { Fragment, Tx } from './handle.ts'

/** The ledger tables whose versions are kept here, with their primary keys without the product. */
const keys = {
  payment_run: ['payment_run_id'],
  payment: ['payment_id'],
  payment_item: ['biz_transaction_id'],
  payment_exception: ['payment_run_id', 'biz_transaction_id'],
  withholding: ['corporate_action_id', 'account_id', 'ordinal'],
  distribution_stage: ['corporate_action_id'],
} as const

/**
 * Copies the present content of ledger rows t before they change or are deleted: for reads of the
 * past (migrations/as-known.sql). Rows made by this same transaction are left out, since nobody has
 * ever seen them.
 */
export const keepLedgerRows = (tx: Tx, table: keyof typeof keys, own: Fragment) => {
  const key = keys[table].map((column) => `t.${column}`).join(', ')
  const began = table === 'distribution_stage' ? 'started_date' : 'created_date'
  return tx.query(sql`
    insert into ledger_version (product_id, table_name, record_key, valid_to, image)
    select t.product_id, ${table}::text, ${raw(`concat_ws(',', ${key})`)}, m.moment, to_jsonb(t)
    from ${raw(table)} t cross join (select clock_timestamp() as moment) m
    where ${own} and ${raw(`t.${began}`)} <> now()`)
}
