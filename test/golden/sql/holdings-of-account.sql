  select concat('{', r."of_account", ',', r."of_investment", ',"quantity":', r."quantity", case when r."quantity" is null then 'null' end, ',"costAmount":', r."costAmount", case when r."costAmount" is null then 'null' end, ',"averageCost":', r."averageCost", case when r."averageCost" is null then 'null' end, ',', r."of_price", ',"marketValue":', r."marketValue", case when r."marketValue" is null then 'null' end, ',"unrealisedGain":', r."unrealisedGain", case when r."unrealisedGain" is null then 'null' end, ',"unrealisedGainPercent":', r."unrealisedGainPercent", case when r."unrealisedGainPercent" is null then 'null' end, ',"realisedGain":', r."realisedGain", case when r."realisedGain" is null then 'null' end, ',', r."of_distributions", ',"availableQuantity":', r."availableQuantity", case when r."availableQuantity" is null then 'null' end, '}') as json_records from (
    select h.of_account as "of_account",
  h.of_investment as "of_investment",
  trim_scale(h.quantity) as "quantity",
  trim_scale(h.cost) as "costAmount",
  trim_scale(round(round(h.cost, 40) / nullif(h.quantity, 0), 8)) as "averageCost",
  h.of_price as "of_price",
  trim_scale(h.value) as "marketValue",
  trim_scale(case when h.price is not null then h.value - h.cost end) as "unrealisedGain",
  trim_scale(round(round((case when h.price is not null then h.value - h.cost end) * 100, 40) / nullif(h.cost, 0), 4)) as "unrealisedGainPercent",
  trim_scale(h.gain) as "realisedGain",
  h.of_distributions as "of_distributions",
  trim_scale(h.available) as "availableQuantity",
  h.product_id as "productID",
  h.account_id as "accountID",
  h.investment_id as "investmentID"
    from (
      select h.*, a.of_account, v.of_investment, v.of_price, v.price,
        case when h.quantity = 0 then 0 when v.price is null then h.invested
      else round(h.quantity * v.price, v.decimals) end as value, greatest(case when p.has_holds
          then (select case when k.is_all then 0 else h.quantity - k.quantity end
            from (
select coalesce(bool_or(k.quantity is null), false) as is_all,
  coalesce(sum(k.quantity), 0) as quantity
from hold k
where k.product_id = h.product_id and k.account_id = h.account_id
  and (k.investment_id is null or k.investment_id = h.investment_id)
  and k.valid_from <= p.date and (k.valid_to is null or k.valid_to >= p.date)) k)
          else h.quantity end, 0) as available, case when d.has_distributions
          then (select concat('"distributionEntitlement":', coalesce(trim_scale(x.declared)::text, 'null'), ',"distributionsPaid":', coalesce(trim_scale(x.paid)::text, 'null'), ',"drpResidual":', coalesce(trim_scale(x.residual)::text, 'null')) from (
select coalesce(r.owed, 0) as declared,
  coalesce((select t.gross_amount from entitlement_total t where t.product_id = h.product_id and t.account_id = h.account_id
  and t.investment_id = h.investment_id), 0)
    +
case when d.changed is null then 0 else coalesce((
  select sum(coalesce((
    select e.gross_amount from entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id), 0)
    - coalesce((
    select e.gross_amount from public.entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id), 0))
  from public.distribution c
  where c.product_id = h.product_id and c.corporate_action_id = any(d.changed)), 0) end - coalesce(r.open, 0) as paid,
coalesce((
  select s.amount +
case when d.changed is null then 0 else coalesce((
  select sum(coalesce((
    select e.drp_residual - e.residual_before from entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id), 0)
    - coalesce((
    select e.drp_residual - e.residual_before from public.entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id), 0))
  from public.distribution c
  where c.product_id = h.product_id and c.corporate_action_id = any(d.changed)), 0) end - coalesce(r.later, 0) + coalesce((
    select sum(o.amount) from residual_payment o
    where o.product_id = h.product_id and o.account_id = h.account_id
  and o.investment_id = h.investment_id and o.reversed_date is null and o.payment_date > p.date), 0)
  from drp_residual s where s.product_id = h.product_id and s.account_id = h.account_id
  and s.investment_id = h.investment_id), 0) as residual
from (
  select sum(c.gross) filter (where c.id = any(d.open)) as open,
    sum(c.gross) filter (where c.id = any(d.owed)) as owed,
    sum(c.left_over) filter (where c.id = any(d.later)) as later
  from (
    select c.corporate_action_id as id, (
    select e.gross_amount from entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id) as gross,
      (
    select e.drp_residual - e.residual_before from entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id) as left_over
    from distribution c
    where c.product_id = h.product_id and c.corporate_action_id = any(d.recent)) c) r) x)
          else '"distributionEntitlement":0,"distributionsPaid":0,"drpResidual":0' end as of_distributions
      from (
select h.product_id, h.account_id, h.investment_id, s.quantity, s.invested, s.cost, s.gain
from holding h
cross join lateral (
select b.closing_quantity as quantity, b.closing_amount as invested, b.closing_cost as cost,
  b.closing_gain as gain
from transaction_line b
where  b.product_id = h.product_id and b.account_id = h.account_id
  and b.investment_id = h.investment_id and b.transaction_date <= $1
  and b.biz_transaction_status_id <> 3
order by b.transaction_date desc, b.biz_transaction_id desc limit 1) s
cross join lateral (
  select array_agg(c.corporate_action_id) as later, (
    select array_agg(u.corporate_action_id) from changed_distribution u
    where u.product_id = h.product_id and u.investment_id = h.investment_id) as changed from distribution c
  where c.product_id = h.product_id and c.investment_id = h.investment_id
    and coalesce(c.drp_allotment_date, c.payment_date) > $2::date limit 1) y
where (s.quantity > 0 or
coalesce((
  select s.amount +
case when y.changed is null then 0 else coalesce((
  select sum(coalesce((
    select e.drp_residual - e.residual_before from entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id), 0)
    - coalesce((
    select e.drp_residual - e.residual_before from public.entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id), 0))
  from public.distribution c
  where c.product_id = h.product_id and c.corporate_action_id = any(y.changed)), 0) end - coalesce((
  select sum((
    select e.drp_residual - e.residual_before from entitlement e
    where e.product_id = c.product_id and e.corporate_action_id = c.corporate_action_id
      and e.account_id = h.account_id)) from distribution c
  where c.product_id = h.product_id and c.corporate_action_id = any(y.later)), 0) + coalesce((
    select sum(o.amount) from residual_payment o
    where o.product_id = h.product_id and o.account_id = h.account_id
  and o.investment_id = h.investment_id and o.reversed_date is null and o.payment_date > $3::date), 0)
  from drp_residual s where s.product_id = h.product_id and s.account_id = h.account_id
  and s.investment_id = h.investment_id), 0) > 0) and h.product_id = (
  select p.product_id from product p
  where true and p.product_id = $4) and h.account_id = $5::bigint
  and ($6::bigint = 0 or $7::bigint < (select max(account_id)::bigint from account)
* (select max(investment_id) from investment))
  order by h.product_id, h.account_id, h.investment_id limit $8 offset $9::bigint) h
      cross join lateral (
        select to_json(external_product_id)::text as external_product_id,
          coalesce($10::date, product_today(product.time_zone)) as date,
          exists (select 1 from hold k where k.product_id = h.product_id) as has_holds
        from product where product_id = h.product_id limit 1) p
      cross join lateral (
        select concat('"bizEntityID":', coalesce(e.biz_entity_id::text, 'null'), ',"externalBizEntityId":', coalesce(to_json(e.external_biz_entity_id)::text, 'null'), ',"bizEntityName":', coalesce(to_json(e.name)::text, 'null'), ',"accountID":', coalesce(a.account_id::text, 'null'), ',"externalAccountId":', coalesce(to_json(a.external_account_id)::text, 'null'), ',"accountNumber":', coalesce(to_json(a.account_number)::text, 'null')) as of_account
        from account a
        cross join lateral (
          select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
          where e.biz_entity_id = a.biz_entity_id limit 1) e
        where a.account_id = h.account_id limit 1) a
      cross join lateral (
        select concat('"productID":', coalesce(i.product_id::text, 'null'), ',"externalProductId":', coalesce(p.external_product_id::text, 'null'), ',"investmentID":', coalesce(i.investment_id::text, 'null'), ',"externalInvestmentId":', coalesce(to_json(i.external_investment_id)::text, 'null'), ',"securityCode":', coalesce(to_json(i.security_code)::text, 'null'), ',"investmentName":', coalesce(to_json(i.name)::text, 'null'), ',"date":', coalesce(to_json(p.date)::text, 'null')) as of_investment, concat('"price":', coalesce(trim_scale(v.price)::text, 'null'), ',"priceDate":', coalesce(to_json(v.price_date)::text, 'null')) as of_price,
          v.price, minor_units(i.currency_id) as decimals
        from investment i
        left join lateral (
      select price, price_date
      from investment_price n
      where n.investment_id = i.investment_id and n.price_date <= p.date
      order by n.price_date desc limit 1) v
          on true
        where i.investment_id = h.investment_id limit 1) v
      cross join lateral (
select count(*) > 0 as has_distributions,
  array_agg(c.corporate_action_id) filter (where s.is_open or s.is_later) as recent,
  array_agg(c.corporate_action_id) filter (where s.is_open) as open,
  array_agg(c.corporate_action_id) filter (where s.is_open and s.is_declared
    and c.record_date <= p.date) as owed,
  array_agg(c.corporate_action_id) filter (where s.is_later) as later,
  (
    select array_agg(u.corporate_action_id) from changed_distribution u
    where u.product_id = h.product_id and u.investment_id = h.investment_id) as changed
from distribution c
cross join lateral (
  select c.distribution_status_id >= $11 as is_declared,
    case when c.distribution_status_id > $12 then c.payment_date > p.date
      else c.distribution_status_id = $13 or exists (
        select 1 from distribution_stage g where g.product_id = c.product_id
          and g.corporate_action_id = c.corporate_action_id) end as is_open,
    c.distribution_status_id > $14 and coalesce(c.drp_allotment_date, c.payment_date) > p.date as is_later) s
where c.product_id = h.product_id and c.investment_id = h.investment_id) d offset 0) h
    order by h.product_id, h.account_id, h.investment_id) r;
