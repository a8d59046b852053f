-- Which approvals counted when a request was decided is kept, since rights change after. Of requests
-- that are decided already nobody knows any more: all of theirs stand as before.
alter table approval_decision add column is_counted boolean not null default true;
grant update (is_counted) on approval_decision to registry_service;
