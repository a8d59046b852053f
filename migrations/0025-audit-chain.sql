-- The audit trail as a hash chain. All tables here are local.

-- Records are sealed in the order of their commits: by transaction, then by id, and only below the
-- oldest transaction that still runs. Records of before have the number of this migration.
alter table audit add column xid xid8 default pg_current_xact_id();
create index audit_order on audit (xid, audit_id);

-- One link for each record: its hash is over the hash before and the record.
create table audit_link (
  position bigint primary key,
  audit_id bigint not null constraint audit_link_record unique, -- no reference: what is gone is found
  xid      xid8 not null,
  hash     bytea not null
);

-- Signed heads of the chain, one for each time that records were sealed.
create table audit_seal (
  position    bigint primary key,
  hash        bytea not null,
  sealed_date timestamptz not null,
  public_key  text not null,
  signature   bytea not null
);

grant select, insert on audit_link, audit_seal to registry_service;
