-- A declaration over many accounts is a job of minutes: what is posted back to an account that it has
-- been at already is missed by it. So whoever came too late is looked for since it began.
alter table distribution add column declared_since timestamptz;
update distribution set declared_since = declared_date where declared_date is not null;
