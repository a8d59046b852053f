-- Postings of one user that arrive together have one record in the trail (docs/decisions/0430): who
-- reads it finds a record for each request, numbered from the record's own number on.

-- Of several requests, in the order of the ids: the id of each, and of the record that it wrote.
-- null: the record is of one request, and resource_id or resource_ids tell what that wrote.
alter table audit add column request_ids text[];
alter table audit add column record_ids bigint[];

-- They were drawn together, so that their range tells nearly as much as a list, which an index of
-- each would be: that took 67 bytes a posting.
create index audit_records on audit using gist (
  int8range(record_ids[1], record_ids[cardinality(record_ids)], '[]')) where record_ids is not null;

-- Where the ledger is spread over several servers each posting has a record of its own, and Citus
-- would refuse these.
do $$
begin
  if exists (select from pg_extension where extname = 'citus') then return; end if;
  -- What requests of a kind asked for is alike, and shrinks to a fifth. Nothing is laid elsewhere for
  -- that, which would be another row and index entry to write; short texts would be the first.
  alter table audit set (toast_tuple_target = 512);
  alter table audit alter column changes set storage main;
  alter table audit alter column request_ids set storage main;
  alter table audit alter column record_ids set storage main;
  alter table audit alter column username set storage main;
  alter table audit alter column operation set storage main;
  alter table audit alter column resource set storage main;
  alter table audit alter column request_id set storage main;
  -- So many numbers are a record's own as there may be requests in it: mostInRecord in
  -- unit-of-work.ts.
  alter sequence audit_audit_id_seq increment by 32;
end $$;

create or replace view happening as
  select xid, event_id, type, occurred_date, product_id, resource, ids, counts, user_id from event
  union all
  select xid, audit_id, 'biztransaction.posted', occurred_date, product_id, resource,
    coalesce(record_ids, array[resource_id]), null::json, user_id
  from audit where is_event and xid > '2';
