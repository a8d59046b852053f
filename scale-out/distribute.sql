-- What `npm run cli -- distribute` runs on a Citus coordinator (Citus 12.1 or newer), in one
-- transaction: it all happens, or nothing does. docs/SCALING.md tells when and how.
--
-- Every table is named here once, with its kind (see docs/ARCHITECTURE.md); a test compares this
-- file with the schema. A table that is added by a migration gets its line here.

-- Shard after shard on one connection: tables that refer to each other are made in one transaction.
set local citus.multi_shard_modify_mode to 'sequential';

-- The coordinator speaks to the workers as the role that speaks to it, which therefore must be able
-- to log in there. It has no password: pg_hba.conf of the workers must let the coordinator in by
-- other means. What the service sets for its own sessions does not reach the workers either; there
-- the role brings it along.
alter role registry_service login;
alter role registry_service set timezone to 'UTC';
alter role registry_service set enable_seqscan to off;
alter role registry_service set jit to off;

-- Up to where numbers were drawn, also for what is gone by now. By name: some are made anew below.
create temporary table drawn on commit drop as
  select format('%I.%I', schemaname, sequencename) as name, last_value
  from pg_sequences where schemaname = 'public' and last_value is not null;

-- References between tables of which one is distributed already and the other not yet are the one
-- thing that Citus cannot keep. They are taken away, and come back below as they were.
create temporary table reference_between on commit drop as
  select conrelid::regclass::text as owner, conname as name,
    pg_get_constraintdef(oid) as definition
  from pg_constraint
  where contype = 'f' and connamespace = 'public'::regnamespace;

do $$
declare
  reference record;
begin
  for reference in select * from reference_between order by owner, name loop
    execute format('alter table %s drop constraint %I', reference.owner, reference.name);
  end loop;
end $$;

-- What the workers compute with.
select create_distributed_function('minor_units(integer)');
select create_distributed_function('product_today(text)');
select create_distributed_function('folded(text)');
select create_distributed_function('known.moment()');
select create_distributed_function('named.moment()');
select create_distributed_function('named.horizon()');
select create_distributed_function('known.product_today(text)');
select create_distributed_function(
  'holding_state_step(holding_state, holding_state, numeric, numeric, integer, numeric)');
select create_distributed_function('holding_state(holding_state, numeric, numeric, integer, numeric)');
select create_distributed_function('cost_of_sold(numeric, numeric, numeric, integer)');
select create_distributed_function(
  'realised_gain_step(numeric, numeric, numeric, numeric, numeric, numeric, integer)');
select create_distributed_function(
  'realised_gain(numeric, numeric, numeric, numeric, numeric, integer)');
-- What the coordinator has each of them do for the parts that it has.
select create_distributed_function('mend_block_ranges(regclass)');

-- Identity tables: a copy on every server. What is referred to comes before what refers to it.
select create_reference_table('lookup');
select create_reference_table('product');
select create_reference_table('person');
select create_reference_table('organisation');
select create_reference_table('organisation_person');
select create_reference_table('biz_entity');
select create_reference_table('account');
select create_reference_table('retired_account_number');
select create_reference_table('biz_entity_party');
select create_reference_table('biz_entity_parent');
select create_reference_table('address');
select create_reference_table('communication');
select create_reference_table('payment_detail');
select create_reference_table('investment');
select create_reference_table('investment_price');
select create_reference_table('investment_price_correction');
select create_reference_table('withholding_rate');
select create_reference_table('record_version');
select create_reference_table('stored_file');
select create_reference_table('document');

-- Ledger tables: spread by product, all that is a product's on one server.
select create_distributed_table('ledger_account', 'product_id', colocate_with => 'none');
select create_distributed_table('holding', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('biz_transaction', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'biz_transaction_version', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'biz_transaction_cost', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('closing_mark', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('hold', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('hold_version', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('biz_event', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('distribution', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'distribution_component', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('entitlement', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'entitlement_total', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('withholding', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('drp_residual', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'entitlement_history', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'distribution_version', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'entitlement_version', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'ledger_version', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'distribution_stage', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'residual_payment', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('payment_run', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('payment', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table('payment_item', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'payment_exception', 'product_id', colocate_with => 'ledger_account');
select create_distributed_table(
  'payment_run_file', 'product_id', colocate_with => 'ledger_account');

-- Local tables stay on the coordinator. Those that refer to a product or a file, and those tied to
-- them, are made known to Citus, which then keeps their references.
select citus_add_local_table_to_metadata('app_user');
select citus_add_local_table_to_metadata('app_user_product');
select citus_add_local_table_to_metadata('session');
select citus_add_local_table_to_metadata('refresh_token');
select citus_add_local_table_to_metadata('second_factor');
select citus_add_local_table_to_metadata('recovery_code');
select citus_add_local_table_to_metadata('api_key');
select citus_add_local_table_to_metadata('approval');
select citus_add_local_table_to_metadata('approval_decision');
select citus_add_local_table_to_metadata('report');
select citus_add_local_table_to_metadata('report_statement');
select citus_add_local_table_to_metadata('import');
select citus_add_local_table_to_metadata('import_refusal');
select citus_add_local_table_to_metadata('webhook');
select citus_add_local_table_to_metadata('webhook_delivery');
-- Every write ends with a row here. Of a table that it does not know Citus would not notice that the
-- coordinator has written, too: it would commit the worker first, and a coordinator that dies then
-- would have a posting without its audit record and key. So it prepares both, then commits both.
select citus_add_local_table_to_metadata('audit');
-- Its table is made anew, and with it the view on it, which forgets who may read it.
grant select on happening to registry_service;
-- stays: migration, login_failure, idempotency, audit_seal, approval_rule, encryption_key, event, event_feed

-- A table that becomes known to Citus forgets up to where its numbers were drawn. Those that the last
-- record of the audit trail may have for its requests are its own (migration 0085).
select setval(name::regclass,
  last_value + case name when 'public.audit_audit_id_seq' then 31 else 0 end)
from drawn;

-- Citus draws the numbers of new rows by itself, with the rights of whoever asks.
grant usage on all sequences in schema public to registry_service;

-- The rows that the coordinator had are on their servers now; its own copies are not read any more
-- and are left where they are, to be truncated when all was found to be well.

do $$
declare
  reference record;
begin
  for reference in select * from reference_between order by owner, name loop
    execute format('alter table %s add constraint %I %s', reference.owner, reference.name,
      reference.definition);
  end loop;
end $$;
