-- Versions by what a read of the past looks them up by, account by account and class by class: for
-- each it read every version of the register. Indexes of a ledger table and of an identity table.
create index entitlement_version_account on entitlement_version (product_id, account_id);
create index ledger_version_account
  on ledger_version (product_id, ((image ->> 'account_id')::integer), table_name)
  where table_name in ('payment', 'withholding');
create index record_version_price on record_version (((image ->> 'investment_id')::integer))
  where table_name = 'investment_price';
