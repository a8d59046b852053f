-- A letter whose addressee the mail server put off ("later") waits by itself; report_statement is a
-- local table.
alter table report_statement add column put_off_until timestamptz;
