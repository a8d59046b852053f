-- Approvals. Both kinds of table here are local.

create table approval_rule (
  approval_rule_id   integer generated always as identity primary key,
  operation          text,
  resource           text,
  fields             text[],
  minimum_amount     numeric,
  product_ids        integer[], -- null: all
  required_approvals integer not null check (required_approvals between 1 and 10),
  is_active          boolean not null,
  created_date       timestamptz not null default now(),
  constraint approval_rule_about check (num_nonnulls(operation, resource) = 1)
);

create table approval (
  approval_id        bigint generated always as identity primary key,
  state              text not null default 'Pending',
  operation          text not null,
  resource           text not null,
  product_id         integer, -- no reference: a request outlives what it is about
  user_id            integer not null,
  username           text not null,
  approval_rule_id   integer not null,
  required_approvals integer not null,
  request            text not null, -- sealed
  changes            json,
  created_date       timestamptz not null default now(),
  expires_date       timestamptz not null default now() + interval '14 days',
  decided_date       timestamptz,
  reason             text,
  resource_ids       bigint[]
);
create index approval_state on approval (state, approval_id);
create index approval_product on approval (product_id, approval_id);

create table approval_decision (
  approval_id  bigint not null references approval on delete cascade,
  user_id      integer not null,
  username     text not null,
  decided_date timestamptz not null default now(),
  constraint approval_decision_once primary key (approval_id, user_id)
);

grant select, insert, update, delete on approval_rule to registry_service;
grant select, insert, update on approval to registry_service;
grant select, insert on approval_decision to registry_service;
