  select to_json(r) as json_records from (
select t.biz_event_id as "bizEventID",
  t.parent_biz_transaction_id as "parentBizTransactionID",
  t.parent_biz_event_id as "parentBizEventID",
  t.biz_event_type_id as "bizEventTypeID",
  t.biz_event_status_id as "bizEventStatusID",
  t.product_id as "productID",
  p.external_product_id as "externalProductId",
  t.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  t.account_id as "accountID",
  a.external_account_id as "externalAccountId",
  a.account_number as "accountNumber",
  a.biz_entity_name as "bizEntityName",
  t.biz_event_date as "bizEventDate",
  trim_scale(case when t.amount > 0 then t.amount end) as "amount",
  trim_scale(case when t.quantity > 0 then t.quantity end) as "quantity",
  t.comment as "comment",
  t.conversion_method_id as "conversionMethodID",
  trim_scale(t.conversion_factor) as "conversionFactor",
  to_char(t.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate",
  to_char(t.updated_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "updatedDate",
  t.external_transaction_id as "externalTransactionId" from (select t.* from biz_event t where t.product_id = (
  select p.product_id from product p
  where true and p.product_id = $1) and true order by t.biz_event_id limit 100) t
join product p on p.product_id = t.product_id
cross join lateral (
  select a.external_account_id, a.account_number, e.biz_entity_id, e.external_biz_entity_id,
    e.name as biz_entity_name
  from account a
  cross join lateral (
    select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
    where e.biz_entity_id = a.biz_entity_id limit 1) e
  where a.account_id = t.account_id limit 1) a
join investment i on i.investment_id = t.investment_id
order by t.biz_event_id) r;
