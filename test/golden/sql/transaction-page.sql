  select concat('{"bizTransactionID":', r."bizTransactionID", case when r."bizTransactionID" is null then 'null' end, ',"externalBizTransactionId":', coalesce(to_json(r."externalBizTransactionId")::text, 'null'), ',"bizTransactionTypeID":', r."bizTransactionTypeID", case when r."bizTransactionTypeID" is null then 'null' end, ',"typeName":', coalesce(r."typeName"::text, 'null'), ',"movementReasonCode":', coalesce(r."movementReasonCode"::text, 'null'), ',"parentBizTransactionID":', r."parentBizTransactionID", case when r."parentBizTransactionID" is null then 'null' end, ',"transactionDate":', coalesce(r."transactionDate"::text, 'null'), ',"productID":', r."productID", case when r."productID" is null then 'null' end, ',"externalProductId":', coalesce(r."externalProductId"::text, 'null'), ',"accountID":', r."accountID", case when r."accountID" is null then 'null' end, ',"externalAccountId":', coalesce(to_json(r."externalAccountId")::text, 'null'), ',"accountNumber":', coalesce(to_json(r."accountNumber")::text, 'null'), ',"bizEntityName":', coalesce(to_json(r."bizEntityName")::text, 'null'), ',"investmentID":', r."investmentID", case when r."investmentID" is null then 'null' end, ',"externalInvestmentId":', coalesce(r."externalInvestmentId"::text, 'null'), ',"securityCode":', coalesce(r."securityCode"::text, 'null'), ',"investmentName":', coalesce(r."investmentName"::text, 'null'), ',"investmentPrice":', r."investmentPrice", case when r."investmentPrice" is null then 'null' end, ',"comment":', coalesce(to_json(r."comment")::text, 'null'), ',"corporateActionID":', r."corporateActionID", case when r."corporateActionID" is null then 'null' end, ',"externalCorporateActionId":', coalesce(to_json(r."externalCorporateActionId")::text, 'null'), ',"corporateActionName":', coalesce(to_json(r."corporateActionName")::text, 'null'), ',"amount":', r."amount", case when r."amount" is null then 'null' end, ',"quantity":', r."quantity", case when r."quantity" is null then 'null' end, ',"entryFeeAmount":', r."entryFeeAmount", case when r."entryFeeAmount" is null then 'null' end, ',"transactionClosingAmount":', r."transactionClosingAmount", case when r."transactionClosingAmount" is null then 'null' end, ',"transactionClosingQuantity":', r."transactionClosingQuantity", case when r."transactionClosingQuantity" is null then 'null' end, ',"accountClosingAmount":', r."accountClosingAmount", case when r."accountClosingAmount" is null then 'null' end, ',"accountClosingQuantity":', r."accountClosingQuantity", case when r."accountClosingQuantity" is null then 'null' end, ',"createdDate":', coalesce('"' || r."createdDate" || '"', 'null'), ',"updatedDate":', coalesce('"' || r."updatedDate" || '"', 'null'), ',"bizTransactionStatusID":', r."bizTransactionStatusID", case when r."bizTransactionStatusID" is null then 'null' end, ',"statusName":', coalesce(r."statusName"::text, 'null'), '}') as json_records from (
      select t.biz_transaction_id as "bizTransactionID",
  t.external_biz_transaction_id as "externalBizTransactionId",
  t.biz_transaction_type_id as "bizTransactionTypeID",
  (array['"Deposit"', '"Allotment"', '"Redemption"', '"Conversion out"', '"Conversion in"', '"Adjustment"', '"Set quantity"', '"Transfer out"', '"Transfer in"', '"Distribution payment"', '"DRP allotment"', '"Withholding tax"', '"Residual payment"'])[t.biz_transaction_type_id] as "typeName",
  (array['"DEP"', '"ALT"', '"RED"', '"CNO"', '"CNI"', '"ADJ"', '"SET"', '"TRO"', '"TRI"', '"DST"', '"DRP"', '"WHT"', '"RSD"'])[t.biz_transaction_type_id] as "movementReasonCode",
  t.parent_biz_transaction_id as "parentBizTransactionID",
  rtrim(to_json(t.transaction_date)::text, '"') || 'T00:00:00Z"' as "transactionDate",
  t.product_id as "productID",
  i.external_product_id as "externalProductId",
  t.account_id as "accountID",
  a.external_account_id as "externalAccountId",
  a.account_number as "accountNumber",
  a.biz_entity_name as "bizEntityName",
  t.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  i.investment_title as "investmentName",
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
  (array['"Complete"', '"Updated"', '"RolledBack"'])[t.biz_transaction_status_id] as "statusName" from (
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
  select
to_json(i.external_investment_id)::text as external_investment_id,
to_json(i.security_code)::text as security_code, to_json(i.name)::text as investment_title,
to_json(p.external_product_id)::text as external_product_id, i.currency_id
  from investment i join product p on p.product_id = i.product_id
  where i.investment_id = t.investment_id limit 1) i
left join distribution d on d.product_id = t.product_id
  and d.corporate_action_id = t.corporate_action_id
       order by t.biz_transaction_id) r;
