-- Documents with their files, and reports. stored_file and document are identity tables; report is
-- local.

-- Contents that were stored, each under the hash of its bytes. A row comes before the content it is
-- about, and a reference after it: so a content without a reference is one to collect, and a
-- reference without a content cannot be.
create table stored_file (
  sha256       text primary key,
  size         bigint not null,
  claimed_date timestamptz not null -- when somebody last began to store it
);
create index stored_file_claimed on stored_file (claimed_date);

create table document (
  document_id                 integer generated always as identity primary key,
  external_document_id        varchar(50),
  document_type_id            integer not null,
  name                        varchar(255),
  code                        varchar(100),
  description                 varchar(2000),
  password_hash               text,
  ordinal                     smallint,
  product_id                  integer constraint product_has_documents references product,
  biz_entity_id               integer references biz_entity on delete set null,
  organisation_id             integer constraint organisation_has_documents references organisation,
  show_in_documents_in_portal boolean not null,
  is_public                   boolean not null,
  file_name                   varchar(255),
  content_type                varchar(255),
  file_size                   bigint,
  file_sha256                 text constraint document_stored_file references stored_file,
  file_date                   timestamptz,
  created_date                timestamptz not null default now(),
  updated_date                timestamptz not null default now(),
  constraint document_belongs check (num_nonnulls(product_id, biz_entity_id, organisation_id) > 0),
  constraint document_file_whole check (num_nulls(file_name, content_type, file_size, file_sha256, file_date) in (0, 5))
);
-- The same id may stand in several products; those without a product are one group more.
create unique index document_external_id_unique on document (product_id, external_document_id)
  nulls not distinct where external_document_id is not null;
create index document_external on document (external_document_id);
create index document_product on document (product_id);
create index document_biz_entity on document (biz_entity_id) where biz_entity_id is not null;
create index document_organisation on document (organisation_id) where organisation_id is not null;
create index document_file on document (file_sha256) where file_sha256 is not null;

-- lease: who works at it, and when they last said so. One who has not for a while is dead, and what
-- they still write under an old lease counts for nothing.
create table report (
  report_id           integer generated always as identity primary key,
  report_type_id      smallint not null,
  name                varchar(200) not null,
  format              varchar(4) not null,
  report_status_id    smallint not null default 1,
  product_id          integer not null constraint product_has_reports references product,
  investment_id       integer,
  corporate_action_id integer,
  biz_entity_id       integer,
  account_id          integer,
  date                date,
  from_date           date,
  to_date             date,
  top                 integer,
  user_id             integer not null,
  username            text not null,
  progress_percent    smallint not null default 0,
  row_count           integer,
  error_message       varchar(500),
  attempts            smallint not null default 0,
  lease               uuid,
  lease_date          timestamptz,
  file_size           bigint,
  file_sha256         text constraint report_stored_file references stored_file,
  file_date           timestamptz,
  created_date        timestamptz not null default now(),
  started_date        timestamptz,
  completed_date      timestamptz
);
create index report_product on report (product_id, report_id);
create index report_leased on report (lease_date) where lease is not null;
create index report_file on report (file_sha256) where file_sha256 is not null;

-- Puts a job into the queue, with the rights of the queue's owner: the service's role has none there.
create function queue_job(task text, payload json, key text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform graphile_worker.add_job(task, payload, job_key := key, max_attempts := 20);
end $$;
revoke all on function queue_job from public;
grant execute on function queue_job to registry_service;

grant select, insert, update, delete on stored_file, document, report to registry_service;
grant usage on all sequences in schema public to registry_service;
