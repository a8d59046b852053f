  select to_json(r) as json_records from (
select v.investment_price_id as "investmentPriceID",
  v.investment_id as "investmentID",
  i.external_investment_id as "externalInvestmentId",
  i.security_code as "securityCode",
  i.product_id as "productID",
  p.external_product_id as "externalProductId",
  v.price_date as "priceDate",
  trim_scale(v.price) as "price",
  trim_scale(coalesce(v.application_price, v.price)) as "applicationPrice",
  trim_scale(coalesce(v.redemption_price, v.price)) as "redemptionPrice"
from investment_price v join investment i using (investment_id) join product p using (product_id)
where
      true and true and i.investment_id = $1 and true
  and ($2::bigint = 0 or $3::bigint < (select max(v.investment_price_id) from investment_price v))
  order by v.investment_price_id limit $4 offset $5::bigint) r;
