import { reference } from '../../platform/sql/identify.ts'

const account = {
  what: 'account',
  table: 'account',
  columns: ['account_id', 'external_account_id'],
  inProduct: true,
} as const

/** An account as query strings and as bodies name it; a transfer names two. */
export const accountReference = reference(account, ['accountID', 'externalAccountId'])
export const accountParameter = reference(account, ['AccountID', 'ExternalAccountId'])
export const fromAccountReference = reference(account, ['fromAccountID', 'fromExternalAccountId'])
export const toAccountReference = reference(account, ['toAccountID', 'toExternalAccountId'])
