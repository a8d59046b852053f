-- How people and machines sign in. All tables here are local.

-- From where a session was begun or last renewed; a half one may only enrol a second factor.
-- The number is how others name a session; its own id is in its tokens.
alter table session
  add column session_number integer generated always as identity
    constraint session_number_unique unique,
  add column address text,
  add column user_agent text,
  add column last_used_date timestamptz,
  add column is_half boolean not null default false;

create table second_factor (
  user_id        integer primary key references app_user on delete cascade,
  secret         text not null, -- sealed
  confirmed_date timestamptz,
  last_step      bigint not null default 0 -- the step of the last code that was used: none before it works again
);

create table recovery_code (
  user_id   integer not null references app_user on delete cascade,
  code_hash bytea not null,
  used_date timestamptz,
  primary key (user_id, code_hash)
);

create table api_key (
  api_key_id       integer generated always as identity primary key,
  user_id          integer not null references app_user on delete cascade,
  name             varchar(200) not null,
  key_hash         bytea not null constraint api_key_hash_unique unique,
  permissions      text[] not null,
  product_ids      integer[], -- null: all of the user's
  allowed_networks text[],
  expires_date     timestamptz,
  created_date     timestamptz not null default now(),
  last_used_date   timestamptz,
  revoked_date     timestamptz
);
create index api_key_of_user on api_key (user_id, api_key_id);

grant select, insert, update, delete on second_factor, recovery_code, api_key to registry_service;
