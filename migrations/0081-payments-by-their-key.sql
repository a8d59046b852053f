-- Payments and what they are made of, by anything but their keys: with a condition that a read by
-- the key alone does not meet. In a table that nobody has counted yet every index that begins with
-- the product looked as good as the key, and the last made was taken: each payment of a first run
-- was looked for among all of them.
drop index payment_run_payments;
drop index payment_account;
drop index payment_reference;
drop index payment_item_payment;
create index payment_run_payments on payment (product_id, payment_run_id, payment_id)
  where payment_run_id is not null;
create index payment_account on payment (product_id, account_id) where account_id is not null;
create unique index payment_reference on payment (product_id, reference)
  where reference is not null;
create index payment_item_payment on payment_item (product_id, payment_id)
  where payment_id is not null;
