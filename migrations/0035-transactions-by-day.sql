-- The ids of a day in their order: lists from a day on are put together from them.
create index biz_transaction_day on biz_transaction
  (product_id, transaction_date, biz_transaction_id);
drop index biz_transaction_date;
