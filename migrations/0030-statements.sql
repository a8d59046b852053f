-- What letters to investors need of a product, which is an identity table.
alter table product
  add column financial_year_end varchar(5) not null default '06-30',
  add column company_tax_percentage numeric not null default 30,
  add column issuer json;
