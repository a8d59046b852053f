-- Whose turn it is to have a report made: of whoever has waited longest since one was begun. A
-- local table.
create index report_begun on report (user_id, started_date);
