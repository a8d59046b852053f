-- A webhook that was made or changed with an API key sends what that key may see, and ends with it.
-- Of those that are there nobody knows with what they were made: they stay their users'.
alter table webhook add column api_key_id integer constraint webhook_api_key references api_key;
create index webhook_of_api_key on webhook (api_key_id);
