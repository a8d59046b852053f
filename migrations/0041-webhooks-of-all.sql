-- A webhook that was read and sent back had an empty list of types and of products, which means all
-- of them, and was kept as one that asks for none: nothing was sent any more, and whoever sees some
-- products only saw it. All of them are none, or what its user sees.
update webhook set types = null where types = '{}';
update webhook w set product_ids = (
  select array_agg(p.product_id order by p.product_id) from app_user_product p
  join app_user u on u.user_id = p.user_id and not u.all_products where p.user_id = w.user_id)
where product_ids = '{}';
alter table webhook
  add constraint webhook_types_named check (types <> '{}'),
  add constraint webhook_products_named check (product_ids <> '{}');
