-- What reports of payments, tax withheld and the quality of data need in order to tell the past.

-- What a row of the ledger said until it was changed or went: payments, what they are made of,
-- their runs and exceptions, tax withheld, stages under way. record_key is its primary key behind
-- the product. A ledger table.
create table ledger_version (
  product_id integer not null,
  table_name text not null,
  record_key text not null,
  valid_to   timestamptz not null,
  image      jsonb not null,
  primary key (product_id, table_name, record_key, valid_to)
);
grant select, insert on ledger_version to registry_service;

-- Since when a row is there. Those from before have always been.
alter table payment add column created_date timestamptz not null default '-infinity';
alter table payment alter column created_date set default now();
alter table payment_item add column created_date timestamptz not null default '-infinity';
alter table payment_item alter column created_date set default now();
alter table payment_exception add column created_date timestamptz not null default '-infinity';
alter table payment_exception alter column created_date set default now();
alter table withholding add column created_date timestamptz not null default '-infinity';
alter table withholding alter column created_date set default now();
alter table account add column created_date timestamptz not null default '-infinity';
alter table account alter column created_date set default now();

-- Whether the check digits of a tax file number are wrong: told when it is written, so that no
-- report has to open it, and the past, which keeps no number, can tell it too. Numbers from before
-- are looked at once, after the next start, and get their digests by the same.
alter table person add column taxation_file_number_doubt boolean;
alter table organisation add column taxation_file_number_doubt boolean;
drop index person_lacks_tax_digest;
drop index organisation_lacks_tax_digest;
create index person_tax_unread on person (person_id)
  where taxation_file_number is not null and taxation_file_number_doubt is null;
create index organisation_tax_unread on organisation (organisation_id)
  where taxation_file_number is not null and taxation_file_number_doubt is null;
