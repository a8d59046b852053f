import { lookups } from './lookups.ts'

/**
 * The SQL condition that leaves out rolled-back transactions; `alias` is the alias of their table.
 * It stands below all rooms of the ledger, since notices and holds use it as postings do.
 */
export const counts = (alias: string) =>
  `${alias}.biz_transaction_status_id <> ${lookups.BizTransactionStatus.RolledBack}`
