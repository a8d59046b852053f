-- Who had the statements of a report sent, and with which API key, if it was one: what is queued ends
-- with their rights. Of those that are there nobody knows who it was: they go out.
alter table report add column sender_user_id integer;
alter table report
  add column sender_api_key_id integer constraint report_sender_api_key references api_key;
create index report_of_sender_api_key on report (sender_api_key_id);

-- Reports with statements that were taken back are found as those with failed ones are.
create index report_statement_taken_back on report_statement (report_id)
  where state = 'Made' and reason is not null;
