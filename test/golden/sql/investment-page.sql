  select coalesce(json_agg(r), '[]')::text as json_bytes,
    count(*)::int as count, json_build_array(max(r."investmentID")) as last
  from (
select i.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  i.product_id as "productID",
  p.external_product_id as "externalProductId",
  i.name as "name",
  i.description as "description",
  i.is_active as "isActive",
  i.currency_id as "currencyID",
  i.unit_decimals as "unitDecimals",
  trim_scale(i.issue_price) as "issuePrice",
  i.drp_residual_on_exit as "drpResidualOnExit",
  trim_scale(i.price_tolerance_percent) as "priceTolerancePercent",
  i.maximum_price_age_days as "maximumPriceAgeDays",
  to_char(i.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate",
  to_char(i.updated_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "updatedDate" from investment i join product p using (product_id) where true and p.product_id = $1 and true order by i.investment_id limit 100) r;
