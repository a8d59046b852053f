-- A posting's audit record says all that its event would: it is the event, too, and no row of its
-- own is written for it (docs/decisions/0170). Nothing here depends on how much there is already.

alter table audit add column is_event boolean; -- null: no, or there is an event of its own

-- A reader of one product finds its next posting without reading those between.
create index audit_event on audit (product_id, xid, audit_id) where is_event;

-- Events and records are numbered from one sequence, so that no two events have a number in common.
-- It is found by its name: on Citus the table that it belongs to is made anew.
alter table event alter column event_id drop identity;
alter table event alter column event_id
  set default nextval(('audit_audit_id_seq'::text)::regclass);
select setval('audit_audit_id_seq', greatest(
  nextval('audit_audit_id_seq'), (select max(event_id) + 1 from event)));
grant usage on sequence audit_audit_id_seq to registry_service;

-- What has happened, wherever it is written. Records that came with a backup have no transaction of
-- this database, or the first one (see restore.ts): they are of another feed.
create view happening as
  select xid, event_id, type, occurred_date, product_id, resource, ids, counts, user_id from event
  union all
  select xid, audit_id, 'biztransaction.posted', occurred_date, product_id, resource,
    array[resource_id], null::json, user_id
  from audit where is_event and xid > '2';
grant select on happening to registry_service;
