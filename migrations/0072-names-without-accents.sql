-- Names as those type them who have no accents on their keys: Muller finds Müller, Oster finds Øster.
-- The indexes are of names with letters of more than a byte alone, which are few, and which one sees
-- at once; the others are in those of 0019 and 0033. What GET /Search is asked for is folded alike
-- (src/records/search/folded.ts).
create function folded(name text) returns text language sql immutable strict parallel safe
  return replace(replace(replace(translate(
    regexp_replace(normalize(name, nfkd), '[\u0300-\u036f]', '', 'g'),
    'øłđðħı', 'olddhi'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');

create index biz_entity_folded_part on biz_entity
  using gin (folded(lower(name)) gin_trgm_ops)
  where octet_length(lower(name)) > length(lower(name));
create index biz_entity_folded_begin on biz_entity
  (folded(lower(name)) text_pattern_ops)
  where octet_length(lower(name)) > length(lower(name));
create index person_folded_part on person
  using gin (folded(lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))))
    gin_trgm_ops)
  where octet_length(lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))))
    > length(lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))));
create index person_folded_begin on person
  (folded(lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))))
    text_pattern_ops)
  where octet_length(lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))))
    > length(lower(btrim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))));
create index organisation_folded_part on organisation
  using gin (folded(lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))))
    gin_trgm_ops)
  where octet_length(lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))))
    > length(lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))));
create index organisation_folded_begin on organisation
  (folded(lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, '')))) text_pattern_ops)
  where octet_length(lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))))
    > length(lower(btrim(coalesce(name, '') || ' ' || coalesce(legal_name, ''))));
create index document_folded_part on document
  using gin (folded(lower(name)) gin_trgm_ops)
  where octet_length(lower(name)) > length(lower(name));
create index document_folded_begin on document
  (folded(lower(name)) text_pattern_ops)
  where octet_length(lower(name)) > length(lower(name));
