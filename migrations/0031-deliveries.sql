-- The statements of a zip, and what became of each that was sent. A local table, as reports are.
create table report_statement (
  report_id      integer not null constraint statement_of_report references report on delete cascade,
  account_id     integer not null,
  account_number varchar(50) not null,
  name           varchar(500) not null,
  file_name      varchar(200) not null,
  -- Where its bytes stand in the zip.
  file_offset    bigint not null,
  file_size      integer not null,
  email          varchar(500),
  way            varchar(10) not null,
  state          varchar(10) not null default 'Made',
  attempts       smallint not null default 0,
  reason         varchar(500),
  state_date     timestamptz,
  primary key (report_id, account_id),
  constraint report_statement_way check (way in ('Email', 'Print', 'NoAddress')),
  constraint report_statement_state check (
    state in ('Made', 'Queued', 'Sending', 'Sent', 'Failed', 'Print', 'NoAddress'))
);
create index report_statement_due on report_statement (report_id, file_offset)
  where state in ('Queued', 'Sending');

grant select, insert, update, delete on report_statement to registry_service;
