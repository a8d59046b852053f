-- Imports: files of rows that a worker reads, checks and writes. Kind of tables: local.

-- lease: who works at it, and when they last said so. One who has not for a while is dead, and what
-- they still write under an old lease counts for nothing.
create table import (
  import_id        integer generated always as identity primary key,
  type             text not null,
  format           text not null,
  mode             text not null
    constraint import_mode check (mode in ('validate', 'atomic', 'continue')),
  status           text not null default 'Queued'
    constraint import_status
    check (status in ('Queued', 'Running', 'Completed', 'Failed', 'Cancelled')),
  date_format      text not null,
  encoding         text not null,
  mapping          json,
  file_name        text not null,
  file_size        bigint not null,
  -- The hash stays when the content is let go of: it is how a file that comes again is known.
  content_sha256   text not null,
  file_sha256      text constraint import_stored_file references stored_file,
  file_date        timestamptz not null default clock_timestamp(),
  document_id      integer,
  user_id          integer, -- null: somebody at the command line
  username         text not null,
  product_ids      integer[], -- what the user saw when they asked; null: everything
  unknown_columns  text[] not null default '{}',
  -- Of an import that goes on: the line up to which all is done, committed with what it did.
  last_line        integer not null default 0,
  rows_read        integer not null default 0,
  rows_accepted    integer not null default 0,
  rows_refused     integer not null default 0,
  progress_percent smallint not null default 0,
  message          varchar(1000),
  errors_sha256    text constraint import_stored_errors references stored_file,
  errors_size      bigint,
  errors_date      timestamptz,
  attempts         smallint not null default 0,
  lease            uuid,
  lease_date       timestamptz,
  queued_date      timestamptz not null default now(), -- the place in the line
  created_date     timestamptz not null default now(),
  started_date     timestamptz,
  completed_date   timestamptz
);
create index import_open on import (queued_date) where status in ('Queued', 'Running');
create index import_content on import (content_sha256, type);
create index import_file on import (file_sha256) where file_sha256 is not null;
create index import_errors on import (errors_sha256) where errors_sha256 is not null;
create index import_of_user on import (user_id, import_id);

-- What is wrong with rows, until it is in the file of refused rows.
create table import_refusal (
  import_id integer not null constraint import_refusal_of references import on delete cascade,
  line      integer not null,
  problems  json not null,
  primary key (import_id, line)
);

grant select, insert, update, delete on import, import_refusal to registry_service;
