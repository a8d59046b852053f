import type { Problem } from './refusal.ts'

/** The refusal that a broken database constraint becomes, by the constraint's name. */
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
  product_has_documents: {
    status: 409,
    code: 'in_use',
    message: 'The product has documents; delete them first.',
  },
  product_has_reports: {
    status: 409,
    code: 'in_use',
    message: 'The product has reports; delete them first.',
  },
  organisation_has_documents: {
    status: 409,
    code: 'in_use',
    message: 'The organisation has documents; delete them first.',
  },
  document_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalDocumentId',
    message: 'Another document of this product has this externalDocumentId.',
  },
  document_belongs: {
    status: 409,
    code: 'in_use',
    message: 'A document was added to the entity at this moment; try again.',
  },
  document_stored_file: {
    status: 409,
    code: 'conflict',
    message: 'The same content was deleted at this moment; send the file again.',
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
  investment_security_code_any_case: {
    status: 409,
    code: 'duplicate',
    field: 'securityCode',
    message: 'Another investment of this product has this securityCode, in whatever letter case.',
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
  investment_has_distributions: {
    status: 409,
    code: 'in_use',
    message: 'The investment has distributions; it can be deactivated instead.',
  },
  investment_is_drp_target: {
    status: 409,
    code: 'in_use',
    message: 'The investment is the DRP target of a distribution; it can be deactivated instead.',
  },
  distribution_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalCorporateActionId',
    message: 'Another distribution of this product has this externalCorporateActionId.',
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
  product_has_entities: {
    status: 409,
    code: 'in_use',
    message: 'The product has entities.',
  },
  person_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalPersonId',
    message: 'Another person has this externalPersonId.',
  },
  organisation_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalOrganisationId',
    message: 'Another organisation has this externalOrganisationId.',
  },
  biz_entity_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalBizEntityId',
    message: 'Another entity has this externalBizEntityId.',
  },
  account_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalAccountId',
    message: 'Another account of this product has this externalAccountId.',
  },
  account_number_unique: {
    status: 409,
    code: 'duplicate',
    field: 'accountNumber',
    message: 'Another account of this product has this accountNumber.',
  },
  address_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalAddressId',
    message: 'Another address has this externalAddressId.',
  },
  communication_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalCommunicationId',
    message: 'Another communication has this externalCommunicationId.',
  },
  payment_detail_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalPaymentDetailId',
    message: 'Another payment detail has this externalPaymentDetailId.',
  },
  communication_email_unique: {
    status: 409,
    code: 'duplicate_email',
    field: 'name',
    message:
      'This email address belongs to another record: it must be unique on the whole platform.',
  },
  biz_entity_parent_unique: {
    status: 409,
    code: 'duplicate',
    field: 'activeFrom',
    message: 'The entity has a link to this parent from this day on already; change it with PUT.',
  },
  person_is_party: {
    status: 409,
    code: 'in_use',
    message: 'The person is a party of an entity.',
  },
  person_is_associated: {
    status: 409,
    code: 'in_use',
    message: 'The person is associated with an organisation.',
  },
  biz_entity_nominee: {
    status: 409,
    code: 'in_use',
    message: 'The person is the authorised nominee of an entity.',
  },
  biz_entity_controller: {
    status: 409,
    code: 'in_use',
    message: 'The person controls an entity.',
  },
  biz_entity_signature_party: {
    status: 409,
    code: 'in_use',
    message: 'The person signs for an entity.',
  },
  organisation_is_party: {
    status: 409,
    code: 'in_use',
    message: 'The organisation is a party of an entity.',
  },
  biz_entity_margin_lender: {
    status: 409,
    code: 'in_use',
    message: 'The organisation is the margin lender of an entity.',
  },
  account_has_transactions: {
    status: 409,
    code: 'has_transactions',
    message: 'An account of the entity has transactions, or was listed in a distribution.',
  },
  account_has_events: {
    status: 409,
    code: 'has_events',
    message: 'An account of the entity has event notices.',
  },
  account_has_holds: {
    status: 409,
    code: 'in_use',
    message: 'There is a hold on an account of the entity.',
  },
  investment_has_holds: {
    status: 409,
    code: 'in_use',
    message: 'There is a hold on units of the investment.',
  },
  hold_quantity: {
    status: 400,
    code: 'required',
    field: 'quantity',
    message: 'The hold is on every investment of the account: of these it holds all.',
  },
  stage_of_distribution: {
    status: 409,
    code: 'has_stages',
    message: 'The distribution has been through a stage; it is kept as history.',
  },
}
