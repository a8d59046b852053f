-- Failed sign-ins are counted by name and by the caller's network (login_failure is a local table).

alter table login_failure
  -- The name with the network, as a keyed hash: what the limit is for.
  add column pair_hash bytea,
  add column user_id integer, -- no reference: whose it was, where there is such a user
  -- Forgiven ones (a sign-in that worked, a new password) count no more.
  add column is_forgiven boolean not null default false,
  add column is_audited boolean not null default false;

update login_failure set pair_hash = username_hash, is_audited = true;
alter table login_failure alter column pair_hash set not null;

create index login_failure_pair on login_failure (pair_hash, failed_date);
create index login_failure_unaudited on login_failure (failed_date) where not is_audited;
