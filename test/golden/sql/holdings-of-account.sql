  select coalesce('[' || string_agg(concat('{"bizEntityID":', coalesce(r."bizEntityID"::text, 'null'), ',"externalBizEntityId":', coalesce(to_json(r."externalBizEntityId")::text, 'null'), ',"bizEntityName":', coalesce(to_json(r."bizEntityName")::text, 'null'), ',"accountID":', coalesce(r."accountID"::text, 'null'), ',"externalAccountId":', coalesce(to_json(r."externalAccountId")::text, 'null'), ',"accountNumber":', coalesce(to_json(r."accountNumber")::text, 'null'), ',"productID":', coalesce(r."productID"::text, 'null'), ',"externalProductId":', coalesce(r."externalProductId"::text, 'null'), ',"investmentID":', coalesce(r."investmentID"::text, 'null'), ',"externalInvestmentId":', coalesce(r."externalInvestmentId"::text, 'null'), ',"securityCode":', coalesce(r."securityCode"::text, 'null'), ',"investmentName":', coalesce(r."investmentName"::text, 'null'), ',"date":', coalesce(to_json(r."date")::text, 'null'), ',"quantity":', coalesce(r."quantity"::text, 'null'), ',"costAmount":', coalesce(r."costAmount"::text, 'null'), ',"averageCost":', coalesce(r."averageCost"::text, 'null'), ',"price":', coalesce(r."price"::text, 'null'), ',"priceDate":', coalesce(to_json(r."priceDate")::text, 'null'), ',"marketValue":', coalesce(r."marketValue"::text, 'null'), ',"unrealisedGain":', coalesce(r."unrealisedGain"::text, 'null'), ',"unrealisedGainPercent":', coalesce(r."unrealisedGainPercent"::text, 'null'), ',"realisedGain":', coalesce(r."realisedGain"::text, 'null'), ',"distributionEntitlement":', coalesce(r."distributionEntitlement"::text, 'null'), ',"distributionsPaid":', coalesce(r."distributionsPaid"::text, 'null'), ',"drpResidual":', coalesce(r."drpResidual"::text, 'null'), ',"availableQuantity":', coalesce(r."availableQuantity"::text, 'null'), '}'), E', \n ') || ']', '[]') as json_bytes,
    count(*)::int as count, json_build_array((array_agg(r."productID"))[count(*)], (array_agg(r."accountID"))[count(*)], (array_agg(r."investmentID"))[count(*)]) as last
  from (
    select a.biz_entity_id as "bizEntityID",
  a.external_biz_entity_id as "externalBizEntityId",
  a.biz_entity_name as "bizEntityName",
  h.account_id as "accountID",
  a.external_account_id as "externalAccountId",
  a.account_number as "accountNumber",
  h.product_id as "productID",
  p.external_product_id as "externalProductId",
  h.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  i.name as "investmentName",
  p.date as "date",
  trim_scale(h.quantity) as "quantity",
  trim_scale(h.cost) as "costAmount",
  trim_scale(round(round(h.cost, 40) / nullif(h.quantity, 0), 8)) as "averageCost",
  trim_scale(v.price) as "price",
  v.price_date as "priceDate",
  trim_scale(case when h.quantity = 0 then 0 when v.price is null then h.invested
      else round(h.quantity * v.price, minor_units(i.currency_id)) end) as "marketValue",
  trim_scale(case when v.price is not null then case when h.quantity = 0 then 0 when v.price is null then h.invested
      else round(h.quantity * v.price, minor_units(i.currency_id)) end - h.cost end) as "unrealisedGain",
  trim_scale(round(round((case when v.price is not null then case when h.quantity = 0 then 0 when v.price is null then h.invested
      else round(h.quantity * v.price, minor_units(i.currency_id)) end - h.cost end) * 100, 40) / nullif(h.cost, 0), 4)) as "unrealisedGainPercent",
  trim_scale(h.gain) as "realisedGain",
  trim_scale(x.declared) as "distributionEntitlement",
  trim_scale(x.paid) as "distributionsPaid",
  trim_scale(x.residual) as "drpResidual",
  trim_scale(case when k.is_all then 0 else greatest(h.quantity - k.quantity, 0) end) as "availableQuantity"
    from (
select h.product_id, h.account_id, h.investment_id, s.quantity, s.invested, s.cost, s.gain
from holding h
cross join lateral (
select b.closing_quantity as quantity, b.closing_amount as invested, b.closing_cost as cost,
  b.closing_gain as gain
from transaction_line b
where b.product_id = h.product_id and b.account_id = h.account_id
  and b.investment_id = h.investment_id and b.transaction_date <= $1
  and b.biz_transaction_status_id <> 3
order by b.transaction_date desc, b.biz_transaction_id desc limit 1) s where (s.quantity > 0 or (
select coalesce(sum(e.drp_residual - e.residual_before), 0) - (
select coalesce(sum(r.amount), 0) from residual_payment r
where r.product_id = h.product_id and r.account_id = h.account_id
  and r.investment_id = h.investment_id and r.reversed_date is null
  and r.payment_date <= $2::date)
from entitlement e
join distribution c on c.product_id = e.product_id
  and c.corporate_action_id = e.corporate_action_id
where e.product_id = h.product_id and e.account_id = h.account_id
  and e.investment_id = h.investment_id and e.drp_residual is not null and coalesce(c.drp_allotment_date, c.payment_date) <= $3::date) > 0) and h.product_id = (
  select p.product_id from product p
  where true and p.product_id = $4) and h.account_id = $5::bigint
  and ($6::bigint = 0 or $7::bigint < (select max(account_id)::bigint from account)
* (select max(investment_id) from investment))
  order by h.product_id, h.account_id, h.investment_id limit $8 offset $9::bigint) h
    cross join lateral (
      select to_json(external_product_id)::text as external_product_id,
        coalesce($10::date, product_today(product.time_zone)) as date
      from product where product_id = h.product_id limit 1) p
    cross join lateral (
  select a.external_account_id, a.account_number, e.biz_entity_id, e.external_biz_entity_id,
    e.name as biz_entity_name
  from account a
  cross join lateral (
    select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
    where e.biz_entity_id = a.biz_entity_id limit 1) e
  where a.account_id = h.account_id limit 1) a
    cross join lateral (
      select to_json(external_investment_id)::text as external_investment_id,
        to_json(security_code)::text as security_code, to_json(name)::text as name, currency_id
      from investment where investment_id = h.investment_id limit 1) i
    left join lateral (
      select price, price_date
      from investment_price n
      where n.investment_id = h.investment_id and n.price_date <= p.date
      order by n.price_date desc limit 1) v on true
    cross join lateral (
select
  coalesce(sum(e.gross_amount) filter (where c.record_date <= p.date
    and (c.distribution_status_id = $11 or c.payment_date > p.date)), 0) as declared,
  coalesce(sum(e.gross_amount) filter (
    where c.distribution_status_id > $12 and c.payment_date <= p.date), 0) as paid,
  coalesce(sum(e.drp_residual - e.residual_before) filter (where coalesce(c.drp_allotment_date, c.payment_date) <= p.date), 0)
    - (
select coalesce(sum(r.amount), 0) from residual_payment r
where r.product_id = h.product_id and r.account_id = h.account_id
  and r.investment_id = h.investment_id and r.reversed_date is null
  and r.payment_date <= p.date) as residual
from entitlement e
join distribution c on c.product_id = e.product_id
  and c.corporate_action_id = e.corporate_action_id
where e.product_id = h.product_id and e.account_id = h.account_id
  and e.investment_id = h.investment_id) x
    cross join lateral (
select coalesce(bool_or(k.quantity is null), false) as is_all,
  coalesce(sum(k.quantity), 0) as quantity
from hold k
where k.product_id = h.product_id and k.account_id = h.account_id
  and (k.investment_id is null or k.investment_id = h.investment_id)
  and k.valid_from <= p.date and (k.valid_to is null or k.valid_to >= p.date)) k
    order by h.product_id, h.account_id, h.investment_id) r;
