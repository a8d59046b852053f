-- Versions of what persons and organisations had, by whose it was: the history of an entity tells
-- of what its parties had, also of what is gone.
create index record_version_person on record_version (((image ->> 'person_id')::integer))
  where table_name in ('address', 'communication') and (image ->> 'person_id')::integer is not null;
create index record_version_organisation
  on record_version (((image ->> 'organisation_id')::integer))
  where table_name in ('address', 'communication')
    and (image ->> 'organisation_id')::integer is not null;
