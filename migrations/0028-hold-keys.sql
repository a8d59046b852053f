-- Holds by the product first, as all of the ledger: the document is looked after by whoever deletes
-- one, and investments find their holds.
alter table hold drop constraint document_has_holds;
drop index hold_document;
create index hold_document on hold (product_id, document_id) where document_id is not null;
create index hold_investment on hold (product_id, investment_id);
