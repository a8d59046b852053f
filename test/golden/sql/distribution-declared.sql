    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.product_id as id
from product r
where r.product_id = g.value and true and true limit 1) r;

  select r.corporate_action_id as id, r.product_id as "productID",
    r.corporate_action_id as name
  from distribution r
  where r.corporate_action_id = any($1::bigint[])
    and r.product_id = any(array(
select product_id from product where true));

select * from distribution where product_id = $1 and corporate_action_id = $2 for update nowait;

select pg_advisory_xact_lock_shared($1::int, id) from (
select distinct id from unnest($2::int[]) id order by id offset 0) p;

select t.product_id as "productID",
  t.corporate_action_id as id,
  t.distribution_status_id as "statusID",
  t.investment_id as "investmentID",
  t.record_date as "recordDate",
  t.payment_date as "paymentDate",
  t.distribution_amount_per_unit as "perUnit",
  t.distribution_amount_total as total,
  t.cents_per_unit_per_day as "centsPerDay",
  t.pro_rata_percent_per_annum as "percentPerAnnum",
  t.pro_rata_start_date as "startDate",
  t.pro_rata_end_date as "endDate",
  t.unit_valuation_method as valuation, t.drp_indicator_id as "drpIndicatorID",
  t.drp_price as "drpPrice",
  t.drp_investment_id as "drpInvestmentID",
  t.drp_allotment_date as "drpAllotmentDate",
  minor_units(i.currency_id) as decimals,
  array(select c.percentage::text from distribution_component c
    where c.product_id = $1 and c.corporate_action_id = t.corporate_action_id
    order by c.ordinal) as percentages,
  (select trim_scale(sum(c.percentage))::text from distribution_component c
    where c.product_id = $2 and c.corporate_action_id = t.corporate_action_id)
    as "componentTotal",
  array(select c.tax_component_name from distribution_component c
    where c.product_id = $3 and c.corporate_action_id = t.corporate_action_id
    order by c.ordinal) as "componentNames",
  array(select (select k ->> 'incomeKind' from json_array_elements(p.tax_component_kinds) k
      where lower(trim(k ->> 'taxComponentName')) = lower(trim(c.tax_component_name)) limit 1)
    from distribution_component c
    where c.product_id = $4 and c.corporate_action_id = t.corporate_action_id
    order by c.ordinal) as "componentKinds",
  p.withholding, p.company_tax_percentage::text as "companyTax",
  product_today(p.time_zone) as today, p.locked_date as "lockedDate",
  g.stage as "underWay",
  g.error_message as "stageError",
  (g.terms ->> 'date')::date::text as "stageDate"
from distribution t join investment i on i.investment_id = t.investment_id
join product p on p.product_id = $5
left join distribution_stage g on g.product_id = $6
  and g.corporate_action_id = t.corporate_action_id
where t.product_id = $7 and t.corporate_action_id = $8;

select (now() - interval '10 minutes')::text as since;

  select count(*)::int as count from
holding x where x.product_id = $1 and x.investment_id = $2;

select set_config('statement_timeout', '0', true), set_config('enable_seqscan', 'on', true),
set_config('plan_cache_mode', 'force_custom_plan', true),
set_config('work_mem', '256MB', true);

insert into ledger_account (product_id, account_id)
select $1::int, l.account_id
from unnest($2::int[],
  $3::numeric[]) l (account_id, amount)
