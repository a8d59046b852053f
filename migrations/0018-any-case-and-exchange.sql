-- A security code is unique in its product regardless of case (investment is an identity table).
-- Codes that already differ by case alone stay as they are: the index leaves those investments out.
do $$
declare
  alike integer[];
begin
  select array_agg(i.investment_id order by i.investment_id) into alike
  from investment i
  where exists (
    select from investment o
    where o.product_id = i.product_id and o.investment_id < i.investment_id
      and lower(o.security_code) = lower(i.security_code));
  execute 'create unique index investment_security_code_any_case
    on investment (product_id, lower(security_code))'
    || case when alike is null then ''
      else format(' where investment_id <> all (%L::integer[])', alike) end;
end $$;

-- Values exchanged between two records inside one request are judged when all rows of a statement
-- are written, not row by row. All of these are identity tables.
alter table person drop constraint person_external_id_unique,
  add constraint person_external_id_unique unique (external_person_id) deferrable;
alter table organisation drop constraint organisation_external_id_unique,
  add constraint organisation_external_id_unique unique (external_organisation_id) deferrable;
alter table account drop constraint account_external_id_unique, drop constraint account_number_unique,
  add constraint account_external_id_unique unique (product_id, external_account_id) deferrable,
  add constraint account_number_unique unique (product_id, account_number) deferrable;
alter table address drop constraint address_external_id_unique,
  add constraint address_external_id_unique unique (external_address_id) deferrable;
alter table communication drop constraint communication_external_id_unique,
  add constraint communication_external_id_unique unique (external_communication_id) deferrable;
alter table payment_detail drop constraint payment_detail_external_id_unique,
  add constraint payment_detail_external_id_unique unique (external_payment_detail_id) deferrable;
-- A unique index on an expression cannot wait for the end of a statement; an exclusion can.
drop index communication_email_unique;
alter table communication add constraint communication_email_unique
  exclude using btree (lower(name) with =) where (communication_type_id = 1) deferrable;
