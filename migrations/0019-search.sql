-- What GET /Search looks in: any part of a name or contact (trigrams), and how it begins (two
-- letters have no trigram). All of these are identity tables.
create index biz_entity_name_part on biz_entity using gin (lower(name) gin_trgm_ops);
create index biz_entity_name_begin on biz_entity (lower(name) text_pattern_ops);
create index account_number_begin on account (lower(account_number) text_pattern_ops);
create index communication_name_part on communication using gin (lower(name) gin_trgm_ops);
create index communication_name_begin on communication (lower(name) text_pattern_ops);
create index person_name_part on person
  using gin (lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))) gin_trgm_ops);
create index person_name_begin on person
  (lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))) text_pattern_ops);
create index organisation_name_part on organisation
  using gin (lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))) gin_trgm_ops);
create index organisation_name_begin on organisation
  (lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))) text_pattern_ops);

-- Whoever knows a tax file number whole finds its holder by a keyed digest of it. Numbers from
-- before get theirs at the next start: their key is the service's, not the database's.
alter table person add column taxation_file_number_digest text;
alter table organisation add column taxation_file_number_digest text;
create index person_tax_digest on person (taxation_file_number_digest)
  where taxation_file_number_digest is not null;
create index organisation_tax_digest on organisation (taxation_file_number_digest)
  where taxation_file_number_digest is not null;
create index person_lacks_tax_digest on person (person_id)
  where taxation_file_number is not null and taxation_file_number_digest is null;
create index organisation_lacks_tax_digest on organisation (organisation_id)
  where taxation_file_number is not null and taxation_file_number_digest is null;
