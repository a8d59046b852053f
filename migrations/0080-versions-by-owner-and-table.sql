-- Versions by whose they were and of what, in one index each. By the owner alone, a read of the past
-- put the keys of every version of the table beside, for each member of the register.
drop index record_version_entity;
drop index record_version_person;
drop index record_version_organisation;
create index record_version_entity
  on record_version (((image ->> 'biz_entity_id')::integer), table_name)
  where table_name in ('address', 'communication', 'payment_detail', 'biz_entity_party', 'account');
create index record_version_person
  on record_version (((image ->> 'person_id')::integer), table_name)
  where table_name in ('address', 'communication') and (image ->> 'person_id')::integer is not null;
create index record_version_organisation
  on record_version (((image ->> 'organisation_id')::integer), table_name)
  where table_name in ('address', 'communication')
    and (image ->> 'organisation_id')::integer is not null;
