-- What payment runs need besides: since when bank details are as they are, how long they must have
-- been, and which payment an item was part of before it was reissued.

alter table product add column bank_detail_cool_off_days integer not null default 0
  constraint product_cool_off check (bank_detail_cool_off_days between 0 and 365);

-- Null where it was so before anybody asked.
alter table payment_detail add column updated_date timestamptz;
alter table payment_detail alter column updated_date set default now();

alter table payment_item add column came_from_payment_id bigint;
create index payment_item_came_from on payment_item (product_id, came_from_payment_id)
  where came_from_payment_id is not null;
update payment_item m set came_from_payment_id = p.reissue_of
from payment p
where p.product_id = m.product_id and p.payment_id = m.payment_id and p.reissue_of is not null;
