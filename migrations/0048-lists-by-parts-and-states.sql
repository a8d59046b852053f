-- Lists by any part of the external id of a transaction: without it all of a product's were walked,
-- four seconds of ten million. Those without an external id have no entry. Not by product first: that
-- takes an extension which the owner of a register of before may not be allowed to add.
create index biz_transaction_external_part on biz_transaction
  using gin (lower(external_biz_transaction_id) gin_trgm_ops)
  where external_biz_transaction_id is not null;

-- The notices that wait, among all that were ever settled; documents by when they came or changed.
create index biz_event_status on biz_event (product_id, biz_event_status_id, biz_event_id);
create index document_created on document (created_date);
create index document_updated on document (updated_date);
