-- Nodes of before may go on.
-- Whether it was a code that was wrong: a right code forgives wrong ones and no wrong password. What
-- was counted before, and by nodes of before, is taken for a wrong password, which is the stricter.
alter table login_failure add column is_code boolean not null default false;
