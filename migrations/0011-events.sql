-- The event feed. Kind of tables: local. Neither is part of a backup: transaction numbers mean
-- nothing in another database, so that a restored registry begins a feed of its own.

create table event (
  -- Neither ids nor transactions are numbered in the order of commits. But no transaction below the
  -- oldest that still runs can add anything: readers go as far as that, by transaction, then by id.
  xid           xid8 not null default pg_current_xact_id(),
  event_id      bigint generated always as identity,
  type          text not null,
  occurred_date timestamptz not null default now(),
  product_id    integer, -- no reference: an event outlives what it is about
  resource      text not null,
  ids           bigint[] not null,
  counts        json,
  user_id       integer,
  constraint event_position primary key (xid, event_id)
);
-- Readers of one type or product find their next event without reading those between.
create index event_type on event (type, xid, event_id);
create index event_product on event (product_id, type, xid, event_id);
-- Events are named by number and by time only when they are to be sent again.
create index event_number on event using brin (event_id) with (pages_per_range = 16);
create index event_occurred on event using brin (occurred_date) with (pages_per_range = 16);

-- One row: which feed this is, and up to where it was swept away.
create table event_feed (
  only_row       boolean primary key default true check (only_row),
  epoch          text not null default substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
  swept_xid      xid8 not null default '0',
  swept_event_id bigint not null default 0
);
insert into event_feed default values;

grant select, insert, delete on event to registry_service;
grant select, update on event_feed to registry_service;
