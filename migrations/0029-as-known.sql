-- What was known when. Nothing here is read unless somebody asks for the past.

-- What a record of an identity table said until it was changed or deleted, without what is sealed.
-- An identity table. xid is that of the audit record which tells who did it.
create table record_version (
  table_name text not null,
  record_id  integer not null,
  valid_to   timestamptz not null,
  image      jsonb not null,
  xid        xid8 not null default pg_current_xact_id(),
  primary key (table_name, record_id, valid_to)
);

-- Since when there is a record that others can have more of. Those from before have always been.
alter table address add column created_date timestamptz not null default '-infinity';
alter table address alter column created_date set default now();
alter table communication add column created_date timestamptz not null default '-infinity';
alter table communication alter column created_date set default now();
alter table payment_detail add column created_date timestamptz not null default '-infinity';
alter table payment_detail alter column created_date set default now();
alter table biz_entity_party add column created_date timestamptz not null default '-infinity';
alter table biz_entity_party alter column created_date set default now();
alter table investment_price add column created_date timestamptz not null default '-infinity';
alter table investment_price alter column created_date set default now();

-- Whose records they were, for the history of an entity.
create index record_version_entity on record_version (((image ->> 'biz_entity_id')::integer))
  where table_name in ('address', 'communication', 'payment_detail', 'biz_entity_party', 'account');

-- The cost that went along with a transaction until it was worked out anew. A ledger table.
create table biz_transaction_cost (
  product_id         integer not null,
  biz_transaction_id bigint not null,
  valid_to           timestamptz not null,
  carried_cost       numeric,
  primary key (product_id, biz_transaction_id, valid_to)
);

-- A distribution as it was before each stage and each change, with its components; and what an
-- entitlement had of a stage that was taken back. Ledger tables.
create table distribution_version (
  product_id          integer not null,
  corporate_action_id integer not null,
  valid_to            timestamptz not null,
  image               jsonb not null,
  components          jsonb not null,
  primary key (product_id, corporate_action_id, valid_to)
);
create table entitlement_version (
  product_id          integer not null,
  corporate_action_id integer not null,
  account_id          integer not null,
  valid_to            timestamptz not null,
  image               jsonb not null,
  primary key (product_id, corporate_action_id, account_id, valid_to)
);

-- The moment of which a report tells.
alter table report add column known_at timestamptz;

grant select, insert on record_version, biz_transaction_cost, distribution_version,
  entitlement_version to registry_service;
