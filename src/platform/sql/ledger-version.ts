import sql, { raw } from 'sql-template-tag'
import type { Fragment, Tx } from './handle.ts'

/** The ledger's tables whose past is kept here, with their primary keys behind the product. */
const keys = {
  payment_run: ['payment_run_id'],
  payment: ['payment_id'],
  payment_item: ['biz_transaction_id'],
  payment_exception: ['payment_run_id', 'biz_transaction_id'],
  withholding: ['corporate_action_id', 'account_id', 'ordinal'],
  distribution_stage: ['corporate_action_id'],
} as const

/**
 * What rows t of a table of the ledger say now, before they change or go: for reads of the past
 * (migrations/as-known.sql). What this very transaction has made was never seen by anybody.
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
