-- Distributions that can be run in ranges of accounts, taken back, and explained.
-- distribution_stage, entitlement_history and residual_payment are ledger tables.

alter table investment add column drp_residual_on_exit varchar(5) not null default 'Pay'
  constraint investment_residual_on_exit check (drp_residual_on_exit in ('Pay', 'Carry'));

-- What a total came to per unit (or unit-day), and what a unit was taken to be worth.
alter table distribution
  add column declared_rate numeric,
  add column declared_unit_value numeric;

-- Why an account gets what it gets, whom it is paid to, and when its units were allotted: under the
-- lock on the account, so that of two allotments it tells which came first.
alter table entitlement
  add column unit_days numeric,
  add column pre_calculated boolean not null default false,
  add column drp_type_id smallint,
  add column drp_value numeric,
  add column payee_name varchar(200),
  add column payee_bsb varchar(7),
  add column payee_account_number varchar(50),
  add column payee_iban varchar(42),
  add column allotted_date timestamptz;

update entitlement e set allotted_date = d.completed_date from distribution d
where d.product_id = e.product_id and d.corporate_action_id = e.corporate_action_id
  and e.drp_residual is not null;
update entitlement e set payee_name = p.account_name, payee_bsb = p.bsb,
  payee_account_number = p.account_number, payee_iban = p.iban
from payment_detail p where p.payment_detail_id = e.payment_detail_id;

-- Entitlements of declarations that were taken back.
create table entitlement_history (
  product_id          integer not null,
  corporate_action_id integer not null,
  account_id          integer not null,
  reversed_date       timestamptz not null,
  reversed_by_user_id integer,
  investment_id       integer not null,
  units               numeric not null,
  unit_days           numeric,
  pre_calculated      boolean not null,
  gross_amount        numeric not null,
  component_amounts   numeric[] not null,
  drp_amount          numeric not null,
  cash_amount         numeric not null,
  primary key (product_id, corporate_action_id, account_id, reversed_date)
);
create index entitlement_history_account on entitlement_history (product_id, account_id);

-- A stage over many accounts while it is under way: how far it is, in the order of account ids.
create table distribution_stage (
  product_id          integer not null,
  corporate_action_id integer not null,
  stage               varchar(30) not null,
  terms               jsonb not null,
  phases              smallint not null,
  phase               smallint not null default 0,
  after_account_id    integer not null default 0,
  account_count       integer not null,
  accounts_done       integer not null default 0,
  user_id             integer not null,
  username            text not null,
  error_message       varchar(500),
  started_date        timestamptz not null default now(),
  progress_date       timestamptz not null default now(),
  primary key (product_id, corporate_action_id),
  constraint stage_of_distribution foreign key (product_id, corporate_action_id)
    references distribution (product_id, corporate_action_id)
);

-- What was left of reinvested money and paid out, with a distribution or by itself.
create table residual_payment (
  product_id           integer not null,
  residual_payment_id  bigint generated always as identity,
  account_id           integer not null,
  investment_id        integer not null,
  corporate_action_id  integer,
  amount               numeric not null,
  payment_date         date not null,
  biz_transaction_id   bigint not null,
  payment_detail_id    integer,
  payee_name           varchar(200),
  payee_bsb            varchar(7),
  payee_account_number varchar(50),
  payee_iban           varchar(42),
  paid_date            timestamptz not null,
  reversed_date        timestamptz,
  primary key (product_id, residual_payment_id),
  constraint residual_payment_positive check (amount > 0)
);
create index residual_payment_account on residual_payment (product_id, account_id, investment_id);
create index residual_payment_corporate_action
  on residual_payment (product_id, corporate_action_id) where corporate_action_id is not null;
create unique index residual_payment_transaction
  on residual_payment (product_id, biz_transaction_id);

-- Which distributions of a record date there are, and which are at a status.
create index distribution_status
  on distribution (product_id, distribution_status_id, corporate_action_id);

grant delete on entitlement to registry_service;
grant select, insert on entitlement_history to registry_service;
grant select, insert, update, delete on distribution_stage to registry_service;
grant select, insert, update on residual_payment to registry_service;
grant usage on all sequences in schema public to registry_service;