where l.account_id > $4 and l.account_id <= $5 and round(l.amount, $6::int) > 0 order by 2
on conflict do nothing;

    insert into entitlement (product_id, corporate_action_id, account_id, investment_id,
units, unit_days, pre_calculated, drp_type_id, drp_value, gross_amount, component_amounts,
drp_amount, cash_amount)
  select $1::int as product_id, $2::int as corporate_action_id, g.account_id,
    $3::int as investment_id, g.units, g.unit_days,
    g.amount is not null as pre_calculated, g.drp_type_id, g.drp_value,
    g.gross as gross_amount, g.component_amounts, g.drp as drp_amount,
    g.gross - g.drp as cash_amount
  from (select g.*, array[g.gross] as component_amounts from (
  select  g.*, a.drp_type_id, a.drp_value,
      case a.drp_type_id
  when $4 then g.gross
  when $5
    then round(g.gross * coalesce(a.drp_value, 0) * 0.01, $6::int)
  when $7 then coalesce(round(
    round(g.gross * least(coalesce(a.drp_value, 0), g.units), 40) / nullif(g.units, 0),
    $8::int), 0)
  else 0 end as drp
  from (
select u.*, coalesce(u.amount, round(u.units * $9::numeric, $10::int)) as gross from (select u.*, null::numeric as amount from (
  select u.*, u.units as measure
  from (
    select h.account_id,
  case when l.last_date <= $11::date then h.quantity
    else case when h.account_id in (
  select m.account_id from closing_mark m where m.product_id = $12
    and m.investment_id = $13 and m.account_id > $14 and m.account_id <= $15) then coalesce((
  select b.closing_quantity from transaction_line b where b.product_id = $16 and b.account_id = h.account_id
  and b.investment_id = $17 and b.biz_transaction_status_id <> 3 and b.transaction_date <= $18::date
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0)
    else coalesce((
  select b.closing_quantity from biz_transaction b where b.product_id = $19 and b.account_id = h.account_id
  and b.investment_id = $20 and b.biz_transaction_status_id <> 3 and b.transaction_date <= $21::date
  order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0) end end as units,
      null::numeric as unit_days
    from holding h
    join ledger_account l on l.product_id = $22 and l.account_id = h.account_id
    where h.product_id = $23 and h.investment_id = $24
      and h.account_id > $25 and h.account_id <= $26
      and true
      and true
    offset 0) u) u where u.measure <> 0) u offset 0) g join account a on a.account_id = g.account_id
  offset 0) g) g
  where g.units > 0 or g.gross > 0;

insert into entitlement_total as t (product_id, account_id, investment_id, gross_amount)
select e.product_id, e.account_id, e.investment_id, e.gross_amount
from entitlement e where e.product_id = $1 and e.corporate_action_id = $2 and e.gross_amount > 0
order by e.account_id
on conflict (product_id, account_id, investment_id)
  do update set gross_amount = t.gross_amount + excluded.gross_amount;

select count(*)::int as accounts, trim_scale(coalesce(sum(gross_amount), 0))::text as total,
  null as rate
from entitlement e where e.product_id = $1 and e.corporate_action_id = $2;

insert into distribution_version (product_id, corporate_action_id, valid_to, image, components)
select d.product_id, d.corporate_action_id, clock_timestamp(), to_jsonb(d), coalesce((
    select jsonb_agg(to_jsonb(c)) from distribution_component c
    where c.product_id = $1 and c.corporate_action_id = d.corporate_action_id), '[]')
from distribution d
where d.product_id = $2 and d.corporate_action_id = $3;

update distribution set distribution_status_id = $1, updated_date = now(), declared_amount = $2, declared_date = now(), declared_unit_value = $3,
    declared_since = coalesce($4::timestamptz, now()),
    declared_rate = $5::numeric
from (select clock_timestamp() as moment) m
where product_id = $6 and corporate_action_id = $7;

  select coalesce(json_agg(r), '[]')::text as json, count(*)::int as count from (
select t.corporate_action_id as "corporateActionID",
  t.external_corporate_action_id as "externalCorporateActionId",
  t.product_id as "productID",
  p.external_product_id as "externalProductId",
  t.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  t.distribution_status_id as "distributionStatusID",
  t.name as "name",
  t.description as "description",
  t.accrual_date as "accrualDate",
  t.record_date as "recordDate",
  t.payment_date as "paymentDate",
  trim_scale(t.distribution_amount_per_unit) as "distributionAmountPerUnit",
  trim_scale(t.distribution_amount_total) as "distributionAmountTotal",
  trim_scale(t.cents_per_unit_per_day) as "centsPerUnitPerDay",
  t.distribution_term_id as "distributionTermID",
  t.distribution_period_id as "distributionPeriodID",
  t.drp_indicator_id as "drpIndicatorID",
  trim_scale(t.drp_price) as "drpPrice",
  t.drp_investment_id as "drpInvestmentID",
  t.drp_allotment_date as "drpAllotmentDate",
  t.file_name as "fileName",
  trim_scale(t.pro_rata_percent_per_annum) as "proRataPercentPerAnnum",
  t.pro_rata_start_date as "proRataStartDate",
  t.pro_rata_end_date as "proRataEndDate",
  t.unit_valuation_method as "unitValuationMethod",
  r.external_investment_id as "drpExternalInvestmentId",
  r.security_code as "drpSecurityCode",
  (
select coalesce(json_agg(json_build_object('taxComponentName', c.tax_component_name,
  'percentage', trim_scale(c.percentage)) order by c.ordinal), '[]')
from distribution_component c
where c.product_id = $1 and c.corporate_action_id = t.corporate_action_id) as "taxComponents",
  case when g.stage is not null then json_build_object('stage', g.stage, 'progressPercent',
least(99, 100 * (g.phase::bigint * g.account_count + g.accounts_done)
  / greatest(1, g.phases::bigint * g.account_count)),
'accountCount', g.account_count, 'startedDate', to_char(g.started_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
'errorMessage', g.error_message) end as "stageProgress" from (
select * from distribution where product_id = $2 and corporate_action_id = $3) t
join product p on p.product_id = $4
join investment i on i.investment_id = t.investment_id
left join investment r on r.investment_id = t.drp_investment_id
left join distribution_stage g on g.product_id = $5
  and g.corporate_action_id = t.corporate_action_id
order by t.corporate_action_id) r;

  with nothing_kept as (select 1)
  , raised as (
insert into event (type, resource, product_id, ids, counts, user_id)
select * from json_to_recordset($1) as g
  (type text, resource text, product_id int, ids bigint[], counts json, user_id int))
insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
  product_id, changes, request_id, request_ids, record_ids, is_event)
  select user_id, username, operation, resource, resource_id, resource_ids, product_id,
    changes, request_id, null::text[], null::bigint[], null::boolean
  from rows from (
    json_to_recordset($2) as (user_id int, username text,
      operation text, resource text, resource_id bigint, resource_ids bigint[], product_id int,
      request_id text),
    unnest($3::json[])) as g (user_id,
    username, operation, resource, resource_id, resource_ids, product_id, request_id,
    changes);
