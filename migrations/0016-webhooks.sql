-- Webhooks: where events are sent, and what became of each. Kind of tables: local. Deliveries are not
-- part of a backup, as events are not.

create table webhook (
  webhook_id      integer generated always as identity primary key,
  url             varchar(2000) not null,
  types           text[], -- null: all
  product_ids     integer[], -- null: all, and what belongs to none
  is_active       boolean not null,
  description     varchar(500),
  user_id         integer not null constraint webhook_user references app_user,
  secret          text not null, -- sealed
  previous_secret text, -- sealed; signs beside the new one
  previous_until  timestamptz,
  failure_count   integer not null default 0, -- in a row
  -- Up to where the feed has been turned into deliveries; null: it begins with what comes.
  place_epoch     text,
  place_xid       xid8,
  place_event_id  bigint,
  created_date    timestamptz not null default now(),
  updated_date    timestamptz not null default now()
);
create index webhook_of_user on webhook (user_id);

create table webhook_delivery (
  webhook_delivery_id bigint generated always as identity primary key,
  webhook_id     integer not null constraint webhook_delivery_of references webhook on delete cascade,
  event_id       bigint, -- null: a test
  type           text not null,
  body           text not null,
  status         text not null default 'pending'
    constraint webhook_delivery_status check (status in ('pending', 'delivered', 'failed')),
  attempts       integer not null default 0,
  next_date      timestamptz default now(), -- null once it is over
  response_status integer,
  error_message  varchar(500),
  created_date   timestamptz not null default now(),
  completed_date timestamptz
);
create index webhook_delivery_due on webhook_delivery (webhook_id, next_date)
  where status = 'pending';
create index webhook_delivery_list on webhook_delivery (webhook_id, webhook_delivery_id);
create index webhook_delivery_old on webhook_delivery using brin (created_date);

grant select, insert, update, delete on webhook, webhook_delivery to registry_service;
