import { reference } from '../../platform/sql/identify.ts'

const account = {
  what: 'account',
  table: 'account',
  columns: ['account_id', 'external_account_id'],
  inProduct: true,
} as const

/** How query strings and bodies name an account; a transfer names two. */
export const accountReference = reference(account, ['accountID', 'externalAccountId'])
export const accountParameter = reference(account, ['AccountID', 'ExternalAccountId'])
export const fromAccountReference = reference(account, ['fromAccountID', 'fromExternalAccountId'])
export const toAccountReference = reference(account, ['toAccountID', 'toExternalAccountId'])
