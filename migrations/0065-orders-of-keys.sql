-- An import or a report that was ordered with an API key has the rights of that key, and ends with
-- it. Of those that are there nobody knows with what they were ordered: they stay their users'.
alter table import add column api_key_id integer constraint import_api_key references api_key;
alter table report add column api_key_id integer constraint report_api_key references api_key;
