-- Ranges of blocks by the accounts of their rows: lists from an account on begin far behind their
-- first row where accounts were loaded one after another (platform/sql/by-windows.ts). Each column
-- as an expression, which no other index has: by those the planner would read all that fit.
drop index biz_transaction_lately;
create index biz_transaction_lately on biz_transaction
  using brin (product_id, created_date, (biz_transaction_id + 0), (account_id + 0))
  with (autosummarize = on);
create index biz_event_blocks on biz_event
  using brin (product_id, (biz_event_id + 0), (account_id + 0)) with (autosummarize = on);
create index account_blocks on account
  using brin (product_id, (account_id + 0), (biz_entity_id + 0)) with (autosummarize = on);
