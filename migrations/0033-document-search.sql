-- GET /Search finds documents by any part of their names, and by how they begin. An identity table.
create index document_name_part on document using gin (lower(name) gin_trgm_ops);
create index document_name_begin on document (lower(name) text_pattern_ops);
