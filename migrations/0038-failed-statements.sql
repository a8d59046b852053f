-- Reports of which a statement did not arrive (report_statement is a local table): few at any time.
create index report_statement_failed on report_statement (report_id) where state = 'Failed';
