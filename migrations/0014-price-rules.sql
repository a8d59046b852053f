-- Rules of an investment's prices. Null: off. All tables here are identity tables.
alter table investment add column if not exists price_tolerance_percent numeric;
alter table investment add column if not exists maximum_price_age_days integer;

-- What a price said before it was corrected: by it the transactions are known that used it.
create table investment_price_correction (
  investment_price_correction_id integer generated always as identity primary key,
  investment_price_id integer not null references investment_price on delete cascade,
  price_date          date not null,
  price               numeric not null,
  application_price   numeric,
  redemption_price    numeric,
  corrected_date      timestamptz not null default now()
);
create index investment_price_correction_price on investment_price_correction (investment_price_id);
grant select, insert, update, delete on investment_price_correction to registry_service;
