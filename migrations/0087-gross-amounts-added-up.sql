-- What a holding was entitled to in all, added up as distributions are declared and taken back
-- (docs/decisions/0480). A page of holdings added the entitlements of each up when it was read.
create table entitlement_total (
  product_id int not null,
  account_id int not null,
  investment_id int not null,
  gross_amount numeric not null,
  primary key (product_id, account_id, investment_id)
);

insert into entitlement_total (product_id, account_id, investment_id, gross_amount)
select product_id, account_id, investment_id, sum(gross_amount)
from entitlement group by product_id, account_id, investment_id;

grant select, insert, update on entitlement_total to registry_service;
