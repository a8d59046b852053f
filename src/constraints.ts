import type { Problem } from './refusal.ts'

/** What a broken database constraint means to a caller, by the constraint's name. */
export const constraints: Record<string, Problem & { status: 400 | 409 }> = {
  product_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalProductId',
    message: 'Another product has this externalProductId.',
  },
  product_has_users: {
    status: 409,
    code: 'in_use',
    message: 'The product is in the scope of a user; change that user first.',
  },
  product_has_accounts: {
    status: 409,
    code: 'in_use',
    message: 'The product has accounts.',
  },
  product_has_investments: {
    status: 409,
    code: 'in_use',
    message: 'The product has investments; delete them first.',
  },
  investment_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalInvestmentId',
    message: 'Another investment of this product has this externalInvestmentId.',
  },
  investment_security_code_unique: {
    status: 409,
    code: 'duplicate',
    field: 'securityCode',
    message: 'Another investment of this product has this securityCode.',
  },
  investment_price_date_unique: {
    status: 409,
    code: 'duplicate',
    field: 'priceDate',
    message: 'The investment has a price on this date already; change it with PUT.',
  },
  investment_has_prices: {
    status: 409,
    code: 'in_use',
    message: 'The investment has price records; delete them first, or deactivate the investment.',
  },
  investment_has_transactions: {
    status: 409,
    code: 'in_use',
    message: 'The investment has transactions; it can be deactivated instead.',
  },
  investment_has_events: {
    status: 409,
    code: 'in_use',
    message: 'The investment has event notices; it can be deactivated instead.',
  },
  biz_transaction_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalBizTransactionId',
    message: 'Another transaction of this product has this externalBizTransactionId.',
  },
  biz_event_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalBizTransactionId',
    message: 'Another notice of this product has this externalBizTransactionId.',
  },
  app_user_username_unique: {
    status: 409,
    code: 'duplicate',
    field: 'username',
    message: 'Another user has this username.',
  },
}
