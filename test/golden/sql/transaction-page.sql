  select coalesce(json_agg(r), '[]')::text as json_bytes,
    count(*)::int as count, json_build_array(max(r."bizTransactionID")) as last
  from (
      select t.biz_transaction_id as "bizTransactionID",
  t.external_biz_transaction_id as "externalBizTransactionId",
  t.biz_transaction_type_id as "bizTransactionTypeID",
  (array['Deposit', 'Allotment', 'Redemption', 'Conversion out', 'Conversion in', 'Adjustment', 'Set quantity', 'Transfer out', 'Transfer in', 'Distribution payment', 'DRP allotment', 'Withholding tax', 'Residual payment'])[t.biz_transaction_type_id] as "typeName",
  (array['DEP', 'ALT', 'RED', 'CNO', 'CNI', 'ADJ', 'SET', 'TRO', 'TRI', 'DST', 'DRP', 'WHT', 'RSD'])[t.biz_transaction_type_id] as "movementReasonCode",
  t.parent_biz_transaction_id as "parentBizTransactionID",
  to_char(t.transaction_date::timestamp at time zone 'UTC' at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "transactionDate",
  t.product_id as "productID",
  i.external_product_id as "externalProductId",
  t.account_id as "accountID",
  a.external_account_id as "externalAccountId",
  a.account_number as "accountNumber",
  a.biz_entity_name as "bizEntityName",
  t.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  i.name as "investmentName",
  trim_scale(t.investment_price) as "investmentPrice",
  t.comment as "comment",
  t.corporate_action_id as "corporateActionID",
  d.external_corporate_action_id as "externalCorporateActionId",
  d.name as "corporateActionName",
  trim_scale(t.amount) as "amount",
  trim_scale(t.quantity) as "quantity",
  trim_scale(t.entry_fee_amount) as "entryFeeAmount",
  trim_scale(null::numeric) as "transactionClosingAmount",
  trim_scale(null::numeric) as "transactionClosingQuantity",
  trim_scale(null::numeric) as "accountClosingAmount",
  trim_scale(null::numeric) as "accountClosingQuantity",
  to_char(t.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate",
  to_char(t.updated_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "updatedDate",
  t.biz_transaction_status_id as "bizTransactionStatusID",
  (array['Complete', 'Updated', 'RolledBack'])[t.biz_transaction_status_id] as "statusName" from (
    select t.* from biz_transaction t
    where t.product_id = (
  select p.product_id from product p
  where true and p.product_id = $1) and true
    order by t.biz_transaction_id limit 100) t
cross join lateral (
  select a.external_account_id, a.account_number, e.biz_entity_id, e.external_biz_entity_id,
    e.name as biz_entity_name
  from account a
  cross join lateral (
    select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
    where e.biz_entity_id = a.biz_entity_id limit 1) e
  where a.account_id = t.account_id limit 1) a
cross join lateral (
  select i.external_investment_id, i.security_code, i.name, i.currency_id, p.external_product_id
  from investment i join product p on p.product_id = i.product_id
  where i.investment_id = t.investment_id limit 1) i
left join distribution d on d.product_id = t.product_id
  and d.corporate_action_id = t.corporate_action_id
       order by t.biz_transaction_id) r;
