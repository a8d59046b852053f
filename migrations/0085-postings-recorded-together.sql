-- Postings of one user that arrive together have one record in the trail (docs/decisions/0430): who
-- reads it finds a record for each request, numbered from the record's own number on.

alter table audit add column request_ids text[]; -- null: it is of one request

-- So many numbers are a record's own as there may be requests in it: mostAtOnce in door.ts.
alter sequence audit_audit_id_seq increment by 32;

create or replace view happening as
  select xid, event_id, type, occurred_date, product_id, resource, ids, counts, user_id from event
  union all
  select xid, audit_id, 'biztransaction.posted', occurred_date, product_id, resource,
    coalesce(resource_ids, array[resource_id]), null::json, user_id
  from audit where is_event and xid > '2';
