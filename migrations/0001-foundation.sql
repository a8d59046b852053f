-- The ground every resource stands on: lookups, products, users and their sessions, idempotency
-- keys, the audit trail. Kinds of table (see docs/ARCHITECTURE.md): lookup and product are identity
-- tables; the others are local.

-- The service works under this role. It owns nothing, so what is append-only stays so even for it.
do $$
begin
  if not exists (select from pg_roles where rolname = 'registry_service') then
    create role registry_service nologin;
  end if;
  if not pg_has_role('registry_service', 'member') then
    execute format('grant registry_service to %I', current_user);
  end if;
exception when insufficient_privilege then
  raise exception 'The role registry_service is missing or not granted. A superuser can mend it: create role registry_service; grant registry_service to %;', current_user;
end $$;

create extension if not exists pg_trgm;

create table lookup (
  category    text not null,
  id          integer not null,
  code        text not null,
  name        text not null,
  description text,
  primary key (category, id)
);

create table product (
  product_id          integer generated always as identity primary key,
  external_product_id varchar(50) constraint product_external_id_unique unique,
  name                varchar(200) not null,
  currency_id         integer not null,
  description         varchar(2000),
  is_active           boolean not null,
  created_date        timestamptz not null default now(),
  updated_date        timestamptz not null default now()
);

create table app_user (
  user_id         integer generated always as identity primary key,
  username        varchar(100) not null,
  password_hash   text not null,
  role            text,
  permissions     text[],
  all_products    boolean not null,
  is_active       boolean not null,
  created_date    timestamptz not null default now(),
  last_login_date timestamptz,
  constraint app_user_role_or_permissions check (num_nonnulls(role, permissions) = 1)
);
create unique index app_user_username_unique on app_user (lower(username));

create table app_user_product (
  user_id    integer not null references app_user on delete cascade,
  product_id integer not null constraint product_has_users references product,
  primary key (user_id, product_id)
);
create index app_user_product_product on app_user_product (product_id);

-- A session is the family of refresh tokens that began with one sign-in.
create table session (
  session_id   uuid primary key,
  user_id      integer not null references app_user on delete cascade,
  created_date timestamptz not null default now(),
  revoked_date timestamptz
);
create index session_of_user on session (user_id) where revoked_date is null;

create table refresh_token (
  token_hash   bytea primary key,
  session_id   uuid not null references session on delete cascade,
  expires_date timestamptz not null,
  used_date    timestamptz
);
create index refresh_token_session on refresh_token (session_id);
create index refresh_token_expires on refresh_token (expires_date);

-- Usernames as keyed hashes: people type their password into the wrong box.
create table login_failure (
  username_hash bytea not null,
  failed_date   timestamptz not null default now()
);
create index login_failure_username on login_failure (username_hash, failed_date);
create index login_failure_date on login_failure (failed_date);

create table idempotency (
  user_id      integer not null, -- 0: not signed in
  key          varchar(255) not null,
  fingerprint  bytea not null,
  response     text,
  created_date timestamptz not null default now(),
  primary key (user_id, key)
);
create index idempotency_created on idempotency (created_date);

create table audit (
  audit_id      bigint generated always as identity primary key,
  occurred_date timestamptz not null default now(),
  user_id       integer, -- no reference: the trail outlives what it is about
  username      text,
  operation     text not null,
  resource      text not null,
  resource_id   bigint, -- the one record written ...
  resource_ids  bigint[], -- ... or all of them, where there are several
  product_id    integer,
  changes       json,
  request_id    text not null
);
create index audit_resource on audit (resource, resource_id, audit_id);
create index audit_resources on audit using gin (resource_ids) where resource_ids is not null;
create index audit_username on audit (lower(username), audit_id);
create index audit_product on audit (product_id, audit_id);
create index audit_occurred on audit using brin (occurred_date);

grant usage on schema public to registry_service;
grant select, insert, update, delete on all tables in schema public to registry_service;
revoke update, delete on audit from registry_service;
revoke insert, update, delete on lookup from registry_service;
