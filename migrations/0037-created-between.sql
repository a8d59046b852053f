-- Ranges of blocks by the moments and the ids of their rows: what was created between two moments
-- and lies elsewhere than its ids let expect is found without a look at all the others. The id as an
-- expression, which no other index has: by those the planner would read all up to it.
create index biz_transaction_lately on biz_transaction
  using brin (product_id, created_date, (biz_transaction_id + 0)) with (autosummarize = on);
drop index biz_transaction_created;

-- Lists by any part of the external id of an entity (biz_entity is an identity table).
create index biz_entity_external_part on biz_entity
  using gin (lower(external_biz_entity_id) gin_trgm_ops);
