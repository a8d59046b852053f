  select to_json(r) as json_records from (
select t.corporate_action_id as "corporateActionID",
  d.external_corporate_action_id as "externalCorporateActionId",
  t.product_id as "productID",
  p.external_product_id as "externalProductId",
  t.investment_id as "investmentID",
  t.account_id as "accountID",
  a.external_account_id as "externalAccountId",
  a.account_number as "accountNumber",
  e.biz_entity_id as "bizEntityID",
  e.external_biz_entity_id as "externalBizEntityId",
  e.name as "bizEntityName",
  trim_scale(t.units) as "units",
  trim_scale(t.unit_days) as "unitDays",
  case when t.pre_calculated then 'PreCalculated'
when d.distribution_amount_per_unit is not null then 'PerUnit'
when d.distribution_amount_total is not null then 'Total'
when d.cents_per_unit_per_day is not null then 'CentsPerUnitPerDay'
else 'PercentPerAnnum' end as "method",
  trim_scale(case when t.pre_calculated then null
  when d.distribution_amount_per_unit is not null then d.distribution_amount_per_unit
  when d.distribution_amount_total is not null then coalesce(d.declared_rate, t.total_rate)
  else coalesce(d.cents_per_unit_per_day, d.pro_rata_percent_per_annum) end) as "rate",
  trim_scale(case when not t.pre_calculated then
  coalesce(d.declared_unit_value, t.unit_value) end) as "unitValue",
  trim_scale(t.gross_amount) as "grossAmount",
  (
  select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
    'percentage', trim_scale(c.percentage),
    'amount', trim_scale(t.component_amounts[c.ordinal])) order by c.ordinal), '[]')
  from distribution_component c
  where c.product_id = t.product_id and c.corporate_action_id = t.corporate_action_id) as "taxComponents",
  trim_scale(t.tax_amount) as "taxAmount",
  (
select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
  'incomeKind', w.income_kind, 'rule', w.rule, 'countryCode', w.country_code,
  'baseAmount', trim_scale(w.base_amount), 'percentage', trim_scale(w.percentage),
  'rounding', w.rounding, 'amount', trim_scale(w.amount)) order by w.ordinal), '[]')
from withholding w
join distribution_component c on c.product_id = w.product_id
  and c.corporate_action_id = w.corporate_action_id and c.ordinal = w.ordinal
where w.product_id = t.product_id and w.corporate_action_id = t.corporate_action_id
  and w.account_id = t.account_id) as "withholding",
  trim_scale(t.drp_amount) as "drpAmount",
  trim_scale(t.drp_units) as "drpUnits",
  trim_scale(t.drp_residual) as "drpResidual",
  trim_scale(t.cash_amount) as "cashAmount",
  t.payment_detail_id as "paymentDetailID",
  t.payee_name as "payeeName",
  t.payee_bsb as "payeeBsb",
  t.payee_account_number as "payeeAccountNumber",
  t.payee_iban as "payeeIban",
  (t.payment_transaction_id is not null or (t.cash_amount = 0
  and d.distribution_status_id >= 3)) as "isPaid",
  t.drp_residual is not null as "isAllotted",
  d.distribution_status_id as "statusID" from (
    select t.*, null::numeric as total_rate, null::numeric as unit_value from entitlement t
    where t.product_id = (
  select p.product_id from product p
  where true and p.product_id = $1) and true order by t.product_id, t.corporate_action_id, t.account_id limit 100) t
join distribution d on d.product_id = t.product_id
  and d.corporate_action_id = t.corporate_action_id
join product p on p.product_id = t.product_id
join account a on a.account_id = t.account_id
join biz_entity e on e.biz_entity_id = a.biz_entity_id
order by t.product_id, t.corporate_action_id, t.account_id) r;
