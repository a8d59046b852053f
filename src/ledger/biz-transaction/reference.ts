import { reference } from '../../platform/sql/identify.ts'

/** A transaction as bodies name it. */
export const transactionReference = reference(
  {
    what: 'transaction',
    table: 'biz_transaction',
    columns: ['biz_transaction_id', 'external_biz_transaction_id'],
    inProduct: true,
    inLedger: true,
  },
  ['bizTransactionID', 'externalBizTransactionId'],
)
