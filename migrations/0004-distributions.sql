-- Distributions: what is paid on an investment, who is entitled to it, what is carried over.

create table distribution (
  product_id                   integer not null,
  corporate_action_id          integer generated always as identity,
  external_corporate_action_id varchar(50),
  investment_id                integer not null,
  distribution_status_id       smallint not null default 1,
  name                         varchar(200),
  description                  varchar(2000),
  accrual_date                 date,
  record_date                  date,
  payment_date                 date,
  distribution_amount_per_unit numeric,
  distribution_amount_total    numeric,
  cents_per_unit_per_day       numeric,
  distribution_term_id         integer,
  distribution_period_id       integer,
  drp_indicator_id             integer,
  drp_price                    numeric,
  drp_investment_id            integer,
  drp_allotment_date           date,
  file_name                    varchar(255),
  pro_rata_percent_per_annum   numeric,
  pro_rata_start_date          date,
  pro_rata_end_date            date,
  unit_valuation_method        varchar(20),
  -- Totals of the stages that are done, to the cent.
  declared_amount              numeric,
  paid_amount                  numeric,
  reinvested_amount            numeric,
  declared_date                timestamptz,
  paid_date                    timestamptz,
  completed_date               timestamptz,
  created_date                 timestamptz not null default now(),
  updated_date                 timestamptz,
  primary key (product_id, corporate_action_id),
  constraint investment_has_distributions foreign key (product_id, investment_id)
    references investment (product_id, investment_id),
  constraint investment_is_drp_target foreign key (product_id, drp_investment_id)
    references investment (product_id, investment_id)
);
create unique index distribution_external_id_unique
  on distribution (product_id, external_corporate_action_id)
  where external_corporate_action_id is not null;
create index distribution_investment on distribution (product_id, investment_id, corporate_action_id);
create index distribution_drp_investment on distribution (product_id, drp_investment_id)
  where drp_investment_id is not null;
create index distribution_record_date on distribution (product_id, record_date);

create table distribution_component (
  product_id          integer not null,
  corporate_action_id integer not null,
  ordinal             integer not null,
  tax_component_name  varchar(100) not null,
  percentage          numeric not null,
  primary key (product_id, corporate_action_id, ordinal),
  constraint component_of_distribution foreign key (product_id, corporate_action_id)
    references distribution (product_id, corporate_action_id) on delete cascade
);

-- What an account gets of a distribution, locked in at its declaration. Its account has a
-- ledger_account row, which keeps it from being deleted; no reference of its own, for the same
-- reason as the ledger.
create table entitlement (
  product_id             integer not null,
  corporate_action_id    integer not null,
  account_id             integer not null,
  investment_id          integer not null,
  units                  numeric not null,
  gross_amount           numeric not null,
  component_amounts      numeric[] not null, -- in the order of the components
  drp_amount             numeric not null,
  cash_amount            numeric not null,
  payment_detail_id      integer,
  payment_transaction_id bigint,
  residual_before        numeric,
  drp_units              numeric,
  drp_cost               numeric,
  drp_residual           numeric,
  drp_transaction_id     bigint,
  primary key (product_id, corporate_action_id, account_id),
  constraint entitlement_splits check (gross_amount = cash_amount + drp_amount),
  constraint entitlement_not_negative check (cash_amount >= 0 and drp_amount >= 0)
-- Every stage updates every row: with a second half of each page to do it in, no index is touched.
) with (fillfactor = 50);
create index entitlement_account on entitlement (product_id, account_id, investment_id);

-- What was left of reinvested money, carried to the next distribution of the investment.
create table drp_residual (
  product_id    integer not null,
  account_id    integer not null,
  investment_id integer not null,
  amount        numeric not null,
  primary key (product_id, account_id, investment_id),
  constraint drp_residual_not_negative check (amount >= 0)
);

-- Shares an amount by percentages to the last minor unit: each part is rounded down, and what is
-- left goes unit by unit to the largest remainders, the first of equals first. It runs for every
-- account of a distribution: expressions only, since one query in it costs more than all the rest.
create function allocate(amount numeric, percentages numeric[], decimals integer) returns numeric[]
language plpgsql immutable parallel safe as $$
declare
  parts numeric[] := percentages;
  remainders numeric[] := percentages;
  exact numeric;
  part numeric;
  left_over numeric := amount;
  unit numeric;
  largest integer;
begin
  if cardinality(percentages) = 1 then return array[amount]; end if;
  for i in 1 .. cardinality(percentages) loop
    exact := amount * percentages[i] * 0.01; -- a division would be rounded
    part := trunc(exact, decimals);
    parts[i] := part;
    remainders[i] := exact - part;
    left_over := left_over - part;
  end loop;
  unit := round(power(10::numeric, -decimals), decimals);
  while left_over > 0 loop
    largest := 1;
    for i in 2 .. cardinality(remainders) loop
      if remainders[i] > remainders[largest] then largest := i; end if;
    end loop;
    parts[largest] := parts[largest] + unit;
    remainders[largest] := -1;
    left_over := left_over - unit;
  end loop;
  return parts;
end $$;

-- A stage may open a million holdings, and this reference would be looked up for each of them. It
-- holds without: a holding is written under the lock on its ledger_account row, which nobody may
-- delete.
alter table holding drop constraint holding_account;
-- As for entitlements: a stage updates all of them.
alter table ledger_account set (fillfactor = 50);

grant select, insert, update, delete on distribution, distribution_component, entitlement,
  drp_residual to registry_service;
revoke delete on entitlement, drp_residual from registry_service;
grant usage on all sequences in schema public to registry_service;
