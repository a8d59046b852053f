import { lookups } from './lookups.ts'

/**
 * A transaction that was rolled back counts for nothing; under an alias, as a condition in SQL. It
 * stands below all rooms of the ledger, since notices and holds ask for it as postings do.
 */
export const counts = (alias: string) =>
  `${alias}.biz_transaction_status_id <> ${lookups.BizTransactionStatus.RolledBack}`
