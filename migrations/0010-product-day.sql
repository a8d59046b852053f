-- The product's day and its period lock (an identity table gets columns). A zone is given to every
-- product at the next start: the installation's, which a migration does not know.
alter table product add column time_zone varchar(64);
alter table product add column locked_date date;

-- Today by a product's zone. By the zone, not by the product, so that it is inlined and asks for no
-- row: it may stand in statements that run on any machine of a distributed ledger.
create function product_today(time_zone text) returns date
  language sql stable parallel safe
  return (now() at time zone coalesce(time_zone, 'Australia/Sydney'))::date;
grant execute on function product_today(text) to registry_service;
