-- Holders who want "Email and post" get both: the letter goes, and is listed for print as well.
-- report_statement is a local table.
alter table report_statement add column also_print boolean not null default false;
