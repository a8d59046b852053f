-- A notice that was completed because nothing was left of it waits again once something is; one that a
-- posting completed as a whole stays completed. Of those of before nobody knows: they stay as they are.
alter table biz_event add column is_used_up boolean not null default false;
