    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.investment_id as id , r.product_id as "productID"
from investment r
where r.investment_id = g.value and (g.product_id is null or r.product_id = g.product_id) and true limit 1) r;

select i.investment_id as "investmentID",
  p.product_id as "productID",
  p.locked_date as "lockedDate"
from investment i join product p on p.product_id = i.product_id
where i.investment_id = any($1::int[])
order by p.product_id for share of p;

select (g.place - 1)::int as place
from (
  select g.*, row_number() over (
    partition by g.investment_id, g.price_date order by g.place) > 1 as is_again
  from unnest($1::int[],
    $2::date[])
    with ordinality g (investment_id, price_date, place)) g
where g.is_again or exists (
  select 1 from investment_price v
  where v.investment_id = g.investment_id and v.price_date = g.price_date)
order by g.place;

insert into investment_price (investment_id, price_date, price, application_price, redemption_price)
select r.investment_id, r.price_date, r.price, r.application_price, r.redemption_price from unnest($1::integer[],$2::date[],$3::numeric[],$4::numeric[],$5::numeric[]) r ("investment_id", "price_date", "price", "application_price", "redemption_price")
returning investment_price_id;

select v.investment_price_id as id, c.field, trim_scale(c.price)::text as price,
  trim_scale(c.other)::text as other, c.side,
  trim_scale(i.price_tolerance_percent)::text as tolerance
from investment_price v join investment i on i.investment_id = v.investment_id
left join lateral (
  select o.investment_price_id, o.price,
    coalesce(o.application_price, o.price) as application_price,
    coalesce(o.redemption_price, o.price) as redemption_price
  from investment_price o
  where o.investment_id = v.investment_id and o.price_date < v.price_date
  order by o.price_date desc limit 1) o on true
left join lateral (
  select o.investment_price_id, o.price,
    coalesce(o.application_price, o.price) as application_price,
    coalesce(o.redemption_price, o.price) as redemption_price
  from investment_price o
  where o.investment_id = v.investment_id and o.price_date > v.price_date
  order by o.price_date asc limit 1) n
  on n.investment_price_id <> all($1::int[])
cross join lateral (
  select coalesce(o.price, $2::numeric) as price,
    coalesce(o.application_price, $3::numeric)
      as application_price,
    coalesce(o.redemption_price, $4::numeric)
      as redemption_price) b
cross join lateral (values
  ('price', v.price, 'before', b.price, b.price),
  ('applicationPrice', coalesce(v.application_price, v.price), 'before',
    b.application_price, b.price),
  ('redemptionPrice', coalesce(v.redemption_price, v.price), 'before',
    b.redemption_price, b.price),
  ('price', v.price, 'after', n.price, n.price),
  ('applicationPrice', coalesce(v.application_price, v.price), 'after',
    n.application_price, n.price),
  ('redemptionPrice', coalesce(v.redemption_price, v.price), 'after',
    n.redemption_price, n.price)) c (field, price, side, other, plain)
where v.investment_price_id = any($5::int[])
  and abs(c.price - c.other) * 100 > i.price_tolerance_percent
    * case c.side when 'before' then c.other else c.price end
  -- Those that are the price itself are told of once.
  and (c.field = 'price' or c.price <> v.price or c.other <> c.plain)
order by v.investment_price_id, c.field = 'price' desc, c.field, c.side desc;

  select coalesce(json_agg(r), '[]')::text as json, count(*)::int as count from (
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
where v.investment_price_id = any($1::int[]) order by v.investment_price_id) r;

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
