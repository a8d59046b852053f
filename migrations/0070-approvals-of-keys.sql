-- What an API key has asked for is the key's to see, whatever else its user asks for. Of requests that
-- are there nobody knows with what they were asked for: they stay their users'.
alter table approval add column api_key_id integer constraint approval_api_key references api_key;
create index approval_of_api_key on approval (api_key_id);
